"""Make MLflow's runs what a record says. Every call may be repeated with the same record, and changes nothing then:
an answer of the server can be lost after it has done what was asked."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.locks import open_lock, try_lock
from compass.processes import pipeline_has_ended
from compass.runs.repository import repository_root
from compass.runs.run_name import read_last_run
from compass.runs.values import flatten
from compass.tracking.mlflow_client import (
    DATABASE,
    LONGEST_VALUE,
    can_write_artifacts,
    connect,
    experiment_id,
    failures,
    is_refusal,
    local_uri,
    search_runs,
    server_name,
    tracking_uri,
)
from compass.tracking.mlflow_models import record_model, record_scores
from compass.tracking.outbox import ParentShare, Point, Record, artifact_folder, list_artifacts, list_waiting, outbox
from compass.tracking.record import (
    CACHED,
    KIND,
    OUTPUTS,
    PIPELINE,
    RECORD,
    STAGE,
    experiment_name,
)

ENDS = {"finished": "FINISHED", "failed": "FAILED", "stopped": "KILLED"}
"""How a pipeline's run ended, to MLflow's name for it."""

OF_THE_RUN = ("training", "evaluation")
"""Uses of a table that the pipeline's run shows as its own."""

DESCRIPTION = "mlflow.note.content"
"""What MLflow shows as a run's description."""


@dataclass
class Sent:
    """Where a record is in MLflow: the ids of the experiment, the stage's run and the pipeline's; empty until they are known."""

    experiment: str = ""
    run: str = ""
    parent: str = ""


def send_record(client: Any, record: Record, folder: str | Path = ".", sent: Sent | None = None) -> None:
    """Bring the stage's run, and its share of the pipeline's run, up to date; metrics that the server has leave the record.

    Args:
        client: MLflow's.
        record: what is known by now.
        folder: the repository.
        sent: filled by an earlier call in this process.

    Raises:
        One of `failures()`: the server does not answer. What it refuses is left out, with a message.
    """
    sent = sent or Sent()
    if not sent.run:
        _begin(client, record, folder, sent)
    _send_points(client, sent.run, record.points, record.stage)
    if record.parent:
        _send_points(client, sent.parent, record.parent.points, record.stage)
    if record.status != "RUNNING":
        _end(client, record, folder, sent)


def send_waiting(folder: str | Path = ".", client: Any = None, *, but: str = "") -> tuple[int, int]:
    """Send the records of stages that run no more, oldest first.

    Args:
        folder: the repository.
        client: MLflow's; None connects where a record waits.
        but: the id of a record that its own stage sends.

    Returns:
        How many were sent, and how many stay because they are of another server.

    Raises:
        One of `failures()`: the server does not answer; what it has by then is removed from the outbox.
    """
    done = stay = 0
    file = open_lock(outbox(folder) / "lock")
    try:
        for place, record in list_waiting(folder) if try_lock(file) else ():
            if record.id == but:
                continue
            if record.server != server_name(folder):
                stay += 1
                continue
            client = client or connect(folder)
            send_record(client, record, folder)
            shutil.rmtree(place, ignore_errors=True)
            done += 1
    finally:
        os.close(file)
    return done, stay


def _send_points(client: Any, run: str, points: list[Point], stage: str) -> None:
    from mlflow.entities import Metric

    fresh = list(points)
    with _refusals_shown(f"metrics of {stage}"):
        client.log_batch(run, metrics=[Metric(name, value, at, step) for name, value, at, step in fresh])
    del points[: len(fresh)]  # the stage may have added others meanwhile


def _log_params(client: Any, run: str, values: Mapping[str, str]) -> None:
    """Record parameters: flat names and texts, which are cut."""
    from mlflow.entities import Param

    client.log_batch(run, params=[Param(name, value[:LONGEST_VALUE]) for name, value in values.items()])


def _log_tags(client: Any, run: str, values: Mapping[str, str]) -> None:
    from mlflow.entities import RunTag

    client.log_batch(run, tags=[RunTag(name, value) for name, value in values.items()])


