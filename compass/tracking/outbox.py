"""Records that the tracking server does not have yet: `.compass/outbox/ID/record.json`.

A record is written when its stage begins, every few seconds while it runs, and when it ends; it is removed when the server has all of it. One whose
stage was killed, or whose server did not answer, waits for the next sender, with copies of the files that it names.

`.compass/finished/STAGE.json` names the last run that finished. DVC writes `dvc.lock` after a stage has ended: a run whose outputs never
came there was killed in between, although its record says otherwise.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from compass.files import write_json
from compass.processes import process_runs
from compass.runs.dvc_files import Graph, digest
from compass.runs.repository import repository_root
from compass.tracking.record import OUTPUTS, Record

OUTBOX = Path(".compass/outbox")
FINISHED = Path(".compass/finished")
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
    """Copy the files that a record names, as they are now: the stage may run again before they are sent.

    A copy has its name once it is whole: until then, or after a kill, what the stage wrote is sent.
    """
    for name in record.files:
        source, copy = Path(folder) / name, outbox(folder) / record.id / name
        part = copy.with_name(f".{copy.name}.part")
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.rmtree(part, ignore_errors=True)
            shutil.copytree(source, part)
        elif source.exists():
            shutil.copy2(source, part)
        if source.exists():
            part.replace(copy)


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


def keep_finished(record: Record, folder: str | Path = ".") -> None:
    """Keep which run of its stage finished last, and what it wrote. A stage that was started by hand has no `dvc` to wait for."""
    if record.parent:
        place = repository_root(folder) / FINISHED
        place.mkdir(parents=True, exist_ok=True)
        write_json(place / f"{record.stage}.json", {"id": record.id, "outputs": record.tags.get(OUTPUTS)})


def find_unkept(stage: str, folder: str | Path = ".") -> str:
    """The id of a stage's last finished run, if its `dvc` was killed before it wrote the outputs into `dvc.lock`; else empty.

    A lock file that is newer than the end of the run proves nothing: git may have brought another one.
    """
    note, lock = repository_root(folder) / FINISHED / f"{stage}.json", Path(folder) / "dvc.lock"
    try:
        ended, facts = note.stat().st_mtime_ns, json.loads(note.read_text(encoding="utf-8"))
        if lock.exists() and lock.stat().st_mtime_ns > ended:
            return ""
        return "" if digest(Graph(folder).locked_outs(stage)) == facts["outputs"] else facts["id"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
