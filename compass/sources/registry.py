"""Settings for a source by its name or for a file: those of the known sources, else guessed from the file's fields.

    compass.sources.registry.find("numina-1.5").source      -> settings for `collect.sources`
    compass.sources.registry.for_file(Path("rows.jsonl"))   -> settings for a file, known or guessed

Adding a source is one entry in known_sources.py, or one in `collect.sources` of a parameter file; docs/sources.md explains both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from compass.settings import Source
from compass.sources.adapters import reach
from compass.sources.configured_fields import CHECK_FIELDS_AFTER, ConfiguredFields
from compass.sources.guess import SAMPLE, Guess, explain, guess
from compass.sources.known_sources import KNOWN_SOURCES, Known
from compass.sources.read import SourceError, data_files, file_rows

REGISTRY: dict[str, Known] = {known.source.name: known for known in KNOWN_SOURCES}
"""Every known source by its name."""


def find(name: str) -> Known:
    """The known source of that name.

    Raises:
        SourceError: there is none.
    """
    if name not in REGISTRY:
        raise SourceError(f"no source {name!r} in the registry; there are {', '.join(REGISTRY)}")
    return REGISTRY[name]


def for_file(path: Path) -> Source:
    """Settings that read a file or folder: those of the registry where its name is known, else guessed from its fields.

    Raises:
        SourceError: nothing is there, or its first rows have no field that could be the problem or the gold.
    """
    return described(path)[0]


def described(path: Path) -> tuple[Source, list[str]]:
    """As `for_file`, and the evidence for every field as lines to print."""
    stem = path.name.split(".")[0]
    files = data_files(path)
    said = []
    for known in REGISTRY.values():
        if stem in known.files:
            source = known.source.model_copy(update={"path": str(path)})
            if not (lacking := _lacking(files, source)):
                return source, [f"{path}: the known source {source.name}"]
            said.append(
                f"{path}: is named as the known source {source.name}, but no row has its field {lacking}: its fields are guessed"
            )
    guessed = guess(stem, path, [row for _, row in islice(file_rows(files[0]), SAMPLE)])
    if (field := guessed.source.id_field) and not _is_unique(files, field):
        guessed.evidence.pop("id_field")
        guessed = Guess(guessed.source.model_copy(update={"id_field": ""}), guessed.evidence)
    return guessed.source, [*said, *explain(guessed)]


def _lacking(files: Sequence[Path], source: Source) -> str:
    """The first field of a known source that none of a file's rows has, empty where there is none."""
    fields = ConfiguredFields(source)
    for _, row in islice((numbered for file in files for numbered in file_rows(file)), CHECK_FIELDS_AFTER - 1):
        fields.check(row, "")
        if not fields.unseen:
            return ""
    return next((repr(path) for path in fields.unseen.values()), "")


def _is_unique(files: Sequence[Path], field: str) -> bool:
    """Whether no two rows of the files share an id: rows with an id that is taken would be dropped."""
    seen: set[str] = set()
    for file in files:
        for _, row in file_rows(file):
            value = str(reach(row, field))
            if value in seen:
                return False
            seen.add(value)
    return True