def _log_datasets(client: Any, run_id: str, datasets: Sequence[Mapping[str, Any]]) -> None:
    """Record the tables that a run reads; MLflow's digest of each is DVC's hash of the file.

    Args:
        client: MLflow's.
        run_id: the run.
        datasets: `name`, `path`, `md5`, `dvc` (the hash that dvc.lock has), `rows`, `columns` and `context` of each.
    """
    from mlflow.entities import Dataset, DatasetInput, InputTag

    inputs = [
        DatasetInput(
            Dataset(
                name=dataset["name"],
                digest=dataset["md5"],
                source_type="local",
                source=json.dumps({"uri": dataset["path"]}),
                schema=json.dumps(
                    {"mlflow_colspec": [{"name": name, "type": kind} for name, kind in dataset["columns"].items()]}
                ),
                profile=json.dumps({"num_rows": dataset["rows"]}),
            ),
            tags=[
                InputTag("mlflow.data.context", dataset["context"]),
                InputTag("dvc.path", dataset["path"]),
                InputTag("dvc.md5", dataset["dvc"]),
            ],
        )
        for dataset in datasets
    ]
    if inputs:
        client.log_inputs(run_id, datasets=inputs)


def _begin(client: Any, record: Record, folder: str | Path, sent: Sent) -> None:
    """Open the stage's run under its pipeline's."""
    sent.experiment = experiment_id(client, record.experiment, folder)
    tags = {**record.tags, RECORD: record.id}
    if record.parent:
        sent.parent = _begin_parent(client, record, record.parent, sent.experiment, folder)
        tags["mlflow.parentRunId"] = sent.parent
    run = _create_once(client, sent.experiment, record, record.stage, tags, {RECORD: record.id})
    with _refusals_shown(f"parameters of {record.stage}"):
        _log_params(client, run, record.params)
    with _refusals_shown(f"datasets of {record.stage}"):
        _log_datasets(client, run, record.datasets)
        if sent.parent:
            _log_datasets(client, sent.parent, [table for table in record.datasets if table["context"] in OF_THE_RUN])
    if record.replaces:
        _mark_killed(client, sent, record.replaces)
    sent.run = run
    _describe_parent(client, record, sent)


def _mark_killed(client: Any, sent: Sent, replaced: str) -> None:
    """Correct a run that said FINISHED and was killed before DVC had its outputs, and its pipeline's."""
    for run in search_runs(client, sent.experiment, {RECORD: replaced}):
        parent = run.data.tags.get("mlflow.parentRunId", sent.parent)
        for one in [run] if parent == sent.parent else [run, client.get_run(parent)]:
            client.set_tag(one.info.run_id, "compass.error", "killed before DVC kept the outputs; the stage ran again")
            client.set_terminated(one.info.run_id, "KILLED", one.info.end_time)


def _read_settings(path: Path) -> dict[str, Any]:
    """Every setting of a run; empty where a kill removed half of the record: it must not hold up the others."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def _begin_parent(client: Any, record: Record, share: ParentShare, experiment: str, folder: str | Path) -> str:
    """The pipeline's run, with the runs that made the results of stages which DVC skipped; it runs from now on."""
    own = {PIPELINE: share.key, KIND: "pipeline"}
    run = _create_once(client, experiment, record, share.name, {**share.tags, **own}, own)
    if not client.get_run(run).data.params:  # the run is new
        others = [one for one in search_runs(client, experiment, {KIND: "pipeline"}) if one.info.run_id != run]
        _end_runs(client, others, folder)
        # MLflow compares runs by their parameters: each has the value of every setting that differed in any of them.
        for one in others:
            if one.data.params.get("profile") == share.params["profile"]:
                missing = {name: value for name, value in share.before.items() if name not in one.data.params}
                _log_params(client, one.info.run_id, missing)
        ever = {name for one in others for name in one.data.params}
        settings = flatten(_read_settings(artifact_folder(record, "pipeline", folder) / "settings.json")).items()
        _log_params(client, run, {name: value for name, value in settings if name in ever} | share.params)
    cached = {}
    for stage, digest in share.cached.items():
        if made := search_runs(client, experiment, {STAGE: stage, OUTPUTS: digest}, most=1):
            cached[f"{CACHED}.{stage}"] = made[0].info.run_id
    _log_tags(client, run, cached)
    if record.status == "RUNNING":
        client.update_run(run, status="RUNNING")
    return run


