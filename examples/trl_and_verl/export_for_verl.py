"""The rows that `compass curate --export clean.jsonl` wrote, as verl's parquet.

python -m examples.trl_and_verl.export_for_verl clean.jsonl train.parquet
"""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.rl.dataset import ROWS

ASK = "\nPlease reason step by step, and put your final answer within \\boxed{}."


def as_row(row: dict[str, Any], index: int) -> dict[str, Any]:
    """A problem as verl and its reward function want it: the gold in `reward_model`, what else is right in `extra_info`."""
    return {
        "data_source": row["source"],
        "prompt": [{"role": "user", "content": row["problem"] + ASK}],
        "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": row["answer"]},
        "extra_info": {
            "id": row["id"],
            "index": index,
            "question": row["problem"],
            "alternatives": row.get("alternatives") or [],
            "tolerance": row.get("tolerance") or "",
        },
    }


def write(lines: Iterable[str], path: Path) -> None:
    """Write a line of JSON per row as a row of verl's parquet."""
    rows = [as_row(json.loads(line), index) for index, line in enumerate(lines)]
    pq.write_table(pa.Table.from_pylist(rows, ROWS), path)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as export:
        write(export, Path(sys.argv[2]))
