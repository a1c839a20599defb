"""Records on their way to the tracking server: `.compass/outbox/ID/record.json`, with copies of the files that they name.

A record is written whole when its stage begins, whenever something is added, and when the stage ends. It is removed when the
server has all of it. One whose stage was killed, or whose server never answered, waits for the next sender.

`.compass/finished/STAGE.json` names the last run that finished. DVC writes `dvc.lock` after a stage has ended: a run whose outputs never
came there was killed in between, although its record says otherwise.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from compass.files import write_json
from compass.locks import open_lock, try_lock
from compass.processes import process_runs
from compass.runs.dvc_files import Graph, digest
from compass.runs.repository import repository_root
from compass.tracking.record import OUTPUTS, Record

OUTBOX = Path(".compass/outbox")
FINISHED = Path(".compass/finished")
FILE = "record.json"
FILES = "files"


def outbox(folder: str | Path = ".") -> Path:
    """The folder of the records."""
    return repository_root(folder) / OUTBOX


def write_record(record: Record, folder: str | Path = ".") -> None:
    """Write a record, whole or not at all.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    place = outbox(folder) / record.id
    place.mkdir(parents=True, exist_ok=True)
    write_json(place / FILE, asdict(record))


def copy_file(record: Record, path: Path, *, to: str = "", on: str = "run", folder: str | Path = ".") -> None:
    """Keep a file or folder with its record, as it is now.

    Args:
        record: names the copy afterwards.
        path: what to copy.
        to: the folder in MLflow.
        on: `run` or `parent`.
        folder: the repository.
    """
    name = f"{FILES}/{uuid.uuid4().hex[:8]}/{path.name}"
    target = outbox(folder) / record.id / name
    target.parent.mkdir(parents=True)
    if path.is_dir():
        shutil.copytree(path, target)
    else:
        shutil.copy2(path, target)
    record.files.append((name, to, on))


def write_document(record: Record, name: str, values: Any, *, on: str = "run", folder: str | Path = ".") -> None:
    """Keep values as a JSON file with a record; `on` as for `copy_file`."""
    path = f"{FILES}/{uuid.uuid4().hex[:8]}/{name}"
    target = outbox(folder) / record.id / path
    target.parent.mkdir(parents=True)
    target.write_text(json.dumps(values, indent=2, ensure_ascii=False, default=str), encoding="utf-8")
    record.files.append((path, "", on))


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


def remove_record(place: Path) -> None:
    """Remove a record: the server has all of it."""
    shutil.rmtree(place, ignore_errors=True)


@contextmanager
def lock_outbox(folder: str | Path = ".") -> Iterator[bool]:
    """Whether this process alone sends what waits; another one that does so already will have sent it."""
    box = outbox(folder)
    box.mkdir(parents=True, exist_ok=True)
    with open(open_lock(box / "lock"), "a") as file:
        yield try_lock(file.fileno())
