"""`compass forgetting`: two small benchmarks of what training may cost, to be scored before and after."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any


def forgetting(*, data: Path | None = None, out: Path = Path("forgetting"), count: int = 200, seed: int = 0) -> int:
    """Write two small benchmarks of what training may cost, to be scored before and after.

    `general.jsonl` asks questions outside mathematics; `untrained.jsonl` holds problems that no stage trained on.

    Args:
        data: a pipeline's data folder (default: data, where there is one).
        out: the folder to write.
        count: most untrained problems; 0 takes all.
        seed: of the draw of untrained problems.

    Raises:
        RecordError: the curriculum's rows cannot be read, or the given folder has none.

    Examples:
        compass forgetting --out forgetting      write both, and print the command that scores models on them
    """
    from compass.evaluation.forgetting import general_items, untrained_items
    from compass.records import RecordError, read_records

    dropped = (data or Path("data")) / "curriculum" / "dropped.parquet"
    if data and not dropped.exists():
        raise RecordError(f"{dropped}: no such file; give the data folder of a run with --data, or leave it out")
    written = [_write(out / "general.jsonl", general_items())]
    if not dropped.exists():
        print(f"{dropped}: no such file, so no untrained problems; run the curriculum stage, or give --data")
    elif items := untrained_items(read_records(dropped), count, seed):
        written.append(_write(out / "untrained.jsonl", items))
        levels = Counter(str(item["level"]) for item in items)
        print("by level: " + ", ".join(f"{level}: {count}" for level, count in sorted(levels.items())))
    else:
        print(f"{dropped}: every problem that is fit for training is trained on; none is left")
    print(f"compass evaluate base rl-3 --benchmarks {' '.join(map(str, written))} --samples 8")
    return 0


def _write(path: Path, items: list[dict[str, Any]]) -> Path:
    from compass.files import write_text

    write_text(path, "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items))
    print(f"{path}: {len(items)} problems")
    return path
