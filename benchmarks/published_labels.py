"""Agreement with published per-sample labels, computed again from the raw responses, and every difference judged by hand.

    python benchmarks/published_labels.py

Reads three published files in ../shared/data/model_outputs: Qwen2.5-Math with eight responses to each of 100 problems, and Rho-Math 1B and 7B with
one response to each of 500. Each response is scored in strict mode with its problem at hand; a response whose verdict differs from the published label must have
a judgement in `published_labels.csv` (file, row, sample, who is right, why), else the command ends with an error. It prints the two tables
of docs/measurements/verifier_disagreements.md.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from compass.evaluation.given_responses import Fields, Given, Judged, judge_given, read_given
from compass.sources.read import file_rows
from compass.verifier.gold import gold_text

ROOT = Path(__file__).resolve().parents[1]
OUTPUTS = ROOT.parent / "shared" / "data" / "model_outputs"
JUDGEMENTS = Path(__file__).with_suffix(".csv")
FILES = {
    "qwen25_math_cot_100x8": Fields("code", "answer", "question", "idx"),
    "rho-math-1b-v0.1__minerva_math": Fields("code", "answer", "question", "idx"),
    "rho-math-7b-v0.1__minerva_math": Fields("code", "answer", "question", "idx"),
}
RIGHT = ("ours", "published", "rule")
"""Who is right in a difference; `rule`: the value is right and the strict mode refuses its form, as it states."""


class Difference(NamedTuple):
    """A response on which the strict verdict and the published label differ."""

    file: str
    row: int
    sample: int
    gold: str
    judged: Judged


def judged_rows(name: str) -> list[tuple[Given, list[Judged], list[bool]]]:
    """Every row of a file with the judgements of its responses and the published labels."""
    path = OUTPUTS / f"{name}.jsonl.gz"
    labels = [row["score"] for _, row in file_rows(path)]
    judged = judge_given(read_given(path, FILES[name]))
    return [(row, judgements, published) for (row, judgements), published in zip(judged, labels, strict=True)]


def differences(name: str, rows: list[tuple[Given, list[Judged], list[bool]]]) -> list[Difference]:
    """The responses whose strict verdict is not the published label."""
    return [
        Difference(name, row.row, sample, gold_text(row.gold), judged)
        for row, judgements, labels in rows
        for sample, (judged, label) in enumerate(zip(judgements, labels, strict=True))
        if judged.strict.equal != label
    ]


class Judgement(NamedTuple):
    """Who is right in a difference, and why."""

    right: str
    why: str


def read_judgements(path: Path = JUDGEMENTS) -> dict[tuple[str, int, int], Judgement]:
    """(file, row, sample) to the judgement on it."""
    with open(path, encoding="utf-8", newline="") as file:
        found = {
            (row["file"], int(row["row"]), int(row["sample"])): Judgement(row["right"], row["why"])
            for row in csv.DictReader(file)
        }
    if unknown := {one.right for one in found.values()} - set(RIGHT):
        raise ValueError(f"{path}: unknown in `right`: {sorted(unknown)}; known: {', '.join(RIGHT)}")
    return found


def format_difference(one: Difference, judgement: Judgement) -> str:
    """A row of the second table."""
    verdict, answer = one.judged.strict, one.judged.strict.answer
    read = f"`{answer.replace('|', chr(92) + '|')}`" if answer else f"none: {verdict.evidence}"
    cells = (one.file, one.row, one.sample, f"`{one.gold}`", read, "equal" if verdict.equal else "refused", judgement.right, judgement.why)  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Print two Markdown tables; 1 where a difference has no judgement."""
    judgements = read_judgements()
    missing, listed = [], []
    print("| file | responses | agree | differ | of them ours right | strict form | published right | lenient agrees |")
    print("|---|---|---|---|---|---|---|---|")
    for name in FILES:
        rows = judged_rows(name)
        found = differences(name, rows)
        missing += [one[:3] for one in found if one[:3] not in judgements]
        listed += [format_difference(one, judgements[one[:3]]) for one in found if one[:3] in judgements]
        right = Counter(judgements[one[:3]].right for one in found if one[:3] in judgements)
        count = sum(len(labels) for *_, labels in rows)
        loose = sum(
            judged.lenient.equal == label
            for _, both, labels in rows
            for judged, label in zip(both, labels, strict=True)
        )
        counts = (len(found), right["ours"], right["rule"], right["published"])
        print(
            f"| {name} | {count} | {1 - len(found) / count:.2%} | {' | '.join(map(str, counts))} | {loose / count:.2%} |"
        )
    print("\n| file | row | sample | gold | answer that we read | our verdict | who is right | why |")
    print("|---|---|---|---|---|---|---|---|", *listed, sep="\n")
    for row in missing:
        print(f"no judgement: {row}", file=sys.stderr)
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main())