def _describe_parent(client: Any, record: Record, sent: Sent) -> None:
    if record.parent:
        text = record.parent.description.replace("{experiment}", sent.experiment).replace("{run}", sent.run)
        client.set_tag(sent.parent, DESCRIPTION, text)


def _end(client: Any, record: Record, folder: str | Path, sent: Sent) -> None:
    """End the stage's run, and its pipeline's where no other stage follows: its status is that of its last stage."""
    _log_tags(client, sent.run, record.tags)
    if can_write_artifacts(client, sent.experiment, folder):
        for kind, run in (("stage", sent.run), ("pipeline", sent.parent)):
            for path in list_artifacts(record, kind, folder):
                # another sender may have it by now, and have removed the record
                with _refusals_shown(path.name), contextlib.suppress(FileNotFoundError):
                    send = client.log_artifacts if path.is_dir() else client.log_artifact
                    send(run, str(path), path.name if path.is_dir() else None)
    if record.model:
        with _refusals_shown(f"model of {record.stage}"):
            record_model(client, sent.experiment, sent.run, record.model)
    if record.scores:
        with _refusals_shown("scores of models"):
            record_scores(client, sent.experiment, sent.run, record.scores)
    client.set_terminated(sent.run, record.status, record.ended)
    if record.parent:
        _describe_parent(client, record, sent)
        if record.status != "FINISHED" or not record.parent.continues:
            client.set_terminated(sent.parent, record.status, record.ended)


def end_pipelines(folder: str | Path = ".") -> None:
    """End the runs of pipelines whose last stage did not: it came from the cache, or did not begin.

    Raises:
        One of `failures()`: the server does not answer.
    """
    if tracking_uri(folder) == local_uri(folder) and not (repository_root(folder) / DATABASE).exists():
        return
    client = connect(folder)
    if experiment := client.get_experiment_by_name(experiment_name()):
        _end_runs(client, search_runs(client, experiment.experiment_id, {KIND: "pipeline"}), folder)


def _end_runs(client: Any, runs: Sequence[Any], folder: str | Path) -> None:
    """End those pipelines' runs that have ended and are still open: as the last run wrote of itself, others as killed between two stages."""
    last = read_last_run(repository_root(folder))
    for run in runs:
        key = run.data.tags.get(PIPELINE, "")
        if run.info.status != "RUNNING":
            continue
        if last.get("run") == key:
            client.set_terminated(run.info.run_id, ENDS[last["state"]], int(1000 * (last["began"] + last["seconds"])))
        elif pipeline_has_ended(key):
            client.set_terminated(run.info.run_id, "KILLED")


def _create_once(
    client: Any, experiment: str, record: Record, name: str, tags: Mapping[str, str], own: Mapping[str, str]
) -> str:
    """The id of the run that has the tags `own`, made where there is none: a server that answered too late may have made it before.

    Of several the oldest stays; the others are deleted.
    """
    runs = search_runs(client, experiment, own)
    if not runs:
        made = client.create_run(experiment, start_time=record.began, tags=dict(tags), run_name=name)
        runs = search_runs(client, experiment, own) or [made]
    *extra, oldest = runs
    for one in extra:
        client.delete_run(one.info.run_id)
    return oldest.info.run_id


@contextlib.contextmanager
def _refusals_shown(what: str) -> Iterator[None]:
    """Leave out what the server answers and refuses: it would refuse it the next time, and hold up all that follows."""
    try:
        yield
    except failures() as error:
        if not is_refusal(error):
            raise
        print(f"tracking: {what} not recorded: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
