"""What each record of a journal (`compass.tracking.journal`) means in MLflow.

Every function may be called again with the same record and changes nothing then: a record counts as sent only after the
server has answered, and an answer can be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from compass.processes import process_runs
from compass.tracking.journal import Journal
from compass.tracking.mlflow_client import (
    create_once,
    experiment_id,
    log_datasets,
    log_metrics,
    log_params,
    log_tags,
)
from compass.tracking.mlflow_models import record_model, record_scores
from compass.tracking.mlflow_view import ensure_view
from compass.tracking.pipeline_run import CACHED, DESCRIPTION, HOST, KIND, OUTPUTS, PIPELINE, PROCESS, RECORD, STAGE

OF_THE_RUN = ("training", "evaluation")
"""Uses of a table that the pipeline's run shows as its own."""

CURVES = "mlflow.compass.curves"
"""With a stage's name behind a dot: tag of a pipeline's run that has the curves of a stage which DVC skipped."""

HOURS = "hours/"
"""Before a stage's name: a metric of the pipeline's run."""


def apply(client: Any, journal: Journal, record: Mapping[str, Any]) -> None:
    """Carry out one record."""
    ACTIONS[record["do"]](client, journal, record)


def target(journal: Journal, record: Mapping[str, Any]) -> str | None:
    """The id of the run that a record is of; None where it is of the parent and there is none."""
    return journal.sent.parent if record.get("on") == "parent" else journal.sent.run


def mark_killed(client: Any, experiment: str, host: str, waiting: Collection[str]) -> None:
    """Mark as KILLED the runs of a host that were never ended and whose process is gone.

    Args:
        client: MLflow's.
        experiment: the experiment's id.
        host: this machine's name.
        waiting: journals that hold the end of a run.
    """
    for run in client.search_runs([experiment], f"attributes.status = 'RUNNING' and tags.`{HOST}` = '{host}'"):
        tags = run.data.tags
        if tags.get(RECORD) not in waiting and not process_runs(tags[PROCESS]):
            client.set_terminated(run.info.run_id, "KILLED")


def _begin(client: Any, journal: Journal, record: Mapping[str, Any]) -> None:
    """Open the stage's run under its pipeline's."""
    sent = journal.sent
    sent.experiment = experiment = experiment_id(client, record["experiment"], journal.root)
    others = {path.name for path in journal.folder.parent.iterdir()}
    mark_killed(client, experiment, record["tags"][HOST], others)
    if parent := record["parent"]:
        ensure_view(client, experiment, record["models"])
        sent.parent = _parent(client, experiment, record, parent)
    tags = {**record["tags"], RECORD: journal.id}
    if sent.parent:
        tags["mlflow.parentRunId"] = sent.parent
    run, _ = create_once(
        client,
        experiment,
        f"tags.`{RECORD}` = '{journal.id}'",
        lambda: client.create_run(experiment, start_time=record["time"], tags=tags, run_name=record["stage"]),
    )
    sent.run = run.info.run_id
    log_params(client, sent.run, record["params"])
    log_datasets(client, sent.run, record["datasets"])
    if sent.parent:
        log_datasets(client, sent.parent, [table for table in record["datasets"] if table["context"] in OF_THE_RUN])


def _parent(client: Any, experiment: str, record: Mapping[str, Any], parent: Mapping[str, Any]) -> str:
    """The pipeline's run, running again from now on, with the runs that made the results of stages which DVC skipped."""
    key = parent["key"]
    mine = f"tags.`{PIPELINE}` = '{key}' and tags.`{KIND}`"
    tags = {**parent["tags"], PIPELINE: key, KIND: "pipeline"}
    run, _ = create_once(
        client,
        experiment,
        f"{mine} = 'pipeline'",
        lambda: client.create_run(experiment, start_time=record["time"], tags=tags, run_name=parent["name"]),
    )
    run_id = run.info.run_id
    known = client.get_run(run_id).data
    log_params(client, run_id, {name: value for name, value in parent["params"].items() if name not in known.params})
    ran = {one.data.tags[STAGE] for one in client.search_runs([experiment], f"{mine} = 'stage'")}
    cached = {}
    for stage, digest in record["cached"].items():
        if stage in ran:
            continue
        made = f"tags.`{STAGE}` = '{stage}' and tags.`{OUTPUTS}` = '{digest}'"
        for other in client.search_runs([experiment], made, max_results=1, order_by=["attributes.start_time DESC"]):
            cached[f"{CACHED}.{stage}"] = other.info.run_id
    for stage, points in record["curves"].items():
        if stage not in ran and f"{CURVES}.{stage}" not in known.tags:
            log_metrics(client, run_id, points)
            cached[f"{CURVES}.{stage}"] = "yes"
    log_tags(client, run_id, {**{name: record["tags"][name] for name in (HOST, PROCESS)}, **cached})
    client.update_run(run_id, status="RUNNING")
    return run_id


def _params(client: Any, journal: Journal, record: Mapping[str, Any]) -> None:
    if run := target(journal, record):
        log_params(client, run, record["values"])


def _metrics(client: Any, journal: Journal, record: Mapping[str, Any]) -> None:
    if run := target(journal, record):
        log_metrics(client, run, record["values"])


def _tags(client: Any, journal: Journal, record: Mapping[str, Any]) -> None:
    if run := target(journal, record):
        log_tags(client, run, record["values"])


def _describe(client: Any, journal: Journal, record: Mapping[str, Any]) -> None:
    """Set the description; `{experiment}` and `{run}` in it become the ids of the experiment and of the stage's run."""
    sent = journal.sent
    if run := target(journal, record):
        text = record["text"].replace("{experiment}", str(sent.experiment)).replace("{run}", str(sent.run))
        client.set_tag(run, DESCRIPTION, text)


def _artifact(client: Any, journal: Journal, record: Mapping[str, Any]) -> None:
    path = journal.folder / record["file"]
    if run := target(journal, record):
        if path.is_dir():
            client.log_artifacts(run, str(path), "/".join(filter(None, (record["folder"], path.name))))
        else:
            client.log_artifact(run, str(path), record["folder"] or None)


def _end(client: Any, journal: Journal, record: Mapping[str, Any]) -> None:
    """End the stage's run, and its pipeline's, whose status is that of its last stage."""
    sent, ended = journal.sent, record.get("ended", record["time"])
    if sent.run is None:
        return
    client.set_terminated(sent.run, record["status"], ended)
    duplicates = client.search_runs([sent.experiment], f"tags.`{RECORD}` = '{journal.id}'")
    for extra in (run for run in duplicates if run.info.run_id != sent.run):
        client.delete_run(extra.info.run_id)  # a server that was asked, did not answer, and made the run later
    if sent.parent:
        parent = client.get_run(sent.parent)
        hours = {name: value for name, value in parent.data.metrics.items() if name.startswith(HOURS)}
        hours.pop(f"{HOURS}total", None)
        if hours:
            log_metrics(client, sent.parent, [(f"{HOURS}total", sum(hours.values()), record["time"], 0)])
        client.set_terminated(sent.parent, record["status"], ended)


ACTIONS: dict[str, Callable[[Any, Journal, Mapping[str, Any]], None]] = {
    "begin": _begin,
    "params": _params,
    "metrics": _metrics,
    "tags": _tags,
    "describe": _describe,
    "artifact": _artifact,
    "model": record_model,
    "scores": record_scores,
    "end": _end,
}
