"""How large the report of a large evaluation is, and how long it takes: made-up responses of real length.

    python benchmarks/report_size.py                   1,560 problems, 4 models, 32 samples
    python benchmarks/report_size.py --problems 300 --samples 8

Writes the evaluation and its page into a temporary folder, and prints responses, page size, embedded responses, seconds and memory.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import tempfile
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from compass.evaluation.results import PROBLEMS
from compass.report.page import write_report
from compass.report.run import read_run
from compass.report.viewer import viewer

BENCHMARKS = {"math-500": 500, "olympiad": 675, "minerva": 272, "amc": 83, "aime": 30}
"""Benchmarks by their share of the problems."""


def words(draw: random.Random, count: int = 6_000) -> list[str]:
    """A vocabulary: made-up words and numbers, so that text is compressed about as well as solutions are."""
    letters = "etaoinshrdlucmfwypvbgk"
    made = ["".join(draw.choices(letters, range(22, 0, -1), k=draw.randint(2, 9))) for _ in range(count)]
    return [*made, *(f"{draw.randint(1, 999)}{draw.choice(' +-=x')}" for _ in range(count // 3))]


def write_evaluation(folder: Path, *, problems: int, models: int, samples: int, characters: int, seed: int = 0) -> None:
    """An evaluation's folder; better models are right more often, and responses vary in length."""
    draw = random.Random(seed)
    vocabulary = words(draw)
    weights = [1 / (place + 3) for place in range(len(vocabulary))]
    pool = draw.choices(vocabulary, weights, k=400_000)
    whole = sum(BENCHMARKS.values())
    asked = [
        (name, f"{name}-{n}") for name, size in BENCHMARKS.items() for n in range(max(1, size * problems // whole))
    ]
    columns: dict[str, list] = {
        name: [] for name in ("model", "benchmark", "id", "sample", "greedy", "response", "answer", "correct", "tokens")
    }
    for model in range(models):
        for benchmark, id_ in asked:
            chance = draw.betavariate(1 + model, 2)
            for sample in range(samples + 1):
                right = draw.random() < chance
                size = int(characters / 6 * draw.lognormvariate(-0.2, 0.6))
                start = draw.randrange(len(pool) - size - 1) if size < len(pool) else 0
                answer = "42" if right else str(draw.randint(0, 99))
                row = (
                    f"model-{model}",
                    benchmark,
                    id_,
                    sample % samples,
                    sample == samples,
                    " ".join(pool[start : start + size]) + f" \\boxed{{{answer}}}",
                    answer,
                    right,
                    size,
                )
                for values, value in zip(columns.values(), row, strict=True):
                    values.append(value)
    count = len(columns["model"])
    same = {
        "answer_lenient": columns["answer"],
        "correct_lenient": columns["correct"],
        "outcome": ["equal" if right else "different" for right in columns["correct"]],
    }
    fixed = {"method": "text", "leniencies": "", "boxed": True, "looped": False, "finish_reason": "stop", "setup": "s"}
    table = pa.table(columns | same | {name: [value] * count for name, value in fixed.items()})
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, folder / "samples.parquet", compression="zstd")
    rows = [
        {"benchmark": benchmark, "id": id_, "problem": " ".join(draw.choices(pool, k=50)), "answer": "42", "alternatives": None, "tolerance": None, "level": None, "similar": []}
        for benchmark, id_ in asked
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows, schema=PROBLEMS), folder / "problems.parquet")


def main() -> None:
    """Write, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("problems", 1560), ("models", 4), ("samples", 32), ("characters", 1800)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--megabytes", type=float, default=20.0, help="the setting report.viewer_megabytes")
    parser.add_argument("--out", type=Path, help="keep the page in this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "evaluation"
        write_evaluation(
            folder, problems=args.problems, models=args.models, samples=args.samples, characters=args.characters
        )
        started = time.monotonic()
        run = read_run(folder)
        page = write_report(run, args.out or Path(temporary) / "report", title="Size", megabytes=args.megabytes)
        seconds = time.monotonic() - started
        shown = viewer(run, megabytes=args.megabytes)
        assert shown
        found = {
            "responses": shown.embedded.total,
            "embedded": shown.embedded.shown,
            "rule": shown.embedded.rule,
            "samples_megabytes": round((folder / "samples.parquet").stat().st_size / 1e6, 1),
            "page_megabytes": round(page.stat().st_size / 1e6, 1),
            "seconds": round(seconds, 1),
            "peak_gigabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
        }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
