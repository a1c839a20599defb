"""Whether a guessed reading holds: checked against the rows themselves, before a source is used.

    check_reading(path, source, samples)   -> ["`canary` …: the publisher asks that …"]

A reading that the rows contradict is an error that shows what else there is: golds that differ from what the solutions mark, files
or rows of another shape than the rest. What seems to belong to a problem and is read by no setting is named with the setting
that reads it. Kinds of values decide; a field's name is a hint.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from compass.errors import SourceError
from compass.settings import Source
from compass.sources.adapters import ADAPTERS, MISSING, Published, reach
from compass.sources.gold import from_solution, gold_answer
from compass.sources.repair import repaired_row
from compass.sources.sampled_fields import (
    CONTEXT,
    Field,
    asking,
    asks,
    is_choices,
    is_context,
    is_id,
    is_licence,
    is_of_solution,
    is_picture,
    is_problem,
    is_solve_rate,
    is_unit,
    sampled_fields,
    shown,
    why_no_golds,
)
from compass.verifier import final_answer, same_final_answer

Rows = Sequence[Mapping[str, Any]]

COMPARED = 60
"""Rows whose gold is compared with their solution."""

FEWEST = 10
"""Comparable rows that decide."""

SHORT = 40
"""Characters; in a shorter text the last formula is no result of a solution."""


def check_reading(path: Path, source: Source, samples: Mapping[Path, Rows], named: Set[str] = frozenset()) -> list[str]:
    """What to know about a reading, one line each.

    Args:
        path: the file or folder, for messages.
        source: how its rows are read.
        samples: rows of each file, drawn from the whole of it.
        named: settings that the user gave, which are not questioned.

    Raises:
        SourceError: the rows contradict the reading; the message shows the other candidates and the option to give.
    """
    rows = [row for sample in samples.values() for row in sample]
    fields = sampled_fields(rows)
    if not {"problem_field", "answer_field", "solution_field"} & named:
        _check_files(path, source, samples)
        _check_rows(path, source, rows)
    if not {"answer_field", "solution_field"} & named:
        _check_golds(path, source, rows, fields)
    unread = _unread_fields(source, fields)
    return [*_doubts(source, fields), *_halves(source, rows, unread), *_unread(source, fields, unread, rows)]


def agreement(rows: Rows, gold_path: str, solution_path: str) -> tuple[int, int]:
    """Of rows whose solution marks its answer, those whose value at a path equals it, and all with a value there."""
    same = compared = 0
    for row in rows:
        solution = reach(row, solution_path)
        marked = from_solution(solution) if isinstance(solution, str) else ""
        value = reach(row, gold_path)
        gold = gold_answer(value) if marked and value is not MISSING else ""
        if gold and compared < COMPARED:
            compared += 1
            same += same_final_answer(gold=gold, answer=marked).equal
    return same, compared


def _check_files(path: Path, source: Source, samples: Mapping[Path, Rows]) -> None:
    """Refuse a folder with a file in which the fields that the others are read by are not."""
    if len(samples) < 2:
        return
    for file, rows in samples.items():
        read = [ADAPTERS[source.adapter](row, source) for row in rows]
        for what, role, texts in (
            ("problem", source.problem_field, [one.problem for one in read]),
            ("gold", source.answer_field or source.solution_field, [one.answer for one in read]),
        ):
            if 2 * sum(not (text or "").strip() for text in texts) > len(texts):
                held = ", ".join(f"`{field.path}` ({shown(field)})" for field in sampled_fields(rows)[:8])
                raise SourceError(
                    f"{path}: its files have different shapes: {what}s are read from `{role}`, which most rows of {file.name} lack; they "
                    f"hold {held or 'nothing'}",
                    "give the files of each shape apart: as arguments of their own, or in folders of their own",
                )


def _check_rows(path: Path, source: Source, rows: Rows) -> None:
    """Refuse a file in which some rows hold their problem in another field."""
    lacking = [row for row in rows if ADAPTERS[source.adapter](row, source).problem == ""]
    read = {name.strip() for name in source.problem_field.split(",")}
    others = [field for field in sampled_fields(rows) if field.path not in read]
    elsewhere = [
        field
        for field in sampled_fields(lacking)
        if field.path not in read and is_problem(field) and any(map(asking, field.texts))
        and not any(other.path == field.path and len(other.values) > len(field.values) for other in others)
    ]  # fmt: skip
    if not elsewhere or len(elsewhere[0].values) < max(2, LEAST * len(rows)):
        return
    field = elsewhere[0]
    raise SourceError(
        f"{path}: {len(field.values)} of {len(rows)} sampled rows have no `{source.problem_field}` and hold `{field.path}` instead "
        f"({shown(field)})",
        f"give these rows as a file of their own (`jq -c 'select(.[\"{field.path}\"])'`), or leave them out with "
        f"--problem-field {source.problem_field} --answer-field {source.answer_field or source.solution_field}",
    )


def _check_golds(path: Path, source: Source, rows: Rows, fields: Sequence[Field]) -> None:
    """Refuse golds that most solutions contradict, and list the fields that agree with them."""
    if not source.answer_field or not source.solution_field or source.adapter == "options":
        return
    marked, formulas = [], []
    for row in rows:
        one = ADAPTERS[source.adapter](repaired_row(row), source)
        if one.answer and one.solution and len(marked) + len(formulas) < COMPARED:
            if own := from_solution(one.solution):
                marked.append(_equal(one, own))
            elif len(one.solution) > SHORT and (own := final_answer(one.solution)) and own != one.solution:
                formulas.append(_equal(one, own))
    contradicted = len(marked) >= FEWEST and 2 * sum(marked) < len(marked)
    # A last formula is often a step; that hardly any is the gold is another matter.
    contradicted |= len(marked) < FEWEST and len(formulas) >= 2 * FEWEST and 20 * sum(formulas) < len(formulas)
    if not contradicted:
        return
    agreeing = []
    for field in fields:
        if field.path not in (source.answer_field, source.solution_field, source.problem_field):
            same, compared = agreement(rows, field.path, source.solution_field)
            if compared >= FEWEST and same:
                agreeing.append((same / compared, f"`{field.path}` ({shown(field)}; {same} of {compared} agree)"))
    seen = marked if len(marked) >= FEWEST else formulas
    own = next(field for field in fields if field.path == source.answer_field)
    best = "; nearer are " + ", ".join(text for _, text in sorted(agreeing, reverse=True)[:3]) if agreeing else ""
    raise SourceError(
        f"{path}: golds were to be read from `{source.answer_field}` ({shown(own)}), but only {sum(seen)} of {len(seen)} equal the answer "
        f"that the solution in `{source.solution_field}` ends with{best}",
        f"name the golds' field: --answer-field NAME; --answer-field {source.answer_field} keeps it, --solution-field "
        f"{source.solution_field} takes the golds from the solutions",
    )


def _doubts(source: Source, fields: Sequence[Field]) -> list[str]:
    """What is odd about golds that nothing contradicts."""
    own = next((field for field in fields if field.path == source.answer_field), None)
    why = why_no_golds(own) if own else ""
    return (
        [f"doubtful: `{own.path}` {why} ({shown(own)}); if it holds no golds, name their field: --answer-field NAME"]
        if own and why
        else []
    )


def _equal(one: Published, own: str) -> bool:
    golds = (one.answer, *one.alternatives)
    return any(same_final_answer(gold=gold, answer=own).equal for gold in golds)


def _used(source: Source) -> set[str]:
    """The paths that a source's settings name."""
    return {
        path.strip()
        for setting in Source.model_fields
        if setting.endswith("_field")
        for path in getattr(source, setting).split(",")
        if path.strip()
    }


