"""The page of a service that a reader wants to see first."""

from __future__ import annotations

from urllib.parse import quote

from compass.services import http
from compass.services.state import Service
from compass.tracking.record import KIND, experiment_name

TRAINING = "workflowType=machine_learning"
"""Has MLflow's menu show runs and models, instead of what is for traces of language models."""


def page(service: Service) -> str | None:
    """Where to look at a service that runs; None for one without a page."""
    return runs_page(service.url) if service.name == "mlflow" and service.url else service.url


def runs_page(server: str) -> str:
    """MLflow's list of pipeline runs, or of experiments as long as there are none.

    MLflow's own first page is about traces of language models.
    """
    try:
        answer = http.ask(f"{server}/api/2.0/mlflow/experiments/get-by-name?experiment_name={quote(experiment_name())}")
    except (OSError, ValueError):  # 404: no run was recorded yet
        return f"{server}/#/experiments"
    pipelines = quote(f"tags.`{KIND}` = 'pipeline'")
    return f"{server}/#/experiments/{answer['experiment']['experiment_id']}/runs?{TRAINING}&searchFilter={pipelines}"
