"""Arrays that grow piece by piece in files, so that the memory of a search does not grow with what it looks at."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


class Spill:
    """Named one-dimensional arrays: `append` pieces, then `read` or `chunks`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.types: dict[str, np.dtype] = {}
        self.files: dict[str, Any] = {}

    def append(self, name: str, piece: np.ndarray) -> None:
        """Add a piece to the end of an array; all pieces of one name have one type."""
        if name not in self.files:
            self.files[name] = (self.folder / name).open("wb")
            self.types[name] = piece.dtype
        self.files[name].write(np.ascontiguousarray(piece).data)

    def read(self, name: str) -> np.ndarray:
        """The whole array."""
        self.files[name].flush()
        return np.fromfile(self.folder / name, dtype=self.types[name])

    def chunks(self, name: str, values: int) -> Iterator[np.ndarray]:
        """The array, so many values at a time; fewer in the last chunk."""
        self.files[name].flush()
        with (self.folder / name).open("rb") as file:
            while (chunk := np.fromfile(file, dtype=self.types[name], count=values)).size:
                yield chunk

    def close(self) -> None:
        """Close all files."""
        for file in self.files.values():
            file.close()


@contextmanager
def spill() -> Iterator[Spill]:
    """A `Spill` whose files vanish with the block; they lie where the system keeps temporary files (`TMPDIR`)."""
    with tempfile.TemporaryDirectory(prefix="compass-dedup-") as folder:
        held = Spill(Path(folder))
        try:
            yield held
        finally:
            held.close()
