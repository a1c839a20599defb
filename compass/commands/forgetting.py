"""`compass forgetting`: two small benchmarks of what training may cost, to be scored before and after.

compass forgetting --out forgetting      writes general.jsonl (outside mathematics) and untrained.jsonl (problems that no stage trained on)
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path
from typing import Any

from compass.commands import add_data_folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_data_folder(parser, "a pipeline's data folder")
    parser.add_argument(
        "--out", type=Path, default=Path("forgetting"), metavar="FOLDER", help="where to write (default: forgetting)"
    )
    parser.add_argument("--count", type=int, default=200, help="most untrained problems (default: 200); 0 takes all")
    parser.add_argument("--seed", type=int, default=0, help="of the draw of untrained problems")


def run(args: argparse.Namespace) -> int:
    """Write the two files and print how they are scored.

    Raises:
        RecordError: the curriculum's rows cannot be read.
    """
    from compass.evaluation.forgetting import general_items, untrained_items
    from compass.records import read_records

    written = [_write(args.out / "general.jsonl", general_items())]
    dropped = args.data / "curriculum" / "dropped.parquet"
    if not dropped.exists():
        print(f"{dropped}: no such file, so no untrained problems; run the curriculum stage, or give --data")
    elif items := untrained_items(read_records(dropped), args.count, args.seed):
        written.append(_write(args.out / "untrained.jsonl", items))
        levels = Counter(str(item["level"]) for item in items)
        print("by level: " + ", ".join(f"{level}: {count}" for level, count in sorted(levels.items())))
    else:
        print(f"{dropped}: every problem that is fit for training is trained on; none is left")
    print(f"compass evaluate base rl-3 --benchmarks {' '.join(map(str, written))} --samples 8")
    return 0


def _write(path: Path, items: list[dict[str, Any]]) -> Path:
    from compass.files import atomic_path

    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), encoding="utf-8")
    print(f"{path}: {len(items)} problems")
    return path
