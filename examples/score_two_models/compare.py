"""Which of two files of responses to the same problems is better, by how much, and how sure: paired by problem.

    python compare.py small.jsonl large.jsonl

Each line has `id`, `problem`, `answer` (the gold) and `response`; lines with one id are samples of one problem.
"""

import sys
from pathlib import Path

import pyarrow as pa

import compass
from compass.evaluation.comparisons import compare_models

COLUMNS = ("id", "answer", "correct", "correct_lenient")


def compare(first: Path, second: Path) -> str:
    """The verdict in words."""
    rows = []
    for path in (first, second):
        scored = compass.score(
            path, response_field="response", gold_field="answer", problem_field="problem", id_field="id"
        )
        kept = [{name: row[name] for name in COLUMNS} for row in scored.verdicts]
        rows += [row | {"model": path.stem, "benchmark": "problems", "greedy": False} for row in kept]
    (pair,) = compare_models(pa.Table.from_pylist(rows), seed=0, primary=(second.stem, first.stem))["pairs"]
    found = pair["benchmarks"]["problems"]
    return f"{second.stem} against {first.stem}: {found['words']}, p = {found['p']:.4f}"


if __name__ == "__main__":
    print(compare(Path(sys.argv[1]), Path(sys.argv[2])))
