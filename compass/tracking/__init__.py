"""MLflow: one parent run per pipeline run, with one nested run per stage.

    with stage_run("dedup", settings) as tracked:
        ...
        tracked.summary({"read": 10, "kept": 9, "dropped": {"exact_duplicate": 1}})

A stage's run holds its parameters, its metrics, the git commit, DVC's hashes of what it read and wrote and the row
counts of its parquet inputs. The parent carries the headline metrics, and for every stage that DVC skipped the id of
the run that produced the cached result. Runs go into `mlflow.db` beside `dvc.yaml`, or to `MLFLOW_TRACKING_URI`.

Only `mlflow_client.py` imports MLflow.
"""

from compass.tracking.mlflow_client import tracking_uri
from compass.tracking.stage_run import StageRun, TrackingError, record_curves, run_page, stage_run

__all__ = ["StageRun", "TrackingError", "record_curves", "run_page", "stage_run", "tracking_uri"]
