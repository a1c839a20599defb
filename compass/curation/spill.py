"""Arrays that grow piece by piece, in memory or, beyond a bound, in files that the system pages in and out."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


class Spill:
    """Named one-dimensional arrays: `append` pieces, then `read` the whole once.

    Pieces stay in memory until all of them together reach `limit` bytes; from then on everything is in files.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder, self.limit = folder, limit
        self.held = 0
        self.types: dict[str, np.dtype] = {}
        self.blocks: dict[str, _Block] = {}
        self.files: dict[str, Any] = {}
        self.spilled = False

    def append(self, name: str, piece: np.ndarray) -> None:
        """Add a piece to the end of an array; all pieces of one name have one type."""
        self.held += piece.nbytes
        self.types[name] = piece.dtype
        if not self.spilled and self.held > self.limit:
            self.spilled = True
            for held in list(self.blocks):
                self._write(held, self.blocks.pop(held).array(np.dtype(np.uint8)))
        if self.spilled:
            self._write(name, piece)
        else:
            self.blocks.setdefault(name, _Block()).append(piece)

    def read(self, name: str) -> np.ndarray:
        """The whole array."""
        kind = self.types.pop(name)
        if name in self.blocks:
            return self.blocks.pop(name).array(kind)
        self.files[name].close()
        path = self.folder / name
        return np.memmap(path, dtype=kind, mode="r") if path.stat().st_size else np.empty(0, dtype=kind)

    def _write(self, name: str, piece: np.ndarray) -> None:
        if name not in self.files:
            self.files[name] = (self.folder / name).open("wb")
        piece.tofile(self.files[name])

    def close(self) -> None:
        """Close the files that were not read."""
        for file in self.files.values():
            file.close()


class _Block:
    """Bytes that grow in place: the system moves their pages, so that an array is never there twice, and takes them back
    at once when the array is let go. A list of arrays, joined in the end, leaves holes that the process keeps.
    """

    FIRST = 1 << 20

    def __init__(self) -> None:
        self.map = mmap.mmap(-1, self.FIRST, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.used = 0

    def append(self, piece: np.ndarray) -> None:
        end = self.used + piece.nbytes
        if end > len(self.map):
            self.map.resize(max(2 * len(self.map), end))  # pages that are not written take no memory
        self.map[self.used : end] = piece.tobytes()
        self.used = end

    def array(self, kind: np.dtype) -> np.ndarray:
        return np.frombuffer(self.map, dtype=kind, count=self.used // kind.itemsize)


@contextmanager
def spill(limit: int) -> Iterator[Spill]:
    """A `Spill` whose files vanish with the block; they lie where the system keeps temporary files (`TMPDIR`)."""
    with tempfile.TemporaryDirectory(prefix="compass-dedup-") as folder:
        held = Spill(Path(folder), limit)
        try:
            yield held
        finally:
            held.close()
