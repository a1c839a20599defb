"""The flow of one stage: `python -m flows.stage evaluate [-S evaluate.samples=4]` runs it alone, through DVC."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from compass import environment
from compass.settings import SettingsError, load_settings

environment.apply()  # before Prefect reads its settings

from prefect import flow, get_run_logger, runtime, task  # noqa: E402

from flows.overrides import parse_parameters  # noqa: E402
from flows.run import RunRequest, run  # noqa: E402


def _task_name() -> str:
    return f"dvc {runtime.task_run.parameters['target'] or 'all stages'}"


@task(name="dvc", task_run_name=_task_name)
def dvc(target: str | None, single: bool, parameters: dict[str, Any] | None, folder: str) -> None:
    """Bring a target up to date with `dvc repro`; the flow run's id is the pipeline run's in MLflow."""
    request = RunRequest(target, "only" if single else "upto", overrides=parameters or {})
    variables = {"COMPASS_PIPELINE_RUN": f"prefect-{runtime.flow_run.id}", "COMPASS_STARTED_BY": "prefect"}
    log = get_run_logger().info
    run(request, folder, log=log, on_wait=log, env=variables)


@flow(name="stage", flow_run_name="{name}")
def stage(name: str, parameters: dict[str, Any] | None = None, folder: str = ".") -> None:
    """Run one stage without those it depends on; DVC skips it where nothing changed.

    Args:
        name: the stage, as in dvc.yaml.
        parameters: values to run it with (`{"evaluate.samples": 4}`); they go into params.yaml as a DVC experiment.
        folder: where dvc.yaml is.
    """
    dvc(name, True, parameters, folder)


def stage_names() -> tuple[str, ...]:
    """Every stage of the parameters in force; ends the process with a message where they cannot be read."""
    try:
        return load_settings().stages
    except SettingsError as error:
        sys.exit(str(error))


def _main() -> None:
    stages = stage_names()
    parser = argparse.ArgumentParser(prog="python -m flows.stage", description=__doc__)
    parser.add_argument("name", choices=stages, metavar="STAGE", help=", ".join(stages))
    parser.add_argument("-S", "--set-param", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    stage(args.name, parse_parameters(args.set_param) or None)


if __name__ == "__main__":
    _main()
