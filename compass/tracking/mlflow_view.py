"""How MLflow's list of runs opens: pipeline runs alone, with the columns that people compare, under the name `Scores`.

MLflow keeps views as tags of the experiment. This one is written where there is none for the models in use; what a user
makes of it stays.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

from compass.tracking.pipeline_run import KIND

KEY = "compass"
"""The view's key: `#/experiments/ID/runs?viewStateShareKey=compass` opens it."""

TAG = f"mlflow.sharedViewState.{KEY}"
WORKFLOW = "mlflow.experimentKind"
"""Tag of an experiment that trains models; without it MLflow shows pages for language-model applications."""


def ensure_view(client: Any, experiment: str, models: Sequence[str]) -> None:
    """Write the view, unless the experiment has one with the last of the models.

    Args:
        client: MLflow's.
        experiment: the experiment's id.
        models: the models that the pipeline makes, the base first.
    """
    tags = client.get_experiment(experiment).tags
    if WORKFLOW not in tags:
        client.set_experiment_tag(experiment, WORKFLOW, "custom_model_development")
    if f"average/{models[-1]}" not in tags.get(TAG, ""):
        client.set_experiment_tag(experiment, TAG, view(models, int(time.time() * 1000)))


def view(models: Sequence[str], now: int) -> str:
    """The view as MLflow's page reads it; `now` is in milliseconds."""
    first, last = models[0], models[-1]
    scores = [
        f"average/{first}",
        *(f"{kind}/{last}{end}" for kind in ("average", "gain") for end in ("", ".low", ".high")),
    ]
    state = {
        "searchFilter": f"tags.`{KIND}` = 'pipeline'",
        "selectedColumns": ["params.`seed`", *(f"metrics.`{name}`" for name in (*scores, "hours/total"))],
    }
    return json.dumps({"name": "Scores", "createdAt": now, "updatedAt": now, "state": json.dumps(state)})
