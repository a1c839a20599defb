"""MLflow: one parent run per pipeline run, with one nested run per stage.

    with stage_run("dedup", settings):
        ...                       # writes metrics/dedup.json, and its outputs

A stage's run holds its settings, the metrics that people compare, the git commit, DVC's hashes of what it read and wrote, its
datasets and its model. The parent is named after what differs from the profile and carries the headline scores, the rows that
every stage kept, the hours of each, and for every stage that DVC skipped the id of the run that produced the cached result.
Runs go into `.compass/mlflow.db`, or to `MLFLOW_TRACKING_URI`; what a server could not take waits in `.compass/outbox`.

Only modules called `mlflow_*` import MLflow.
"""

from compass.tracking.stage_run import StageRun, TrackingError, current_run, run_page, stage_run

__all__ = ["StageRun", "TrackingError", "current_run", "run_page", "stage_run"]
