"""The repository that a stage runs in: its root folder and its git commit."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path


def repository_root(folder: str | Path = ".") -> Path:
    """The folder whose tracking database is used: `folder`, or the repository that a DVC experiment's copy belongs to."""
    folder = Path(folder).resolve()
    for parent in (folder, *folder.parents):
        if parent.parts[-3:] == (".dvc", "tmp", "exps"):  # where `dvc exp run --temp` and the queue put their copies
            return parent.parents[2]
    return folder


def git_state(folder: str | Path = ".", *, without: Sequence[str] = ()) -> dict[str, str]:
    """`{"commit": hash, "dirty": "true"|"false"}`, empty outside a git repository or without git.

    Args:
        folder: in the repository.
        without: tracked paths whose changes do not count, relative to the folder.
    """

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, text=True).stdout.strip()

    try:
        paths = ["--", ".", *(f":(exclude){path}" for path in without)] if without else []
        dirty = bool(git("status", "--porcelain", "--untracked-files=no", *paths))
        return {"commit": git("rev-parse", "HEAD"), "dirty": str(dirty).lower()}
    except (FileNotFoundError, subprocess.CalledProcessError):
        return {}
