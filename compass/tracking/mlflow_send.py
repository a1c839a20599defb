"""Make MLflow's runs what a record says. Every call may be repeated with the same record, and changes nothing then:
an answer of the server can be lost after it has done what was asked."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.processes import pipeline_has_ended
from compass.tracking.mlflow_client import (
    can_write_artifacts,
    connect,
    experiment_id,
    failures,
    is_refusal,
    log_datasets,
    log_metrics,
    log_params,
    log_tags,
    server_name,
)
from compass.tracking.mlflow_models import record_model, record_scores
from compass.tracking.outbox import list_waiting, lock_outbox, outbox, remove_record
from compass.tracking.record import (
    CACHED,
    KIND,
    OUTPUTS,
    PIPELINE,
    RECORD,
    STAGE,
    ParentShare,
    Point,
    Record,
    experiment_name,
)

OF_THE_RUN = ("training", "evaluation")
"""Uses of a table that the pipeline's run shows as its own."""

CURVES = "mlflow.compass.curves"
"""With a stage's name behind a dot: tag of a pipeline's run that has the curves of a stage which DVC skipped."""

DESCRIPTION = "mlflow.note.content"
"""What MLflow shows as a run's description."""

HOURS = "hours/"
"""Before a stage's name: a metric of the pipeline's run."""


@dataclass
class Sent:
    """Where a record is in MLflow, and what of its long lists was sent: the rest is sent the next time."""

    experiment: str = ""
    run: str = ""
    parent: str = ""
    begun: bool = False
    points: int = 0
    parent_points: int = 0
    files: int = 0


def send_record(client: Any, record: Record, folder: str | Path = ".", sent: Sent | None = None) -> Sent:
    """Bring the stage's run, and its share of the pipeline's run, up to date.

    Args:
        client: MLflow's.
        record: what is known by now.
        folder: the repository.
        sent: what an earlier call in this process returned; without it everything is sent.

    Returns:
        What was sent, the same object where one was given.

    Raises:
        One of `failures()`: the server does not answer. What it refuses is left out, with a message.
    """
    sent = sent or Sent()
    sent.experiment = sent.experiment or experiment_id(client, record.experiment, folder)
    if not sent.begun:
        _begin(client, record, sent)
    for run, points, attribute in (
        (sent.run, record.points, "points"),
        (sent.parent, record.parent.points if record.parent else [], "parent_points"),
    ):
        if run:
            with _refusals_shown(f"metrics of {record.stage}"):
                log_metrics(client, run, points[getattr(sent, attribute) :])
            setattr(sent, attribute, len(points))
    if can_write_artifacts(client, sent.experiment, folder):
        _send_files(client, record, sent, outbox(folder) / record.id)
    if record.parent:
        text = record.parent.description.replace("{experiment}", sent.experiment).replace("{run}", sent.run)
        client.set_tag(sent.parent, DESCRIPTION, text)
    if record.status != "RUNNING":
        _end(client, record, sent)
    return sent


def send_waiting(folder: str | Path = ".", client: Any = None, *, but: str = "") -> tuple[int, int]:
    """Send the records of stages that run no more, oldest first.

    Args:
        folder: the repository.
        client: MLflow's; None connects where a record waits.
        but: the id of a record that somebody else sends.

    Returns:
        How many were sent, and how many stay because they are of another server.

    Raises:
        One of `failures()`: the server does not answer; what it has by then is removed from the outbox.
    """
    done = stay = 0
    with lock_outbox(folder) as alone:
        for place, record in list_waiting(folder) if alone else ():
            if record.id == but:
                continue
            if record.server != server_name(folder):
                stay += 1
                continue
            client = client or connect(folder)
            send_record(client, record, folder)
            remove_record(place)
            done += 1
    return done, stay