def _unread_fields(source: Source, fields: Sequence[Field]) -> list[Field]:
    """The fields that no setting reads, nor what they stand in."""
    used = _used(source)
    return [
        field for field in fields if not any(field.path == path or field.path.startswith(f"{path}.") for path in used)
    ]


def _halves(source: Source, rows: Rows, unread: Sequence[Field]) -> list[str]:
    """What problems lack that a field beside them has: the question, or the numbers that placeholders stand for."""
    problems = [problem for row in rows if (problem := ADAPTERS[source.adapter](row, source).problem)]
    lines = []
    if problems and sum(map(asking, problems)) < COMMON * len(problems):
        for field in (field for field in unread if field.passages and all(map(asking, field.passages))):
            lines.append(
                f"doubtful: problems ask nothing, and `{field.path}` does ({shown(field)}); if they belong together: "
                f"`problem_field: {source.problem_field}, {field.path}`"
            )
    if problems and sum(bool(_OWN_NUMBER.search(problem)) for problem in problems) < COMMON * len(problems):
        for field in (field for field in unread if _holds_numbers(field)):
            lines.append(
                f"doubtful: problems hold no numbers, and `{field.path}` does ({shown(field)}); if problems have placeholders for them, "
                "put them in and give the file again"
            )
    return lines


