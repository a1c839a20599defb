"""What ends the reading of a source."""

from __future__ import annotations

from compass.errors import UserError


class SourceError(UserError):
    """A source that cannot be read; the message names the file or hub id, the row, what was found and what to do."""
