"""Responses made elsewhere in the files that an evaluation writes (`compass.evaluation.results`); what they do not tell is null: not known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from compass.evaluation.evaluate import COLUMNS
from compass.evaluation.given_responses import Given, Judged
from compass.evaluation.results import PROBLEMS
from compass.sampling.response import RESPONSES
from compass.sampling.score import SCORES, describe_scored
from compass.verifier import same_answer

BENCHMARK = "responses"
"""What the problems of responses made elsewhere are called together."""

SAMPLES = pa.schema(
    [
        ("model", pa.string()),
        ("benchmark", pa.string()),
        ("setup", pa.string()),
        ("correct_other", pa.bool_()),
        *(field for field in (*RESPONSES, *SCORES) if field.name in COLUMNS),
    ]
)


class Kept:
    """One model's responses with their judgements, and the problems that they answer."""

    def __init__(self) -> None:
        self.samples: list[dict[str, Any]] = []
        self.problems: dict[str, dict[str, Any]] = {}

    def add(self, row: Given, judged: list[Judged], first: int) -> None:
        """Keep a row with a gold; `first` is the number of its first response among those of its problem."""
        name = escape_halves(row.id)
        if judged:
            self.problems.setdefault(
                name, {"id": name, "problem": escape_halves(row.problem), "answer": escape_halves(row.gold)}
            )
        for number, (text, one) in enumerate(zip(row.responses, judged, strict=False), first):
            scored = describe_scored(text or "", one.strict, one.lenient)
            texts = {"response": text, "answer": scored["answer"], "answer_lenient": scored["answer_lenient"]}
            plain = {column: escape_halves(value) for column, value in texts.items()}
            self.samples.append({"id": name, "sample": number} | scored | plain)


def given_tables(kept: Mapping[str, Kept], apart: Mapping[str, Mapping[str, str]]) -> tuple[pa.Table, pa.Table]:
    """All models' responses as rows of `compass.evaluation.evaluate.COLUMNS`, and their problems as rows of `PROBLEMS`, each as the first model has it.

    Args:
        kept: model to its responses and problems.
        apart: model to the ids of problems that are others than those of the models before it, of `tell_apart`.
    """
    rows: list[dict[str, Any]] = []
    problems: dict[str, dict[str, Any]] = {}
    for model, own in kept.items():
        names = {name: apart[model].get(name, name) for name in own.problems}
        rows += [row | {"model": model, "benchmark": BENCHMARK, "id": names[row["id"]]} for row in own.samples]
        problems = {names[name]: row | {"id": names[name]} for name, row in own.problems.items()} | problems
    asked = [row | {"benchmark": BENCHMARK, "source_id": row["id"]} for row in problems.values()]
    samples = pa.Table.from_pylist(rows, schema=SAMPLES).select(COLUMNS)
    return samples, pa.Table.from_pylist(asked, schema=PROBLEMS)


def tell_apart(golds: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Ids that mean other problems in one file than in another, because their golds are other answers.

    Args:
        golds: file to the gold of each id.

    Returns:
        File to the ids whose gold is not that of the first file with this id, each with the id that it gets instead.
    """
    known: dict[str, list[str]] = {}
    found: dict[str, dict[str, str]] = {file: {} for file in golds}
    for file, own in golds.items():
        for name, gold in own.items():
            others = known.setdefault(name, [])
            first = next((other for other in others if other == gold or same_answer(other, gold)), None)
            if first is None:
                others.append(first := gold)
            if first != others[0]:
                found[file][name] = f"{name} with gold {first}"
    return found


def escape_halves(text: str | None) -> str | None:
    """The text with an escape for half of a character pair, as JSON may hold it and no table can."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode("utf-8")
