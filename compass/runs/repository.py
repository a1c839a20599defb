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

    `dvc.lock` does not count: every run changes it, and it says nothing of the code.

    Args:
        folder: in the repository.
        without: further tracked paths whose changes do not count, relative to the folder.
    """
    paths = [":/", *(f":(exclude){path}" for path in ("dvc.lock", *without))]
    changed = ask_git(folder, "status", "--porcelain", "--untracked-files=no", "--", *paths)
    commit = ask_git(folder, "rev-parse", "HEAD")
    if changed is None or commit is None:
        return {}
    return {"commit": commit, "dirty": str(bool(changed)).lower()}


def ask_git(folder: str | Path, *words: str) -> str | None:
    """What git prints for a command, stripped; None where it refuses or is not installed."""
    try:
        asked = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return asked.stdout.strip() if asked.returncode == 0 else None
