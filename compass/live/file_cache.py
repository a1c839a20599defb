"""What was made of files, kept until one of them changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST = 200
"""Results that are kept; the oldest are forgotten."""


class FileCache:
    """Reads files again only after a change of one. Safe to use from several threads."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        self._lock = threading.Lock()

    def read(self, make: Callable[[], Any], *paths: Path, extra: tuple[Any, ...] = ()) -> Any:
        """What `make` returns, called again only after a change of `paths`; its errors are not kept.

        Args:
            make: reads the files; a function of another name, or of another place in the code, has results of its own.
            paths: the files.
            extra: whatever else the result depends on.
        """
        key, now = (make.__qualname__, paths, extra), tuple(map(_read_signature, paths))
        with self._lock:
            kept = self._made.get(key)
            if kept is None or kept[0] != now:
                made = make()
                self._made.pop(key, None)
                kept = self._made[key] = now, made
                while len(self._made) > MOST:
                    del self._made[next(iter(self._made))]
            return kept[1]


def _read_signature(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file does; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns
