"""Files that grow or change while they are looked at: each part is read once, and half-written ends wait."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST = 200
"""Files that are remembered; the oldest are forgotten."""

Signature = tuple[int, int, int]


def read_signature(path: Path) -> Signature | None:
    """What changes when a file does; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


class Remembered:
    """What was made of files, until one of them changes. Safe to use from several threads."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], tuple[Any, Any]] = {}
        self._lock = threading.Lock()

    def get(self, name: str, paths: tuple[Path, ...], make: Callable[[], Any], *extra: Any) -> Any:
        """What `make` returns, called again only after a change of `paths`.

        Args:
            name: which function made it.
            paths: the files it was made from.
            make: reads them; its errors are not remembered.
            extra: whatever else it depends on.
        """
        key = (name, paths, extra)
        now = tuple(read_signature(path) for path in paths)
        with self._lock:
            kept = self._made.get(key)
        if kept and kept[0] == now:
            return kept[1]
        made = make()
        with self._lock:
            self._made.pop(key, None)
            self._made[key] = now, made
            while len(self._made) > MOST:
                del self._made[next(iter(self._made))]
        return made


class Tail:
    """JSON lines of a file that grows, each given to `take` once; a file that was replaced is read anew.

    Args:
        path: the file; need not exist yet.
        begin: makes what is gathered, empty.
        take: adds a line to it. A line that `take` or JSON refuses is left out.
    """

    def __init__(self, path: Path, begin: Callable[[], Any], take: Callable[[Any, Any], None]) -> None:
        self.path, self._begin, self._take = path, begin, take
        self._lock = threading.Lock()
        self._file, self._position = 0, 0
        self.gathered = begin()

    def read(self) -> Any:
        """What was gathered of all whole lines so far."""
        with self._lock:
            now = read_signature(self.path)
            if now is None or now[0] != self._file or now[1] < self._position:
                self._file, self._position = now[0] if now else 0, 0
                self.gathered = self._begin()
            if now is None or now[1] == self._position:
                return self.gathered
            with self.path.open("rb") as file:
                file.seek(self._position)
                unread = file.read()
            whole = unread[: unread.rfind(b"\n") + 1]
            self._position += len(whole)
            for line in whole.splitlines():
                try:
                    self._take(self.gathered, json.loads(line))
                except (ValueError, TypeError, KeyError, AttributeError):
                    continue
            return self.gathered