_OWN_NUMBER = re.compile(r"(?<![\w\[{<])\d")
_NUMBERS = re.compile(r"\W*\d[\d.]*(?:\W+\d[\d.]*)+\W*")


def _holds_numbers(field: Field) -> bool:
    """Whether most values are several numbers, as a text or a list."""
    return 2 * sum(bool(_NUMBERS.fullmatch(str(value))) for value in field.values) > len(field.values)


def _unread(source: Source, fields: Sequence[Field], unread: Sequence[Field], rows: Rows) -> list[str]:
    """A line for each field that no setting reads and that looks as if it belonged to the problems, their golds or their use."""
    used = _used(source)
    problems = "\n".join(text for field in fields if field.path in used for text in field.texts)
    columns = {str(name) for row in rows for name in row}
    lines: list[str] = []
    rest: dict[str, None] = {}
    for field in unread:
        is_repeated = not is_unit(field) and 2 * sum(text in problems for text in field.texts) > len(field.values)
        remedy = "" if is_repeated or len(field.values) < LEAST * field.rows else _remedy(field, source)
        if remedy:
            lines.append(
                f"not read: `{field.path}` in {len(field.values)} of {field.rows} sampled rows ({shown(field)}): {remedy}"
            )
        else:
            rest[_column(field.path, columns)] = None
    if rest:
        more = f" and {len(rest) - MOST_NAMED} more" if len(rest) > MOST_NAMED else ""
        lines.append(f"not read: {', '.join(list(rest)[:MOST_NAMED])}{more}")
    return lines


def _column(path: str, columns: Set[str]) -> str:
    """The column that a path begins with, whose name may hold dots itself, as `Kl.`; the path where no column has it."""
    steps = path.split(".")
    begun = (".".join(steps[:count]) for count in range(len(steps), 0, -1))
    return next((name for name in begun if name in columns), path)


LEAST = 0.02
"""Share of rows from which a field gets a line of its own."""

COMMON = 0.1
"""Share of rows from which a field may belong to the problems."""

MOST_NAMED = 20
"""Fields of the line that names the others."""


def _remedy(field: Field, source: Source) -> str:
    """The setting that reads a field, and when to give it; empty where a field tells nothing about problem or gold."""
    if "canary" in field.name or any("canary" in text.lower() for text in field.texts[:1]):
        return "its publisher asks that these rows train no model; leave the file out, or give it with --benchmark"
    if is_picture(field) and is_of_solution(field):
        return ""
    if is_picture(field):
        return (
            f"a problem that needs its picture cannot be solved without it; `image_field: {field.path}` drops such rows"
        )
    if is_licence(field):
        return f"`licence_field: {field.path}` gives each row its own licence"
    if is_solve_rate(field):
        return f"if it is the share of right solutions: `level_field: {field.path}` with `level_means: solve_rate`"
    if is_unit(field):
        return f"if golds lack their unit: `unit_field: {field.path}`"
    if len(field.values) < COMMON * field.rows:
        return ""
    if is_choices(field):
        return f"if these are choices: `adapter: options` with `options_field: {field.path}`"
    if is_problem(field) and asks(field) and field.name not in CONTEXT:
        return f"if this is the problem to solve: `problem_field: {field.path}`"
    if is_context(field):
        refer = f"if problems refer to it: `problem_field: {field.path}, {source.problem_field}`"
        return (
            refer if source.solution_field else f"{refer}; if it works the answer out: `solution_field: {field.path}`"
        )
    if is_id(field) and not source.id_field:
        return f"if it names the rows: `id_field: {field.path}`"
    return ""
