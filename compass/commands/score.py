"""`compass score`: the accuracy of responses made elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from compass.errors import UserError


def score(
    responses: Path,
    /,
    *,
    response_field: str,
    gold_field: str,
    problem_field: str | None = None,
    id_field: str | None = None,
    verdicts: Path | None = None,
) -> int:
    """Score responses made elsewhere, from a file with any field names. Prints JSON.

    Fields are names or dotted paths; `choices[].text` takes the text of every element of a list. A response field may hold
    one text or a list of them.

    Args:
        responses: JSON lines, JSON, CSV or parquet, plain, .gz or .zst.
        response_field: the field with the response, or a list of them.
        gold_field: the field with the gold answer.
        problem_field: the field with the problem: an answer that only copies a formula of it is wrong.
        id_field: rows with the same id are samples of one problem (without it, problem and gold, else each row).
        verdicts: write a line of JSON per response, with the verdict, into this file.

    Raises:
        SourceError, ResponsesError: the file cannot be read or scored.

    Examples:
        compass score answers.jsonl.gz --response-field response --gold-field answer
        compass score answers.jsonl --response-field choices[].message.content --gold-field item.gold --verdicts out.jsonl
    """
    from compass.commands.progress import counted
    from compass.evaluation.given_responses import Fields, Given, Judged, Tally, judge_given, read_given

    fields = Fields(response_field, gold_field, problem_field, id_field)
    rows = sum(1 for _ in read_given(responses, fields))  # a bad last row is said before anything is judged
    tally = Tally()

    def judged() -> Iterator[tuple[Given, list[Judged]]]:
        for row, judgements in counted(judge_given(read_given(responses, fields)), rows, "scored"):
            tally.add(row, judgements)
            yield row, judgements

    if verdicts is None:
        for _ in judged():
            pass
    else:
        _write(verdicts, judged(), responses)
    print(json.dumps({"file": str(responses)} | tally.scores(), indent=2, ensure_ascii=False))
    for line in tally.warnings():
        print(f"warning: {line}", file=sys.stderr)
    return 0


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
