"""`compass score`: the accuracy of responses made elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from compass.errors import UserError

if TYPE_CHECKING:
    from compass.evaluation.given_responses import Fields


def score(
    responses: Path,
    /,
    *others: Path,
    response_field: str,
    gold_field: str,
    problem_field: str | None = None,
    id_field: str | None = None,
    verdicts: Path | None = None,
    readers: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
) -> int:
    """Score responses made elsewhere, from files with any field names. Prints JSON, an object per file.

    Fields are names or dotted paths; `choices[].text` takes the text of every element of a list. A response field may hold
    one text or a list of them.

    Args:
        responses: JSON lines, JSON, CSV or parquet, plain, .gz or .zst.
        others: further files with the same fields, such as other models' responses.
        response_field: the field with the response, or a list of them.
        gold_field: the field with the gold answer.
        problem_field: the field with the problem: an answer that only copies a formula of it is wrong.
        id_field: rows with the same id are samples of one problem (without it, problem and gold, else each row).
        verdicts: write a line of JSON per response, with the verdict, into this file.
        readers: score the same responses as other evaluations read them, too: all, math-verify (needs its package), boxed-text, minerva-text,
            last-number, answer-line. Shows what the choice of a reader does to accuracies and to the order of files.

    Raises:
        SourceError, ResponsesError: a file cannot be read or scored.

    Examples:
        compass score answers.jsonl.gz --response-field response --gold-field answer
        compass score answers.jsonl --response-field choices[].message.content --gold-field item.gold --verdicts out.jsonl
        compass score small.jsonl large.jsonl --response-field response --gold-field answer --readers all
    """
    from compass.evaluation.given_responses import Fields
    from compass.evaluation.other_readers import choose_readers

    files = [responses, *others]
    if verdicts is not None and others:
        raise UserError(f"--verdicts {verdicts}: takes one file of responses; score each by itself")
    names, missing = choose_readers(readers) if readers else ([], [])
    fields = Fields(response_field, gold_field, problem_field, id_field)
    found = {str(path): _score_file(path, fields, verdicts, names) for path in files}
    for path, (scores, _) in found.items():
        print(json.dumps({"file": path} | scores, indent=2, ensure_ascii=False))
    if names and others:
        print(json.dumps({"order": _order({path: scores for path, (scores, _) in found.items()})}, indent=2))
    for path, (_, warnings) in found.items():
        for line in warnings:
            print(f"warning: {f'{path}: ' if others else ''}{line}", file=sys.stderr)
    for line in missing:
        print(f"left out: {line}", file=sys.stderr)
    return 0


def _score_file(
    path: Path, fields: Fields, verdicts: Path | None, names: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """What is printed of one file, and its warnings."""
    from compass.commands.progress import counted
    from compass.evaluation.given_responses import Given, Judged, Tally, judge_given, read_given, score_by_readers

    rows = sum(1 for _ in read_given(path, fields))  # a bad last row is said before anything is judged
    tally = Tally()

    def judged() -> Iterator[tuple[Given, list[Judged]]]:
        for row, judgements in counted(judge_given(read_given(path, fields)), rows, "scored"):
            tally.add(row, judgements)
            yield row, judgements

    if verdicts is None:
        for _ in judged():
            pass
    else:
        _write(verdicts, judged(), path)
    scores = tally.scores()
    if names:
        ours = {"strict": "accuracy", "lenient": "lenient", "any": "any"}
        others = score_by_readers(counted(read_given(path, fields), rows, "read by others"), names)
        scores |= {"readers": {mode: {"accuracy": scores[name]} for mode, name in ours.items()} | others}
    return scores, tally.warnings()


def _order(found: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Per reader the files, the most accurate first."""
    readers = next(iter(found.values()))["readers"]
    return {reader: sorted(found, key=lambda path: -found[path]["readers"][reader]["accuracy"]) for reader in readers}


def _write(path: Path, judged: Iterator[tuple[Any, list[Any]]], read: Path) -> None:
    from compass.files import atomic_path

    if path.exists() and path.samefile(read):
        raise UserError(f"--verdicts {path}: is the file of responses itself; name another")
    if path.is_dir():
        raise UserError(f"--verdicts {path}: is a folder; name a file")
    if not path.parent.is_dir():
        raise UserError(f"--verdicts {path}: the folder {path.parent} does not exist; make it first")
    # half of a character pair, as JSON may hold it, is written as the escape that it was
    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8", errors="backslashreplace") as file:
        samples: dict[tuple[str, str], int] = {}
        for row, judgements in judged:
            _write_row(file, row, judgements, samples)


def _write_row(file: IO[str], row: Any, judgements: list[Any], samples: dict[tuple[str, str], int]) -> None:
    from compass.evaluation.given_responses import outcome

    for strict, lenient, anyhow in judgements:
        sample = samples.get(row.problem_key, 0)
        samples[row.problem_key] = sample + 1
        verdict = {
            "row": row.row,
            "id": row.id,
            "sample": sample,
            "answer": strict.answer,
            "answer_lenient": lenient.answer,
            "correct": strict.equal,
            "correct_lenient": lenient.equal,
            "answer_any": anyhow.answer,
            "correct_any": anyhow.equal,
            "evidence": lenient.evidence,
            "outcome": outcome(strict),
            "method": strict.verdict.method if strict.answer is not None else None,
            "detail": strict.verdict.detail,
            "leniencies": [str(name) for name in strict.verdict.leniencies],
        }
        file.write(json.dumps(verdict, ensure_ascii=False) + "\n")
