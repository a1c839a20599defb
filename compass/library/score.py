"""`compass.score`: the accuracy of responses made elsewhere, from files or rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from compass.errors import UserError

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

    from compass.evaluation.given_responses import Given, Judged

    Rows: TypeAlias = "Sequence[Mapping[str, Any]] | pa.Table | pandas.DataFrame"

Watch: TypeAlias = "Callable[[Iterator[Any], int, str], Iterator[Any]]"
"""Passes rows on as they come; also told how many there are and what is done with them."""


RESPONSE_END = 200
"""Characters of a response's end that a verdict shows."""


@dataclass(frozen=True)
class Scored:
    """What the verifier makes of responses."""

    scores: dict[str, Any]
    """Accuracies (fractions from 0 to 1) with intervals, and counts: what `compass score` prints; docs/reference/evaluation.md explains each name."""
    verdicts: list[dict[str, Any]] = field(repr=False)
    """One per response with a gold: row, id, sample, gold, response_end, answer, correct, outcome, method, …; empty where they went to `each`."""
    warnings: list[str]
    """What to know about how the answers were read; empty where all is well."""
    left_out: list[str]
    """Readers of `all` that could not be used, each with the reason."""


def score(
    responses: str | Path | Rows,
    *,
    response_field: str,
    gold_field: str,
    problem_field: str | None = None,
    id_field: str | None = None,
    golds: str | Path | Rows | None = None,
    readers: Sequence[str] = (),
    each: Callable[[dict[str, Any]], Any] | None = None,
    watch: Watch = lambda rows, total, what: rows,
) -> Scored:
    """Score responses made elsewhere, as `compass score` does.

    Fields are names or dotted paths; `choices[].text` takes the text of every element of a list.

    Args:
        responses: a file (JSON lines, JSON, CSV or parquet; plain, .gz or .zst), a list of dictionaries, or a table (pyarrow, pandas).
        response_field: the field with the response, or a list of them.
        gold_field: the field with the gold answer.
        problem_field: the field with the problem: an answer that only copies a formula of it is wrong.
        id_field: rows with the same id are samples of one problem; without it, those of one problem and gold, else each row is its own.
        golds: where golds, and problems, stand apart from the responses: a file or rows with the same `id_field`, one per id.
        readers: score the same responses as other evaluations read them too: names that `compass score --help` lists, or `all`.
        each: receives each verdict as it is made, in place of `Scored.verdicts`.
        watch: sees the rows go by, to show progress.

    Raises:
        SourceError: the file cannot be read.
        ResponsesError: a field is missing or is not text, or no row has a gold and a response; the message names file and row.
        UserError: a reader is not known.
    """
    from compass.evaluation.given_responses import Fields, Tally, judge_given, read_given, read_golds, score_by_readers
    from compass.evaluation.other_readers import choose_readers

    names, missing = choose_readers(list(readers)) if readers else ([], [])
    fields = Fields(response_field, gold_field, problem_field, id_field)
    given, own = _as_rows(responses), None if golds is None else read_golds(_as_rows(golds), fields)
    count = sum(1 for _ in read_given(given, fields, own))  # a bad last row is an error before anything is judged
    tally = Tally()
    verdicts: list[dict[str, Any]] = []
    samples: dict[tuple[str, str], int] = {}
    for row, judgements in watch(judge_given(read_given(given, fields, own)), count, "scored"):
        tally.add(row, judgements)
        for verdict in _verdicts(row, judgements, samples):
            (each or verdicts.append)(verdict)
    scores = tally.scores()
    if names:
        ours = {"strict": "accuracy", "lenient": "lenient", "any": "any"}
        others = score_by_readers(watch(read_given(given, fields, own), count, "read by others"), names)
        scores |= {"readers": {mode: {"accuracy": scores[name]} for mode, name in ours.items()} | others}
    return Scored(scores, verdicts, tally.warnings(), missing)


def compare_scored(verdicts: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Every two files' strict accuracies compared, paired by problem.

    Args:
        verdicts: each file's name to its verdicts, as in `Scored.verdicts`; those of one `id` are samples of one problem.

    Returns:
        Per pair with a problem in common `file`, `other`, `words` (better, worse or neither, by how many points, with the 95% interval), `p`,
        `p_corrected` (Holm, over all pairs), `problems` (in both) and `missing` (in one alone).
    """
    import pyarrow as pa

    from compass.evaluation.comparisons import compare_models

    columns = ("id", "answer", "correct", "correct_lenient")
    rows = [
        {column: row[column] for column in columns} | {"model": name, "benchmark": "responses", "greedy": False}
        for name, own in verdicts.items()
        for row in own
    ]
    decides = list(verdicts) if len(verdicts) == 2 else None
    pairs = compare_models(pa.Table.from_pylist(rows), seed=0, primary=decides)["pairs"]
    return [
        {"file": pair["model"], "other": pair["other"]}
        | {name: found[name] for name in ("words", "p", "p_corrected", "problems", "missing")}
        for pair in pairs
        if (found := pair["benchmarks"]["responses"])["problems"]
    ]


def _as_rows(given: Any) -> Path | list[Mapping[str, Any]]:
    """A file's path, or the rows of a table or a list.

    Raises:
        UserError: it is neither.
    """
    if isinstance(given, str | Path):
        return Path(given)
    if hasattr(given, "to_pylist"):
        return given.to_pylist()
    if hasattr(given, "to_dict"):
        return given.to_dict("records")
    if isinstance(given, list | tuple) and all(isinstance(row, Mapping) for row in given):
        return list(given)
    raise UserError(f"{type(given).__name__}: is no file, table or list of rows; give a path, a table, or dictionaries")


def _verdicts(row: Given, judged: list[Judged], samples: dict[tuple[str, str], int]) -> Iterator[dict[str, Any]]:
    """A row's verdicts; `samples` counts those of each problem."""
    from compass.evaluation.given_responses import is_gold_unread, outcome

    for text, (strict, lenient, anyhow) in zip(row.responses, judged, strict=False):  # no gold, no judgement
        sample = samples.get(row.problem_key, 0)
        samples[row.problem_key] = sample + 1
        yield {
            "row": row.row,
            "id": row.id,
            "sample": sample,
            "gold": row.gold,
            "response_end": (text or "")[-RESPONSE_END:],
            "answer": strict.answer,
            "answer_lenient": lenient.answer,
            "correct": strict.equal,
            "correct_lenient": lenient.equal,
            "answer_any": anyhow.answer,
            "correct_any": anyhow.equal,
            "evidence": lenient.evidence,
            "outcome": outcome(strict),
            "gold_unread": is_gold_unread(row.gold, lenient, anyhow, text or ""),
            "method": strict.verdict.method if strict.answer is not None else None,
            "detail": strict.verdict.detail,
            "leniencies": [str(name) for name in strict.verdict.leniencies],
        }
