"""Settings for a file that nobody described: fields that the user names, and the rest guessed.

    compass.sources.recognise.for_file(Path("rows.jsonl"))   -> settings for a file

For `compass curate` and `compass verify`: a source of the pipeline is an entry in `collect.sources` of a parameter file, and its shape
of rows an adapter (`adapters.py`).
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from heapq import heappush, heapreplace
from itertools import islice
from pathlib import Path
from typing import Any

from compass.settings import Source
from compass.sources.adapters import MISSING, reach
from compass.sources.check_reading import check_reading
from compass.sources.guess import SAMPLE, Guess, explain, guess
from compass.sources.read import SourceError, data_files, file_rows

NAME_IT = "name it: "
"""Before the options that name a field which is not guessed."""


def for_file(path: Path) -> Source:
    """Settings that read a file or folder, guessed from its fields.

    Raises:
        SourceError: nothing is there, or its first rows have no field that could be the problem or the gold.
    """
    return described(path)[0]


def described(path: Path) -> tuple[Source, list[str]]:
    """As `for_file`, and the evidence for every field as lines to print."""
    files = data_files(path)
    samples = sample_files(files)
    rows = [row for sample in samples.values() for row in sample]
    guessed = _without_repeated_id(guess(path.name.split(".")[0], path, rows), files)
    notes = [f"  {note}" for note in check_reading(path, guessed.source, samples)]
    return guessed.source, [*explain(guessed), *notes]


def sample_files(files: Sequence[Path]) -> dict[Path, list[Mapping[str, Any]]]:
    """Rows of each file, drawn evenly from the whole of it by a fixed seed, in their order; fewer of each where files are many."""
    most = max(SAMPLE // len(files), FEWEST_PER_FILE)
    return {file: _sample(file, most) for file in files}


FEWEST_PER_FILE = 20


def _sample(file: Path, most: int) -> list[Mapping[str, Any]]:
    draw = random.Random(0)
    drawn: list[tuple[float, int, Mapping[str, Any]]] = []
    for number, row in file_rows(file):
        rank = -draw.random()
        if len(drawn) < most:
            heappush(drawn, (rank, number, row))
        elif rank > drawn[0][0]:
            heapreplace(drawn, (rank, number, row))
    return [row for _, _, row in sorted(drawn, key=lambda one: one[1])]


def _without_repeated_id(guessed: Guess, files: Sequence[Path]) -> Guess:
    """The guess without its id field where two rows share an id: those with an id that is taken would be dropped."""
    if not guessed.source.id_field or _is_unique(files, guessed.source.id_field):
        return guessed
    evidence = {setting: why for setting, why in guessed.evidence.items() if setting != "id_field"}
    return Guess(guessed.source.model_copy(update={"id_field": ""}), evidence)


def _is_unique(files: Sequence[Path], field: str) -> bool:
    seen: set[str] = set()
    for file in files:
        for _, row in file_rows(file):
            value = str(reach(row, field))
            if value in seen:
                return False
            seen.add(value)
    return True


USUAL = {"problem_field": "problem", "answer_field": "answer", "solution_field": "solution"}
"""How a field that the user names is called, in `_stand_in`, while the others are guessed."""


def present(path: Path, named: Mapping[str, str]) -> dict[str, str]:
    """Those of the named fields that a file has."""
    given = {setting: field for setting, field in named.items() if field}
    rows = _first_rows(path) if given else []
    return {setting: field for setting, field in given.items() if _has_field(rows, field)}


def check_named(paths: Sequence[Path], named: Mapping[str, str]) -> None:
    """Refuse a named field that no file has, of those that can be read.

    Raises:
        SourceError: there is one; the message lists the files' fields.
    """
    given = [field for field in named.values() if field]
    there: dict[Path, list[Mapping[str, Any]]] = {}
    for path in paths if given else ():
        with suppress(SourceError):  # whoever reads the file says why it cannot be read
            there[path] = _first_rows(path)
    for field in given if there or not paths else ():
        if not any(_has_field(rows, field) for rows in there.values()):
            listed = "; ".join(f"{path} has {', '.join(_names(rows))}" for path, rows in there.items())
            listed = listed or "none is named, and sources of --params name their fields there"
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
    files = data_files(path)
    samples = sample_files(files)
    rows = [row for sample in samples.values() for row in sample]
    if absent := [field for field in given.values() if not _has_field(rows, field)]:
        raise SourceError(f"{path}: no row has the field {absent[0]!r}; its fields are {', '.join(_names(rows))}")
    own_names = {_stand_in(USUAL[setting]): field for setting, field in given.items()}
    own_names |= {_stand_in(f"other {USUAL[setting]}"): USUAL[setting] for setting in given}
    try:
        guessed = guess(path.name.split(".")[0], path, [_renamed(row, given) for row in rows])
    except SourceError as error:
        raise SourceError(_with_own_names(str(error), own_names)) from None
    guessed = _without_repeated_id(_in_own_names(guessed, own_names), files)
    source = guessed.source.model_copy(update=given)
    for setting in given:
        guessed.evidence[setting] = "as you said"
    notes = [f"  {note}" for note in check_reading(path, source, samples, given.keys())]
    return source, [*explain(type(guessed)(source, guessed.evidence)), *notes]


def _stand_in(name: str) -> str:
    """A name that no file has, and that counts as `name` where usual names are looked for."""
    return f"__{name}__"


def _renamed(row: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """A row in which the named fields have the usual names, and no other field has one of these."""
    taken = [USUAL[setting] for setting in given]
    named = {_stand_in(USUAL[setting]): reach(row, field) for setting, field in given.items()}
    others = row
    for field in given.values():
        others = _without(others, field)
    return {name: value for name, value in named.items() if value is not MISSING} | {
        _stand_in(f"other {name}") if name in taken else name: value for name, value in others.items()
    }


def _without(row: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """A row without the field at a path, where objects alone lead to it."""
    if path in row:
        return {name: value for name, value in row.items() if name != path}
    first, _, rest = path.partition(".")
    inner = row.get(first)
    return {**row, first: _without(inner, rest)} if rest and isinstance(inner, Mapping) else row


def _in_own_names(guessed: Guess, own_names: Mapping[str, str]) -> Guess:
    """A guess with the file's own names of fields in its settings and their evidence."""
    fields = {name: _with_own_names(value, own_names) for name, value in guessed.source if name.endswith("_field")}
    evidence = {setting: _with_own_names(why, own_names) for setting, why in guessed.evidence.items()}
    return Guess(guessed.source.model_copy(update=fields), evidence)


def _with_own_names(text: str, own_names: Mapping[str, str]) -> str:
    for stand_in, name in own_names.items():
        text = text.replace(stand_in, name)
    return text


def _with_options(path: Path, message: str) -> str:
    """A guess's error with the options of this command instead of another's."""
    found, _, _ = message.partition(". Name this file's fields in")
    if found == message:
        return message
    the_problem = re.search(r": (?:no field looks like a|several fields could be the) problem", found)
    options = "--problem-field NAME" if the_problem else "--answer-field NAME (or --solution-field NAME)"
    return f"{found}; {NAME_IT}{options}; one option serves every file that has the field"


def columns(path: Path) -> Sequence[str]:
    """The fields of a file's first rows."""
    return _names(_first_rows(path))


def _first_rows(path: Path) -> list[Mapping[str, Any]]:
    return [row for _, row in islice(file_rows(data_files(path)[0]), SAMPLE)]


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _has_field(rows: Sequence[Mapping[str, Any]], field: str) -> bool:
    """Whether any row has a field, by its name or its dotted path."""
    return any(reach(row, field) is not MISSING for row in rows)
