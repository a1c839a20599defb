"""How the runs of one pipeline run are told apart and found again: the tags of stages and of their parent."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from compass.processes import process_key
from compass.runs.repository import git_state

PIPELINE = "compass.pipeline"
"""Tag on every run: the pipeline run it belongs to. MLflow's filters cannot follow nesting."""

KIND = "compass.kind"
"""`pipeline` or `stage`."""

STAGE = "compass.stage"
"""The stage's name."""

RECORD = "mlflow.compass.record"
"""The journal that a stage's run is made of: the run is never made twice. MLflow's pages hide tags that begin with `mlflow.`."""

OUTPUTS = "compass.outputs"
"""Digest of what a stage wrote: finds the run that produced a cached result."""

CACHED = "compass.cached"
"""With a stage's name behind a dot: the run that produced the result which this pipeline run took over."""

MODELS = "mlflow.compass.models"
"""The models that a pipeline run makes, in the order of training."""

HOST = "mlflow.compass.host"
PROCESS = "mlflow.compass.process"
"""Where the stage runs that keeps a run going, so that a later one can tell that it was killed."""

DESCRIPTION = "mlflow.note.content"
"""What MLflow shows as a run's description."""

EXPERIMENT = "dvc.experiment"
"""The name of the DVC experiment that a run belongs to."""


def owner() -> dict[str, str]:
    """Tags that say which process a run belongs to."""
    return {HOST: socket.gethostname(), PROCESS: process_key()}


def git_tags(folder: str | Path = ".") -> dict[str, str]:
    """Tags for the commit, and whether files differ from it."""
    state = git_state(folder)
    return {"mlflow.source.git.commit": state["commit"], "compass.git_dirty": state["dirty"]} if state else {}


def started_tags() -> dict[str, str]:
    """Tags that say how the run was started: by whom, from which page, and as which DVC experiment."""
    known = {
        "compass.started_by": "COMPASS_STARTED_BY",
        "compass.prefect_url": "COMPASS_PREFECT_URL",
        EXPERIMENT: "DVC_EXP_NAME",
    }
    return {tag: value for tag, name in known.items() if (value := os.environ.get(name))}
