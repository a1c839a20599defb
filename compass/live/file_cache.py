"""What was made of files, kept until one of them changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

Read = TypeVar("Read", bound=Callable[..., Any])

MOST = 200
"""Results of a function that are kept; the oldest are forgotten."""


def cached_by_files(read: Read) -> Read:
    """A function whose results are kept until one of the paths among its arguments changes; its errors are not kept.

    Safe to use from several threads.
    """
    kept: dict[tuple[Any, ...], tuple[Any, Any]] = {}
    lock = threading.Lock()

    @wraps(read)
    def look(*given: Any) -> Any:
        now = tuple(_read_signature(one) for one in given if isinstance(one, Path))
        with lock:
            if given not in kept or kept[given][0] != now:
                made = read(*given)
                kept.pop(given, None)
                kept[given] = now, made
                while len(kept) > MOST:
                    del kept[next(iter(kept))]
            return kept[given][1]

    return look  # type: ignore[return-value]


def _read_signature(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file does; None where there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_ino, facts.st_size, facts.st_mtime_ns
