"""Records that the tracking server does not have yet: `.compass/outbox/ID/record.json`.

A record is written when its stage begins, every few seconds while it runs, and when it ends; it is removed when the server has all of it. One whose
stage was killed, or whose server did not answer, waits for the next sender, with copies of the files that it names.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from compass.files import write_json
from compass.processes import process_runs
from compass.runs.repository import repository_root
from compass.tracking.record import Record

OUTBOX = Path(".compass/outbox")
FILE = "record.json"


def outbox(folder: str | Path = ".") -> Path:
    """The folder of the records."""
    return repository_root(folder) / OUTBOX


def write_record(record: Record, folder: str | Path = ".") -> None:
    """Write a record, whole or not at all.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    write_json(outbox(folder) / record.id / FILE, asdict(record))


def keep_files(record: Record, folder: str | Path = ".") -> None:
    """Copy the files that a record names, as they are now: the stage may run again before they are sent."""
    for name in record.files:
        source, copy = Path(folder) / name, outbox(folder) / record.id / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, dirs_exist_ok=True)
        elif source.exists():
            shutil.copy2(source, copy)


def find_files(record: Record, folder: str | Path = ".") -> Iterator[Path]:
    """The files and folders that a record names: the copies, or where there are none those that the stage wrote."""
    for name in record.files:
        copy = outbox(folder) / record.id / name
        path = copy if copy.exists() else Path(folder) / name
        if path.exists():
            yield path


def read_record(place: Path) -> Record | None:
    """The record in a folder of the outbox; None where it is not whole. A stage whose process is gone was killed."""
    path = place / FILE
    try:
        record = Record.from_dict(json.loads(path.read_text(encoding="utf-8")))
        if record.status == "RUNNING" and not process_runs(record.process):
            record.status, record.ended = "KILLED", int(path.stat().st_mtime * 1000)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return record


def list_waiting(folder: str | Path = ".") -> list[tuple[Path, Record]]:
    """The records of stages that have ended, oldest first."""
    found = [(place, read_record(place)) for place in sorted(outbox(folder).glob("*/"))]
    return [(place, record) for place, record in found if record and record.status != "RUNNING"]
