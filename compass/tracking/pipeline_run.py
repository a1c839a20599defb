"""How the runs of one pipeline run are linked in MLflow: tags, the parent, runs that were killed, cached stages.

Every function takes an MLflow client, as `mlflow_client.connect` makes it.
"""

from __future__ import annotations

import socket
import time
from typing import Any

from compass.tracking.dvc_files import Graph, digest
from compass.tracking.processes import process_key, process_runs
from compass.tracking.repository import git_state

PIPELINE = "compass.pipeline"
"""Tag on every run: the pipeline run it belongs to. MLflow's filters cannot follow nesting."""

KIND = "compass.kind"
"""`pipeline` or `stage`."""

STAGE = "compass.stage"
"""The stage's name."""

OUTPUTS = "compass.outputs"
"""Digest of what a stage wrote: finds the run that produced a cached result."""

HOST = "compass.host"
PROCESS = "compass.process"
"""Where the stage runs that keeps a run going, so that a later one can tell that it was killed."""

OPEN = "compass.open"
"""Tag on a stage's run until the stage itself ends it: verl ends the run as FINISHED when training ends, before the export."""


def owner() -> dict[str, str]:
    """Tags that say which process a run belongs to."""
    return {HOST: socket.gethostname(), PROCESS: process_key()}


def git_tags() -> dict[str, str]:
    """Tags for the commit, and whether files differ from it."""
    state = git_state()
    return {"mlflow.source.git.commit": state["commit"], "compass.git_dirty": state["dirty"]} if state else {}


def mark_killed(client: Any, experiment: str) -> None:
    """Mark as KILLED the runs of this host that were never ended but whose process is gone."""
    here = f"tags.`{HOST}` = '{socket.gethostname()}'"
    for not_ended in ("attributes.status = 'RUNNING'", f"tags.`{OPEN}` = 'yes'"):
        for run in client.search_runs([experiment], f"{not_ended} and {here}"):
            if not process_runs(run.data.tags[PROCESS]):
                close(client, run.info.run_id, "KILLED")


def close(client: Any, run_id: str, status: str) -> None:
    """End a run, of a stage or of a pipeline."""
    client.set_terminated(run_id, status)
    client.set_tag(run_id, OPEN, "no")


def open_parent(client: Any, experiment: str, key: str, profile: str) -> tuple[str, bool]:
    """The id of the run of the pipeline run `key`, running again from now on, and whether it was made just now."""
    for run in client.search_runs([experiment], f"tags.`{PIPELINE}` = '{key}' and tags.`{KIND}` = 'pipeline'"):
        for name, value in owner().items():
            client.set_tag(run.info.run_id, name, value)
        client.update_run(run.info.run_id, status="RUNNING")
        return run.info.run_id, False
    tags = {PIPELINE: key, KIND: "pipeline", "compass.profile": profile, **owner(), **git_tags()}
    name = f"{profile} {time.strftime('%Y-%m-%d %H:%M:%S')}"
    return client.create_run(experiment, tags=tags, run_name=name).info.run_id, True


def cached_runs(client: Any, experiment: str, key: str, stage: str, graph: Graph) -> dict[str, str]:
    """For each stage that `stage` builds on and DVC skipped: a tag with the run that produced the outputs it uses."""
    own = client.search_runs([experiment], f"tags.`{PIPELINE}` = '{key}' and tags.`{KIND}` = 'stage'")
    ran = {run.data.tags[STAGE] for run in own}
    runs = {}
    for other in graph.ancestors(stage):
        locked = graph.locked_outs(other)
        if other in ran or not locked:
            continue
        condition = f"tags.`{STAGE}` = '{other}' and tags.`{OUTPUTS}` = '{digest(locked)}'"
        for run in client.search_runs([experiment], condition, max_results=1, order_by=["attributes.start_time DESC"]):
            runs[f"compass.cached.{other}"] = run.info.run_id
    return runs
