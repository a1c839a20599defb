"""The reward of every response: `rewards.jsonl`, one line per group while a stage runs, and `rewards.parquet` after it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compass.files import atomic_path

REWARDS = pa.schema(
    [
        ("step", pa.int32()),
        ("id", pa.string()),
        ("reward", pa.float32()),
        ("response_tokens", pa.int32()),
        ("used", pa.bool_()),  # False: left out as all right, all wrong, or surplus
    ]
)


def write_rewards(lines: Path, path: Path) -> pa.Table:
    """Write the recorded rewards as parquet, one row a response, ordered by iteration and problem.

    Returns:
        The table, columns as in `REWARDS`.
    """
    rows = []
    for line in lines.read_text(encoding="utf-8").splitlines():
        group = json.loads(line)
        for reward, tokens in zip(group["rewards"], group["tokens"], strict=True):
            rows.append(
                {
                    "step": group["step"],
                    "id": group["id"],
                    "reward": reward,
                    "response_tokens": tokens,
                    "used": group["used"],
                }
            )
    rows.sort(key=lambda row: (row["step"], row["id"]))
    table = pa.Table.from_pylist(rows, schema=REWARDS)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    return table
