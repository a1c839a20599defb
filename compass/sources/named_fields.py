"""How a file is read by the fields that its user names, and for the rest as guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from compass.settings import Source
from compass.sources.guess import SAMPLE, explain, guess
from compass.sources.read import SourceError, data_files, file_rows
from compass.sources.registry import described

USUAL = {"problem_field": "problem", "answer_field": "answer", "solution_field": "solution"}
"""What a field that the user names is called while the others are guessed."""


def present(path: Path, named: Mapping[str, str]) -> dict[str, str]:
    """Those of the named fields that a file has."""
    given = {setting: field for setting, field in named.items() if field}
    if not given:
        return {}
    there = columns(path)
    return {setting: field for setting, field in given.items() if field in there}


def check_named(paths: Sequence[Path], named: Mapping[str, str]) -> None:
    """Refuse a named field that no file has.

    Raises:
        SourceError: there is one; the message lists the files' fields.
    """
    given = [field for field in named.values() if field]
    there = {str(path): columns(path) for path in paths} if given else {}
    for field in given:
        if not any(field in fields for fields in there.values()):
            listed = "; ".join(f"{path} has {', '.join(fields)}" for path, fields in there.items())
            raise SourceError(f"no file has the field {field!r}: {listed}")


def read_as(path: Path, named: Mapping[str, str]) -> tuple[Source, list[str]]:
    """How a file is read, and the evidence as lines.

    Args:
        path: a file or folder of rows.
        named: fields by the setting that they are for (`problem_field`, …); empty ones are guessed.

    Raises:
        SourceError: the file cannot be read, has none of the fields, or they cannot be guessed; the message lists them.
    """
    given = {setting: field for setting, field in named.items() if field}
    if not given:
        try:
            return described(path)
        except SourceError as error:
            raise SourceError(_with_options(path, str(error))) from None
    rows = [row for _, row in islice(file_rows(data_files(path)[0]), SAMPLE)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if absent := [field for field in given.values() if field not in columns]:
        raise SourceError(f"{path}: no row has the field {absent[0]!r}; its fields are {', '.join(columns)}")
    guessed = guess(path.name.split(".")[0], path, [_renamed(row, given) for row in rows])
    source = guessed.source.model_copy(update=given)
    for setting in given:
        guessed.evidence[setting] = "as you said"
    return source, explain(type(guessed)(source, guessed.evidence))


def _renamed(row: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """A row in which the named fields have the usual names, and no other field has one of these."""
    taken = {USUAL[setting] for setting in given}
    names = {field: USUAL[setting] for setting, field in given.items()}
    return {names.get(name, f"other_{name}" if name in taken else name): value for name, value in row.items()}


def _with_options(path: Path, message: str) -> str:
    """A guess's error with the options of this command instead of another's."""
    found, _, _ = message.partition(". Name this file's fields in")
    if found == message:
        return message
    return f"{found}; name them: --problem-field NAME --answer-field NAME (or --solution-field NAME)"


def columns(path: Path) -> Sequence[str]:
    """The fields of a file's first rows."""
    rows = [row for _, row in islice(file_rows(data_files(path)[0]), SAMPLE)]
    return list(dict.fromkeys(name for row in rows for name in row))
