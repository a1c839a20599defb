"""`compass.score`: the accuracy of responses made elsewhere, from files or rows in memory."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from compass.errors import UserError

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

    from compass.evaluation.given_responses import Given, Judged
    from compass.evaluation.given_results import Kept

    Rows: TypeAlias = "Sequence[Mapping[str, Any]] | pa.Table | pandas.DataFrame"

Watch: TypeAlias = "Callable[[Iterator[Any], int, str], Iterator[Any]]"
"""Passes rows on as they come; also told how many there are and what is done with them."""


RESPONSE_END = 200
"""Characters of a response's end that a verdict shows."""


ENDING = r"(\.(jsonl?|ndjson|csv|tsv|parquet))?(\.(gz|zst))?$"
"""Endings of data files."""


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
    facts: dict[str, Any] = field(default_factory=dict, repr=False)
    """The file's name and SHA-256, the fields, and what each count of rows was."""
    kept: Kept | None = field(default=None, repr=False)
    """The responses with their judgements, for `write_scored`; None unless they were asked for."""


def score(
    responses: str | Path | Rows,
    *,
    response_field: str,
    gold_field: str,
    problem_field: str | None = None,
    id_field: str | None = None,
    golds: str | Path | Rows | None = None,
    readers: Sequence[str] = (),
    out: str | Path | None = None,
    keep: bool = False,
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
        out: a folder to write the responses with their verdicts, the scores and the page into, as `compass report` reads and writes them.
        keep: keep in `Scored.kept` what `write_scored` makes such a folder of, for the responses of several models.
        each: receives each verdict as it is made, in place of `Scored.verdicts`.
        watch: sees the rows go by, to show progress.

    Raises:
        SourceError: the file cannot be read.
        ResponsesError: a field is missing or is not text, or no row has a gold and a response; the message names file and row.
        UserError: a reader is not known, or `out` holds something else.
    """
    from compass.evaluation.given_responses import Fields, Tally, judge_given, read_given, read_golds, score_by_readers
    from compass.evaluation.given_results import Kept
    from compass.evaluation.other_readers import choose_readers

    if out is not None:
        check_page(Path(out), [one for one in (responses, golds) if isinstance(one, str | Path)])

    names, missing = choose_readers(list(readers)) if readers else ([], [])
    fields = Fields(response_field, gold_field, problem_field, id_field)
    given, own = _as_rows(responses), None if golds is None else read_golds(_as_rows(golds), fields)
    count = sum(1 for _ in read_given(given, fields, own))  # a bad last row is an error before anything is judged
    tally, kept = Tally(), Kept() if keep or out is not None else None
    verdicts: list[dict[str, Any]] = []
    samples: dict[tuple[str, str], int] = {}
    for row, judgements in watch(judge_given(read_given(given, fields, own)), count, "scored"):
        tally.add(row, judgements)
        if kept is not None:
            kept.add(row, judgements, samples.get(row.problem_key, 0))
        for verdict in _verdicts(row, judgements, samples):
            (each or verdicts.append)(verdict)
    scores = tally.scores()
    if names:
        ours = {"strict": "accuracy", "lenient": "lenient", "any": "any"}
        others = score_by_readers(watch(read_given(given, fields, own), count, "read by others"), names)
        scores |= {"readers": {mode: {"accuracy": scores[name]} for mode, name in ours.items()} | others}
    facts = _describe(given) | {"fields": {name: value for name, value in vars(fields).items() if value is not None}}
    scored = Scored(scores, verdicts, tally.warnings(), missing, facts, kept)
    if out is not None:
        write_scored({name_files([Path(facts["file"])])[0]: scored}, Path(out))
    return scored


def compare_scored(verdicts: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Every two files' accuracies compared, strict and lenient, paired by problem.

    Args:
        verdicts: each file's name to its verdicts, as in `Scored.verdicts`; those of one `id` are samples of one problem.

    Returns:
        Per pair with a problem in common `file`, `other`, `problems` (in both), `missing` (in one alone) and `other_golds` (ids that have other golds in
        the two, so that each is a problem of one alone); and under `strict` and `lenient`, for the accuracy in that mode, `difference` and
        `ci95` (of accuracy, -1 to 1), `words` (better, worse or neither, with the figures that decide),
        `p` and `p_corrected` (Holm, over all pairs).
    """
    apart = tell_files_apart(verdicts)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for mode, suffix in (("strict", ""), ("lenient", "_lenient")):
        for model, other, one in _compare(verdicts, apart, suffix):
            both = {row["id"] for row in verdicts[model]} & {row["id"] for row in verdicts[other]}
            others = sum(apart[model].get(name) != apart[other].get(name) for name in both)
            pair = {"file": model, "other": other, "problems": one["problems"], "missing": one["missing"]}
            pair["other_golds"] = others
            own = {name: one[name] for name in ("difference", "ci95", "words", "p", "p_corrected")}
            found.setdefault((model, other), pair)[mode] = own
    return list(found.values())


def tell_files_apart(verdicts: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, dict[str, str]]:
    """File to the ids whose gold is another answer than in a file before it, each with the id that it is compared by; verdicts as in `compare_scored`."""
    from compass.evaluation.given_results import tell_apart

    return tell_apart({file: {row["id"]: row["gold"] for row in own} for file, own in verdicts.items()})


def _compare(
    verdicts: Mapping[str, Sequence[Mapping[str, Any]]], apart: Mapping[str, Mapping[str, str]], suffix: str
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every two files with a problem in common, and their comparison by the mode whose columns have the suffix."""
    import pyarrow as pa

    from compass.evaluation.comparisons import compare_models
    from compass.evaluation.given_results import escape_halves

    rows = [
        {
            "model": name,
            "benchmark": "responses",
            "greedy": None,
            "id": escape_halves(apart[name].get(row["id"], row["id"])),
        }
        | {"answer": escape_halves(row[f"answer{suffix}"]), "correct": row[f"correct{suffix}"]}
        | {"correct_lenient": row["correct_lenient"]}
        for name, own in verdicts.items()
        for row in own
    ]
    for pair in compare_models(pa.Table.from_pylist(rows), seed=0, primary=_decides(list(verdicts)))["pairs"]:
        if (found := pair["benchmarks"]["responses"])["problems"]:
            yield pair["model"], pair["other"], found


def _decides(models: list[str]) -> list[str] | None:
    """Two models: theirs is the comparison that decides."""
    return models if len(models) == 2 else None


def check_page(out: Path, read: Sequence[str | Path]) -> None:
    """Refuse a folder that `write_scored` cannot write, before anything is judged.

    Args:
        out: the folder.
        read: files that are read.

    Raises:
        UserError: it is a file, holds something else or what is read, or may not be written.
    """
    from compass.evaluation.results import GIVEN

    place = out.resolve()
    if out.exists() and not out.is_dir():
        raise UserError(f"--out {out}: is a file; name a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / GIVEN).is_file():
        raise UserError(f"--out {out}: holds something else than `compass score --out` writes; name a new folder")
    if inside := next((path for path in read if place in Path(path).resolve().parents), None):
        raise UserError(f"--out {out}: holds {inside}, which is read; name another folder")
    above = next(folder for folder in (place, *place.parents) if folder.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise UserError(f"--out {out}: no folder can be made or written in {above}; name another")


def write_scored(found: Mapping[str, Scored], out: Path, *, megabytes: float = 20.0) -> tuple[Path, str]:
    """Write scored responses as `compass evaluate` writes its own, and the page that `compass report` makes of them.

    Args:
        found: each model's name to what `score` returned with `keep`; problems of one id and gold are the same problem.
        out: the folder, checked with `check_page`.
        megabytes: most that responses may add to the page.

    Returns:
        The page, and its headline.
    """
    from compass.evaluation.given_results import given_tables, tell_apart
    from compass.evaluation.results import GIVEN, write_results
    from compass.files import write_json
    from compass.report.headline import conclude
    from compass.report.page import write_report
    from compass.report.run import read_run

    kept = {model: scored.kept for model, scored in found.items() if scored.kept is not None}
    golds = {model: {name: row["answer"] for name, row in own.problems.items()} for model, own in kept.items()}
    apart = tell_apart(golds)
    facts = {
        model: one.facts | {"other_golds": len(apart[model])} | {"scores": one.scores} for model, one in found.items()
    }
    write_json(out / GIVEN, facts)  # first: the folder is known as one of ours if this is stopped
    scores = write_results(out, *given_tables(kept, apart), {}, seed=0, primary=_decides(list(kept)))
    write_json(out / "scores.json", {"models": scores})
    run = read_run(out)
    return write_report(run, out, title=run.title, megabytes=megabytes), conclude(run).headline


def name_files(paths: Sequence[Path]) -> list[str]:
    """What a page calls files: their names without endings, with the folders above as far as that tells them apart."""
    parts = [(*path.resolve().parts[1:-1], re.sub(ENDING, "", path.name)) for path in paths]
    for count in range(1, max(map(len, parts)) + 1):
        names = ["/".join(own[-count:]) for own in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{own[-1]} ({number})" for number, own in enumerate(parts, 1)]


def _describe(given: Path | list[Any]) -> dict[str, Any]:
    """A file's name, without the folders that are nobody else's business, and its digest; rows in memory have none."""
    from compass.files import file_digest

    if isinstance(given, Path):
        return {"file": given.name, "sha256": file_digest(given) if given.is_file() else None}
    return {"file": "responses", "sha256": None}


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
        return [{name: _as_list(cell) for name, cell in row.items()} for row in given.to_dict("records")]
    if isinstance(given, list | tuple) and all(isinstance(row, Mapping) for row in given):
        return list(given)
    raise UserError(f"{type(given).__name__}: is no file, table or list of rows; give a path, a table, or dictionaries")


def _as_list(cell: Any) -> Any:
    """A cell of a data frame, with lists in place of the arrays that one from parquet has."""
    if isinstance(cell, Mapping):
        return {name: _as_list(part) for name, part in cell.items()}
    plain = cell.tolist() if hasattr(cell, "tolist") else cell
    return [_as_list(part) for part in plain] if isinstance(plain, list) else plain


def _verdicts(row: Given, judged: list[Judged], samples: dict[tuple[str, str], int]) -> Iterator[dict[str, Any]]:
    """A row's verdicts; `samples` counts those of each problem."""
    from compass.evaluation.given_responses import is_gold_unread
    from compass.sampling.score import outcome

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
            "evidence": strict.evidence,
            "evidence_lenient": lenient.evidence,
            "outcome": outcome(strict),
            "gold_unread": is_gold_unread(row.gold, lenient, anyhow, text or ""),
            "method": strict.verdict.method if strict.answer is not None else None,
            "detail": strict.verdict.detail,
            "leniencies": [str(name) for name in strict.verdict.leniencies],
        }