def _begin(client: Any, record: Record, sent: Sent) -> None:
    """Open the stage's run under its pipeline's."""
    tags = {**record.tags, RECORD: record.id}
    if record.parent:
        sent.parent = _begin_parent(client, record, sent)
        tags["mlflow.parentRunId"] = sent.parent
    run = _create_once(
        client,
        sent.experiment,
        f"tags.`{RECORD}` = '{record.id}'",
        lambda: client.create_run(sent.experiment, start_time=record.began, tags=tags, run_name=record.stage),
    )
    sent.run = run.info.run_id
    with _refusals_shown(f"parameters of {record.stage}"):
        log_params(client, sent.run, record.params)
    with _refusals_shown(f"datasets of {record.stage}"):
        log_datasets(client, sent.run, record.datasets)
        if sent.parent:
            log_datasets(client, sent.parent, [table for table in record.datasets if table["context"] in OF_THE_RUN])
    if record.replaces:
        _mark_killed(client, sent, record.replaces)
    sent.begun = True


def _mark_killed(client: Any, sent: Sent, replaced: str) -> None:
    """Correct a run that said FINISHED and was killed before DVC had its outputs, and its pipeline's."""
    for run in client.search_runs([sent.experiment], f"tags.`{RECORD}` = '{replaced}'"):
        parent = run.data.tags.get("mlflow.parentRunId", sent.parent)
        for one in [run] if parent == sent.parent else [run, client.get_run(parent)]:
            client.set_tag(one.info.run_id, "compass.error", "killed before DVC kept the outputs; the stage ran again")
            client.set_terminated(one.info.run_id, "KILLED", one.info.end_time)


def _begin_parent(client: Any, record: Record, sent: Sent) -> str:
    """The pipeline's run, with the runs that made the results of stages which DVC skipped; it runs from now on."""
    share = record.parent
    assert share is not None
    mine = f"tags.`{PIPELINE}` = '{share.key}' and tags.`{KIND}`"
    tags = {**share.tags, PIPELINE: share.key, KIND: "pipeline"}
    run = _create_once(
        client,
        sent.experiment,
        f"{mine} = 'pipeline'",
        lambda: client.create_run(sent.experiment, start_time=record.began, tags=tags, run_name=share.name),
    )
    run_id = run.info.run_id
    known = client.get_run(run_id).data
    if not known.params:  # the run is new
        others = [one for one in _pipelines(client, sent) if one.info.run_id != run_id]
        end_abandoned(client, others)
        _complete_params(client, share, others)
        ever = dict.fromkeys(name for one in others for name in one.data.params)
        log_params(
            client, run_id, {name: share.settings[name] for name in ever if name in share.settings} | share.params
        )
    else:
        log_params(client, run_id, {name: value for name, value in share.params.items() if name not in known.params})
    ran = {one.data.tags[STAGE] for one in client.search_runs([sent.experiment], f"{mine} = 'stage'")}
    new: dict[str, str] = {}
    for stage, digest in share.cached.items():
        if stage in ran:
            continue
        made = f"tags.`{STAGE}` = '{stage}' and tags.`{OUTPUTS}` = '{digest}'"
        for other in client.search_runs(
            [sent.experiment], made, max_results=1, order_by=["attributes.start_time DESC"]
        ):
            new[f"{CACHED}.{stage}"] = other.info.run_id
    for stage, points in share.skipped_curves.items():
        if stage not in ran and f"{CURVES}.{stage}" not in known.tags:
            log_metrics(client, run_id, points)
            new[f"{CURVES}.{stage}"] = "yes"
    log_tags(client, run_id, new)
    if record.status == "RUNNING":
        client.update_run(run_id, status="RUNNING")
    return run_id


def _pipelines(client: Any, sent: Sent) -> list[Any]:
    """The newest runs of pipelines."""
    return client.search_runs(
        [sent.experiment], f"tags.`{KIND}` = 'pipeline'", max_results=1000, order_by=["attributes.start_time DESC"]
    )


