"""Settings for a source by its name or for a file: those of the known sources, else guessed from the file's fields.

    compass.sources.registry.find("numina-1.5").source      -> settings for `collect.sources`
    compass.sources.registry.for_file(Path("rows.jsonl"))   -> settings for a file, known or guessed

Adding a source is one entry in known_sources.py, or one in `collect.sources` of a parameter file; docs/sources.md explains both.
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from compass.settings import Source
from compass.sources.guess import guess
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
    stem = path.name.split(".")[0]
    for known in REGISTRY.values():
        if stem in known.files:
            return known.source.model_copy(update={"path": str(path)})
    rows = [row for _, row in islice(file_rows(data_files(path)[0]), 50)]
    return guess(stem, path, rows)
