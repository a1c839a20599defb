"""The flow of the whole pipeline, served by `python -m flows.deployments`."""

from pathlib import Path
from typing import Any, Literal

from flows import prefect_settings

prefect_settings.apply()  # before Prefect reads its settings

from prefect import flow, runtime  # noqa: E402
from prefect.client.schemas.objects import State  # noqa: E402

from compass.settings import load_settings  # noqa: E402
from flows.flow_run import carry_out  # noqa: E402
from flows.profile import AS_IT_IS, profile_choices  # noqa: E402
from flows.run import RunRequest  # noqa: E402
from flows.stage import PARAMETERS, Minutes, Retries  # noqa: E402

ALL = "all stages"

Profile = Literal[profile_choices(Path.cwd())]
UpTo = Literal[(ALL, *load_settings().stages)]

DESCRIPTION = """Run every stage whose inputs changed, in DVC's order: curation, grading, curriculum, RL, evaluation, report.

DVC decides what runs; stages that have nothing to do are shown as cached."""


def _run_name() -> str:
    given = runtime.flow_run.parameters
    words = [f"{name}={value}" for name, value in (given.get("other_settings") or {}).items()]
    target = given.get("up_to", ALL)
    return " ".join(["pipeline", *([f"to {target}"] if target != ALL else []), *words[:2]])


def _pipeline(
    up_to: UpTo = ALL,
    force: bool = False,
    profile: Profile = AS_IT_IS,
    other_settings: dict[str, Any] = {},  # noqa: B006
    limit_minutes: Minutes = 0,
    retries: Retries = 0,
) -> State:
    request = RunRequest(None if up_to == ALL else up_to, force=force, overrides=other_settings)
    return carry_out(request, profile=profile, limit_minutes=limit_minutes, retries=retries)


_pipeline.__name__ = "pipeline"
_pipeline.__doc__ = PARAMETERS
pipeline = flow(name="pipeline", flow_run_name=_run_name, description=DESCRIPTION)(_pipeline)