def _complete_params(client: Any, share: ParentShare, others: Sequence[Any]) -> None:
    """Give earlier runs of the profile the value that they had of each setting which differs for the first time: the profile's."""
    for one in others:
        if one.data.params.get("profile") == share.params["profile"]:
            log_params(
                client,
                one.info.run_id,
                {name: value for name, value in share.before.items() if name not in one.data.params},
            )


def end_abandoned(client: Any, pipelines: Sequence[Any]) -> None:
    """End the runs of pipelines whose process is gone without a word, killed between two stages."""
    for one in pipelines:
        if one.info.status == "RUNNING" and pipeline_has_ended(one.data.tags.get(PIPELINE, "")):
            client.set_terminated(one.info.run_id, "KILLED")


def end_pipeline(key: str, status: str, folder: str | Path = ".") -> None:
    """End the run of a pipeline whose last stage did not: it came from the cache, or did not begin.

    Args:
        key: what its stages have in common (`compass.processes.pipeline_key`).
        status: as MLflow names it.
        folder: the repository.
    """
    with contextlib.suppress(*failures()):  # a server that is away: the next run ends it
        client = connect(folder)
        experiment = client.get_experiment_by_name(experiment_name())
        mine = f"tags.`{PIPELINE}` = '{key}' and tags.`{KIND}` = 'pipeline'"
        for one in client.search_runs([experiment.experiment_id], mine) if experiment else ():
            if one.info.status == "RUNNING":
                client.set_terminated(one.info.run_id, status)


def _send_files(client: Any, record: Record, sent: Sent, place: Path) -> None:
    for name, to, on in record.files[sent.files :]:
        run, path = sent.parent if on == "parent" else sent.run, place / name
        if run and path.exists():
            with _refusals_shown(path.name):
                if path.is_dir():
                    client.log_artifacts(run, str(path), "/".join(filter(None, (to, path.name))))
                else:
                    client.log_artifact(run, str(path), to or None)
        sent.files += 1


def _end(client: Any, record: Record, sent: Sent) -> None:
    """End the stage's run, and its pipeline's where no other stage follows: its status is that of its last stage."""
    log_tags(client, sent.run, record.tags)
    if record.model:
        with _refusals_shown(f"model of {record.stage}"):
            record_model(client, sent.experiment, sent.run, record.model)
    if record.scores:
        with _refusals_shown("scores of models"):
            record_scores(client, sent.experiment, sent.run, record.scores)
    client.set_terminated(sent.run, record.status, record.ended)
    if sent.parent:
        parent = client.get_run(sent.parent)
        hours = {name: value for name, value in parent.data.metrics.items() if name.startswith(HOURS)}
        hours.pop(f"{HOURS}total", None)
        if hours:
            total: Point = [f"{HOURS}total", sum(hours.values()), record.ended, 0]
            log_metrics(client, sent.parent, [total])
        if record.status != "FINISHED" or not (record.parent and record.parent.continues):
            client.set_terminated(sent.parent, record.status, record.ended)


def _create_once(client: Any, experiment: str, condition: str, create: Callable[[], Any]) -> Any:
    """The run that a condition finds, made where there is none: a server that answered too late may have made it before.

    Of several the oldest stays; the others are deleted.
    """

    def search() -> Sequence[Any]:
        return client.search_runs([experiment], condition, order_by=["attributes.start_time ASC"])

    runs = search()
    if not runs:
        made = create()
        runs = search() or [made]
    for extra in runs[1:]:
        client.delete_run(extra.info.run_id)
    return runs[0]


@contextlib.contextmanager
def _refusals_shown(what: str) -> Iterator[None]:
    """Leave out what the server answers and refuses: it would refuse it the next time, and hold up all that follows."""
    try:
        yield
    except failures() as error:
        if not is_refusal(error):
            raise
        print(f"tracking: {what} not recorded: {str(error).splitlines()[0]}", file=sys.stderr, flush=True)
