"""The reward of every response: `rewards.jsonl`, one line per group while a stage runs, and `rewards.parquet` after it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

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


def group_line(step: int, responses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One group as `rewards.jsonl` holds it, before it is known whether the update used it.

    Args:
        step: the iteration.
        responses: of each response its `problem_id`, the `reward` that trains, and its `tokens`.
    """
    return {
        "step": step,
        "id": responses[0]["problem_id"],
        "rewards": [float(response["reward"]) for response in responses],
        "tokens": [int(response["tokens"]) for response in responses],
    }


def append_groups(path: Path, groups: Mapping[str, Mapping[str, Any]], used: Iterable[str]) -> None:
    """Add an iteration's groups to `rewards.jsonl`, in the order of their names.

    Args:
        path: the file; made if it does not exist.
        groups: lines of `group_line` by the group's name.
        used: names of the groups that the update used.
    """
    chosen = set(used)
    with path.open("a", encoding="utf-8") as file:
        for name, group in sorted(groups.items()):
            file.write(json.dumps({**group, "used": name in chosen}) + "\n")


def write_rewards(lines: Path, path: Path) -> pa.Table:
    """Write the recorded rewards as parquet, one row per response, ordered by iteration and problem.

    Returns:
        The table, columns as in `REWARDS`.
    """
    groups = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    rows = [
        {"step": group["step"], "id": group["id"], "reward": reward, "response_tokens": tokens, "used": group["used"]}
        for group in groups
        for reward, tokens in zip(group["rewards"], group["tokens"], strict=True)
    ]
    rows.sort(key=lambda row: (row["step"], row["id"]))
    table = pa.Table.from_pylist(rows, schema=REWARDS)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
    return table
