"""`compass score`: the accuracy of responses made elsewhere."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from compass.commands.evaluate_models import split_name
from compass.errors import UserError


def score(
    responses: Path,
    /,
    *others: Path,
    response_field: str,
    gold_field: str,
    problem_field: str | None = None,
    id_field: str | None = None,
    golds: Path | None = None,
    verdicts: Path | None = None,
    readers: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    out: Path | None = None,
) -> int:
    """Score responses made elsewhere, from files with any field names. Prints JSON; of several files `files`, and how they compare. With --out also a page.

    Fields are names or dotted paths; `choices[].text` takes the text of every element of a list. A response field may hold
    one text or a list of them.

    Args:
        responses: JSON lines, JSON, CSV or parquet, plain, .gz or .zst; NAME=FILE gives the model of a page a name.
        others: further files with the same fields, such as other models' responses; with --id-field or --problem-field they are compared, problem by problem.
        response_field: the field with the response, or a list of them.
        gold_field: the field with the gold answer.
        problem_field: the field with the problem: an answer that only copies a formula of it is wrong.
        id_field: rows with the same id are samples of one problem (without it, problem and gold, else each row). Without it, a verdict's `id` is a digest of
            the problem, or the row's number.
        golds: a file with the golds, and the problems, where they stand apart from the responses: one row per --id-field.
        verdicts: write a line of JSON per response, with its file, gold, verdict and end, into this file.
        readers: score the same responses as other evaluations read them, too: all, math-verify (needs its package), boxed-text, minerva-text,
            last-number, answer-line. Shows what the choice of a reader does to accuracies and to the order of files.
        out: a folder to write a page into (index.html, with every problem, gold and response), and the results that `compass report` reads.

    Raises:
        SourceError, ResponsesError: a file cannot be read or scored.
        UserError: `--out` or `--verdicts` cannot be written, a file is given twice, or `--out` is given for several files and nothing says which rows are
            one problem.

    Examples:
        compass score answers.jsonl.gz --response-field response --gold-field answer
        compass score answers.jsonl --response-field choices[].message.content --gold-field item.gold --verdicts out.jsonl
        compass score small.jsonl large.jsonl --response-field response --gold-field answer --readers all
        compass score small.jsonl large.jsonl --response-field response --gold-field answer --problem-field question --out scored
        compass score small.jsonl large.jsonl --response-field response --gold-field gold --golds golds.jsonl --id-field id
    """
    from compass.library.score import check_page, compare_scored, name_files, tell_files_apart, write_scored
    from compass.library.score import score as score_responses

    named = [split_name(str(given)) for given in (responses, *others)]
    files = [Path(file) for _, file in named]
    places = [path.resolve() for path in files]
    if twice := next((path for at, path in enumerate(files) if places[at] in places[:at]), None):
        raise UserError(f"{twice}: is given twice; give each file once")
    names = [name or short for (name, _), short in zip(named, name_files(files), strict=True)]
    if len(set(names)) < len(names):
        raise UserError(f"NAME=FILE: two files have one name ({', '.join(names)}); give each its own")
    if out is not None:
        check_page(out, [*files, *filter(None, [golds])])
        if others and not (id_field or problem_field):
            raise UserError(
                "--out with several files shows how they compare, problem by problem: name the field that says which rows are one problem, "
                "--id-field or --problem-field"
            )
    found = {}
    with _writer(verdicts, [*files, *filter(None, [golds])]) as write:
        for path in files:
            found[str(path)] = scored = score_responses(
                path,
                response_field=response_field,
                gold_field=gold_field,
                problem_field=problem_field,
                id_field=id_field,
                golds=golds,
                readers=readers or (),
                keep=out is not None,
                each=None if others else lambda verdict, path=path: write({"file": str(path)} | verdict),
                watch=partial(_watch, str(path) if others else ""),
            )
            for verdict in scored.verdicts:
                write({"file": str(path)} | verdict)
    printed: dict[str, Any] = {"files": [{"file": path} | scored.scores for path, scored in found.items()]}
    compared = {path: own.verdicts for path, own in found.items()} if others and (id_field or problem_field) else {}
    if compared:
        printed["comparisons"] = compare_scored(compared)
    if readers and others:
        printed["order"] = _order({path: scored.scores for path, scored in found.items()})
    print(json.dumps(printed if others else printed["files"][0], indent=2, ensure_ascii=False))
    for path, scored in found.items():
        for line in scored.warnings:
            print(f"warning: {f'{path}: ' if others else ''}{line}", file=sys.stderr)
    for path, ids in tell_files_apart(compared).items():
        if ids:
            print(
                f"warning: {path}: left out of the comparison, because a file before it has another gold under the same id: {len(ids):,} "
                f"problem{'s' * (len(ids) > 1)}; name a field that tells problems apart, or correct the golds",
                file=sys.stderr,
            )
    for line in next(iter(found.values())).left_out:
        print(f"left out: {line}", file=sys.stderr)
    if out is not None:
        page, headline = write_scored(dict(zip(names, found.values(), strict=True)), out)
        print(f"{headline}\npage: {page}", file=sys.stderr)
    return 0


def _watch(file: str, rows: Iterator[Any], total: int, what: str) -> Iterator[Any]:
    """Rows as they go by, with a bar or lines that name the file where there are several."""
    from compass.commands.progress import draw_items

    yield from draw_items(rows, total, f"{file}: {what}" if file else what, unit="rows")


def _order(found: dict[str, dict[str, Any]]) -> dict[str, list[str]]:
    """Per reader the files, the most accurate first."""
    readers = next(iter(found.values()))["readers"]
    return {reader: sorted(found, key=lambda path: -found[path]["readers"][reader]["accuracy"]) for reader in readers}


@contextmanager
def _writer(path: Path | None, read: list[Path]) -> Iterator[Callable[[dict[str, Any]], object]]:
    """Writes each verdict that it is given into a file, which appears when the block ends; nothing without a file.

    Raises:
        UserError: the file cannot be written, or is the one that is read.
    """
    from compass.files import atomic_path
    from compass.library.output_folder import check_file

    if path is None:
        yield lambda verdict: None
        return
    if path.exists() and any(one.exists() and path.samefile(one) for one in read):
        raise UserError(f"--verdicts {path}: is the file of responses itself; name another")
    check_file(path, "--verdicts")
    # half of a character pair, as JSON may hold it, is written as the escape that it was
    with atomic_path(path) as temporary, open(temporary, "w", encoding="utf-8", errors="backslashreplace") as file:
        yield lambda verdict: file.write(json.dumps(verdict, ensure_ascii=False) + "\n")
