"""Arrays that grow piece by piece, in memory or, beyond a bound, in files that the system pages in and out."""

from __future__ import annotations

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
        self.pieces: dict[str, list[np.ndarray]] = {}
        self.files: dict[str, Any] = {}
        self.spilled = False

    def append(self, name: str, piece: np.ndarray) -> None:
        """Add a piece to the end of an array; all pieces of one name have one type."""
        self.held += piece.nbytes
        if not self.spilled and self.held > self.limit:
            self.spilled = True
            for held, pieces in self.pieces.items():
                for early in pieces:
                    self._write(held, early)
                pieces[:] = [np.empty(0, dtype=pieces[0].dtype)]
        if self.spilled:
            self.pieces.setdefault(name, [np.empty(0, dtype=piece.dtype)])
            self._write(name, piece)
        else:
            self.pieces.setdefault(name, []).append(piece)

    def read(self, name: str) -> np.ndarray:
        """The whole array."""
        pieces = self.pieces.pop(name)
        if name not in self.files:
            whole = np.empty(sum(piece.size for piece in pieces), dtype=pieces[0].dtype)
            end = whole.size
            while pieces:  # piece by piece from the end, each let go: never the array twice
                piece = pieces.pop()
                whole[end - piece.size : end] = piece
                end -= piece.size
            return whole
        self.files[name].close()
        path = self.folder / name
        return np.memmap(path, dtype=pieces[0].dtype, mode="r") if path.stat().st_size else pieces[0]

    def _write(self, name: str, piece: np.ndarray) -> None:
        if name not in self.files:
            self.files[name] = (self.folder / name).open("wb")
        piece.tofile(self.files[name])

    def close(self) -> None:
        """Close the files that were not read."""
        for file in self.files.values():
            file.close()


@contextmanager
def spill(limit: int) -> Iterator[Spill]:
    """A `Spill` whose files vanish with the block; they lie where the system keeps temporary files (`TMPDIR`)."""
    with tempfile.TemporaryDirectory(prefix="compass-dedup-") as folder:
        held = Spill(Path(folder), limit)
        try:
            yield held
        finally:
            held.close()
