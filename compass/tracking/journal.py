"""The record of one stage's run as it waits for the tracking server: `.compass/outbox/<time>-<stage>-<id>/`.

Whatever a stage records is a line of `records.jsonl` before anything else happens to it, and files that it records are
copied beside it. `compass.tracking.sender` sends the lines in order and notes in `sent.json` how far it came. A journal that
is sent to its end is removed; one whose stage was killed, or whose server never came back, waits for the next sender.

Who holds the lock of a journal may write and send it: the stage itself as long as it runs, then whoever finds it.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from compass.files import write_json
from compass.runs.repository import repository_root
from compass.tracking.local_store import OUTBOX

RECORDS = "records.jsonl"
SENT = "sent.json"
FILES = "files"
END = "end"
"""The kind of a journal's last record."""


@dataclass
class Sent:
    """How far a journal was sent, in bytes, and the ids that the server gave."""

    position: int = 0
    experiment: str | None = None
    run: str | None = None
    parent: str | None = None
    models: dict[str, str] = field(default_factory=dict)
    """DVC's hash of a model to its id in MLflow."""


class Journal:
    """One journal, locked by this process; `write` may be called by several threads."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self.sent = Sent(**json.loads(_read(folder / SENT) or "{}"))
        self._lock: int | None = lock
        self._writing = threading.Lock()

    @property
    def id(self) -> str:
        """Its name: the run has it as a tag, so that it is never made twice."""
        return self.folder.name

    @property
    def root(self) -> Path:
        """The repository that it belongs to."""
        return self.folder.parents[2]

    def write(self, kind: str, **values: Any) -> None:
        """Add a record, whole or not at all.

        Raises:
            OSError: the disk is full, or the folder is gone.
        """
        record = {"do": kind, "time": int(time.time() * 1000), **values}
        line = f"{json.dumps(record, ensure_ascii=False)}\n".encode("utf-8", "replace")
        with self._writing, (self.folder / RECORDS).open("ab", buffering=0) as file:
            before = file.tell()
            try:
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            except OSError:
                file.truncate(before)  # half a line would run into the next one
                raise

    def copy(self, path: Path) -> str:
        """Keep a file or folder as it is now; its name below the journal, for a record."""
        name = f"{FILES}/{uuid.uuid4().hex[:8]}/{path.name}"
        target = self.folder / name
        target.parent.mkdir(parents=True)
        if path.is_dir():
            shutil.copytree(path, target)
        else:
            shutil.copy2(path, target)
        return name

    def unsent(self) -> list[tuple[dict[str, Any], int]]:
        """Every record that was not sent, with the position that is reached when it is; not a line that a kill cut off.

        A line that a power cut damaged is left out: it must not hold up those behind it.
        """
        path, position = self.folder / RECORDS, self.sent.position
        if not path.exists():
            return []
        with path.open("rb") as file:
            file.seek(position)
            lines = file.read().split(b"\n")[:-1]
        found = []
        for line in lines:
            position += len(line) + 1
            if record := _record(line):
                found.append((record, position))
        return found

    def last(self) -> dict[str, Any] | None:
        """The last whole record."""
        lines = _read(self.folder / RECORDS).split("\n")[:-1]
        return next(filter(None, map(_record, reversed(lines))), None)

    def save(self) -> None:
        """Write how far it was sent."""
        write_json(self.folder / SENT, asdict(self.sent))

    def close(self) -> None:
        """Give up the lock; the journal stays."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def remove(self) -> None:
        """Remove it: everything was sent."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.close()


def outbox(folder: str | Path = ".") -> Path:
    """The folder of the journals that wait."""
    return repository_root(folder) / OUTBOX


def new_journal(stage: str, folder: str | Path = ".") -> Journal:
    """Begin the journal of a stage that starts now."""
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{stage}-{uuid.uuid4().hex[:8]}"
    hidden = outbox(folder) / f".{name}"  # until it is locked: another process would take it for abandoned
    hidden.mkdir(parents=True)
    lock = _take(hidden)
    assert lock is not None
    return Journal(hidden.rename(hidden.with_name(name)), lock)


def waiting(folder: str | Path = ".") -> Iterator[Journal]:
    """The journals of stages that run no more, oldest first, each locked; close or remove it before the next is asked for.

    Where the stage was killed, its end is recorded first.
    """
    for place in waiting_folders(folder):
        lock = _take(place)
        if lock is None:
            continue  # its stage runs, or another process is sending it
        journal = Journal(place, lock)
        last = journal.last()
        if last is None:
            journal.remove()  # killed before it had recorded anything
            continue
        if last["do"] != END:
            _drop_torn_line(place / RECORDS)
            journal.write(END, status="KILLED", ended=last["time"])
        yield journal


def waiting_folders(folder: str | Path = ".") -> list[Path]:
    """Every journal's folder, oldest first, those of running stages included."""
    box = outbox(folder)
    return sorted(path for path in box.glob("[!.]*") if path.is_dir())


def begun(place: Path) -> Mapping[str, Any]:
    """The first record of a journal: what it is of; empty where there is none."""
    first = _read(place / RECORDS).partition("\n")
    return (_record(first[0]) or {}) if first[1] else {}


def _record(line: str | bytes) -> dict[str, Any] | None:
    """The record of a line; None where it is damaged."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "do" in found else None


def _drop_torn_line(path: Path) -> None:
    with path.open("rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def _take(place: Path) -> int | None:
    """The lock of a journal, None where another process has it or the journal is gone."""
    try:
        lock = os.open(place / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    if not (place / "lock").exists():  # removed between opening and locking
        os.close(lock)
        return None
    return lock


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
