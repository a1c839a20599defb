"""Files that are written whole or not at all, and digests of files."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class atomic_path:
    """A temporary path beside `path` that takes its place when the block ends without an error, and vanishes otherwise."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def __enter__(self) -> Path:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.", suffix=".part")
        os.close(handle)
        self.temporary = Path(name)
        return self.temporary

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.temporary.unlink(missing_ok=True)
            return
        with open(self.temporary, "rb") as written:
            os.fsync(written.fileno())
        self.temporary.chmod(0o644)
        self.temporary.replace(self.path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text whole or not at all; its folder is made where it is missing."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, value: Any) -> None:
    """Write JSON whole or not at all."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def file_digest(path: Path) -> str:
    """SHA-256 of a file, read piece by piece."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_digest(folder: Path, patterns: Iterable[str] = ("*.safetensors",)) -> str:
    """SHA-256 over names and contents of the files in `folder` that match, in order of name."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in patterns for path in folder.glob(pattern)}):
        digest.update(f"{path.name}\0{file_digest(path)}\n".encode())
    return digest.hexdigest()
