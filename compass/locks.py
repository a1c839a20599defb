"""Locks on files, which the kernel frees when their holder has ended, however it ended.

    file = try_lock(Path("work/grade.lock"), "process 12")    # None where another process holds it

The lock belongs to the open file: it is held until that file is closed in this process and in all that were forked from
it. That is why `filelock.lock_descriptor` takes it, and not `filelock.FileLock`, which lets go of it in forked processes:
a stage is several forks (`compass.process_tree`), and its lock has to last until the last of them has ended.
"""

from __future__ import annotations

import os
from pathlib import Path

from filelock import lock_descriptor


def try_lock(path: Path, holder: str = "", *, make: bool = True) -> int | None:
    """Take the lock of a file; returns the open file, or None where another process holds the lock.

    Args:
        path: the file.
        holder: who this process is, for those that find the lock taken (`lock_holder`).
        make: create the file where it is absent.

    Raises:
        OSError: the file cannot be opened.
    """
    file = os.open(path, os.O_RDWR | (os.O_CREAT if make else 0), 0o644)
    if not lock_descriptor(file, blocking=False):
        os.close(file)
        return None
    if holder:
        _holder_file(path).write_text(holder, encoding="utf-8")
    return file


def unlock(path: Path, file: int) -> None:
    """Let go of a lock that no other process has inherited."""
    _holder_file(path).unlink(missing_ok=True)
    os.close(file)


def lock_holder(path: Path) -> str:
    """Who took the lock of a file last; empty where nobody did, or is just being written."""
    try:
        return _holder_file(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def _holder_file(path: Path) -> Path:
    return path.with_suffix(".holder")
