"""Whether the fields that a source's settings name are in its rows."""

from __future__ import annotations

from compass.settings import Source
from compass.sources.adapters import MISSING, reach
from compass.sources.read import Row, SourceError

CHECK_FIELDS_AFTER = 1000
"""Rows without any sign of a configured field after which its name is called wrong."""


class ConfiguredFields:
    """Tells a wrong field name, which no row has, from a field that some rows lack."""

    def __init__(self, source: Source) -> None:
        self.source = source
        names = [name for name in Source.model_fields if name.endswith("_field")]
        # Of several fields with commas between them, each needs to be there.
        self.unseen = {
            (name, path.strip()): path.strip()
            for name in names
            for path in getattr(source, name).split(",")
            if path.strip()
        }
        self.rows = 0
        self.fields: dict[str, None] = {}
        self.place = ""

    def check(self, row: Row, place: str) -> None:
        if not self.unseen:
            return
        self.rows += 1
        self.place = place
        self.fields |= dict.fromkeys(row)
        self.unseen = {name: path for name, path in self.unseen.items() if reach(row, path) is MISSING}
        if self.rows == CHECK_FIELDS_AFTER:
            self.finish()

    def finish(self) -> None:
        for (name, _), path in self.unseen.items():
            raise SourceError(
                f"source {self.source.name!r}: none of the first {self.rows} rows (to {self.place}) has the field {path!r} "
                f"that `{name}` names; found: {', '.join(self.fields) or 'no fields'}"
            )
        self.unseen = {}
