"""What MLflow is to hold of one stage's run, and does not hold yet: a folder `.compass/outbox/ID` per run.

    record.json   `Record`: tags, parameters, metrics
    stage/        the artifacts of the stage's run
    pipeline/     the artifacts of the pipeline's run

It is written when the stage begins, every few seconds while it runs, and when it ends; it is removed when the server has all of it. One whose
stage was killed, or whose server did not answer, waits for the next sender.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from compass.files import write_json
from compass.processes import process_runs
from compass.runs.repository import repository_root

OUTBOX = Path(".compass/outbox")
FILE = "record.json"

Point = list[Any]
"""A metric: name, value, time in milliseconds, step."""


@dataclass
class ParentShare:
    """What a stage's record says of the run of its pipeline, whose artifacts are in the folder `pipeline`."""

    key: str
    """What the stages of the pipeline's run have in common."""
    name: str
    params: dict[str, str]
    tags: dict[str, str]
    points: list[Point] = field(default_factory=list)
    cached: dict[str, str] = field(default_factory=dict)
    """Stages that DVC skipped, to the digest of their outputs."""
    before: dict[str, str] = field(default_factory=dict)
    """The profile's value of each setting that differs from it."""
    continues: bool = False
    """Whether other stages of the run follow this one, if it ends well."""
    description: str = ""
    """Markdown; `{experiment}` and `{run}` stand for the ids of the experiment and of the stage's run."""


@dataclass
class Record:
    """One stage's run, as far as it is known, whose artifacts are in the folder `stage`. Times are in milliseconds since 1970."""

    id: str
    stage: str
    experiment: str
    process: str
    began: int
    status: str = "RUNNING"
    """As MLflow names it: `RUNNING`, `FINISHED`, `FAILED`, `KILLED`."""
    ended: int | None = None
    replaces: str = ""
    """The record of the run before this one, where that was killed after its end and before DVC had its outputs."""
    server: str = ""
    """The tracking server that it is for, without credentials; `local` for the repository's own database."""
    tags: dict[str, str] = field(default_factory=dict)
    params: dict[str, str] = field(default_factory=dict)
    datasets: list[dict[str, Any]] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    """Metrics that the server does not have yet; those of the parent are likewise."""
    model: dict[str, Any] | None = None
    """The model that the stage made: `name`, `path`, `md5`, `params`."""
    scores: dict[str, Any] | None = None
    """What models scored; see `compass.tracking.mlflow_models`."""
    parent: ParentShare | None = None
    """None for a stage that was started by hand."""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Record:
        """The record that `dataclasses.asdict` wrote."""
        parent = values.get("parent")
        return cls(**{**values, "parent": ParentShare(**parent) if parent else None})


def outbox(folder: str | Path = ".") -> Path:
    """The folder of the records."""
    return repository_root(folder) / OUTBOX


def write_record(record: Record, folder: str | Path = ".") -> None:
    """Write a record, whole or not at all.

    Raises:
        OSError: the disk is full, or the folder cannot be written.
    """
    write_json(outbox(folder) / record.id / FILE, asdict(record))


def artifact_folder(record: Record, kind: str, folder: str | Path = ".") -> Path:
    """The folder of the artifacts of the stage's run, or with the kind `pipeline` of its pipeline's."""
    return outbox(folder) / record.id / kind


def list_artifacts(record: Record, kind: str, folder: str | Path = ".") -> list[Path]:
    """Artifacts, each a file or a folder, that are whole."""
    return sorted(artifact_folder(record, kind, folder).glob("[!.]*"))


def copy_artifact(record: Record, source: Path, folder: str | Path = ".") -> None:
    """Copy a file or folder as it is now: the stage may run again before it is sent. The copy has its name once it is whole."""
    copy = artifact_folder(record, "stage", folder) / source.name
    part = copy.with_name(f".{copy.name}.part")
    copy.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, part)
    else:
        shutil.copy2(source, part)
    part.replace(copy)


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


def count_unreadable(folder: str | Path = ".") -> int:
    """Folders of the outbox whose record is not whole, or is of a version that wrote it otherwise."""
    return sum(read_record(place) is None for place in outbox(folder).glob("*/"))


def list_waiting(folder: str | Path = ".") -> list[tuple[Path, Record]]:
    """The records of stages that have ended, oldest first."""
    found = [(place, read_record(place)) for place in sorted(outbox(folder).glob("*/"))]
    return [(place, record) for place, record in found if record and record.status != "RUNNING"]
