"""One flow per stage, made from `params.yaml`: `flows.stage.denoise`, `flows.stage.rl_1`.

The signature of a flow is the form that Prefect's pages draw. It is made from the settings in force when this module is
imported, in the serving process and again in the process of each run.
"""

import inspect
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from flows import prefect_settings

prefect_settings.apply()  # before Prefect reads its settings

from prefect import Flow, flow, runtime  # noqa: E402
from prefect.client.orchestration import get_client  # noqa: E402
from prefect.client.schemas.objects import State  # noqa: E402
from pydantic import Field  # noqa: E402

from compass.settings import Settings, load_settings  # noqa: E402
from flows.flow_run import carry_out  # noqa: E402
from flows.forms import Form, overrides, prefix, stage_form  # noqa: E402
from flows.profile import AS_IT_IS, profile_choices  # noqa: E402
from flows.run import RunRequest, Scope  # noqa: E402

SCOPES: dict[str, Scope] = {
    "this stage and what it needs": "upto",
    "this stage alone": "only",
    "this stage and all that build on it": "downstream",
}
"""What a form offers for the stages to run, and what DVC calls it."""

GPU = ("base", "grade", "evaluate")
"""Stages besides RL's that want an accelerator where there is one."""

PARAMETERS = """Carry out one run.

Args:
    settings: {settings}
    run: Which stages run, where something changed for them.
    up_to: The last stage to run, with all that it needs.
    force: Run stages that did not change as well.
    profile: Another profile's values for this and the next runs, as `compass profile use` sets them. Refused where params.yaml has edits that no profile has.
    other_settings: Settings by their name in params.yaml, for those that the form does not draw, as {{"seed": 1, "rl.loss.clip_high": 0.3}}. They win over the form.
    limit_minutes: A stage that takes longer is ended with all its processes, and keeps what it had finished. 0 sets no limit.
    retries: How often a stage that died without a message is tried again, if it goes on from what it has: collect, grade, evaluate and the RL stages.
"""
"""What the fields of a form mean, as Prefect reads it from a docstring."""

CHANGED = "Settings of this stage, filled in with those in force. What you change is written into params.yaml."

Minutes = Annotated[float, Field(ge=0)]
Retries = Annotated[int, Field(ge=0, le=5)]


def __getattr__(name: str) -> Flow[Any, Any]:
    """The flow of the stage whose name this is, with `_` for `-`."""
    for stage in load_settings().stages if not name.startswith("__") else ():
        if attribute(stage) == name:
            return stage_flow(stage)
    raise AttributeError(f"params.yaml has no stage {name!r}")


def attribute(stage: str) -> str:
    """The name of a stage's flow in this module."""
    return stage.replace("-", "_")


@cache
def stage_flow(stage: str) -> Flow[Any, Any]:
    """The flow that runs one stage."""
    settings = load_settings()
    form = stage_form(stage, settings)
    where = prefix(stage, settings)

    def run_stage(**given: Any) -> State:
        changed = {**overrides(given["settings"], shown_settings(), where), **given["other_settings"]}
        request = RunRequest(stage, SCOPES[given["run"]], force=given["force"], overrides=changed)
        return carry_out(
            request,
            profile=given["profile"],
            limit_minutes=given["limit_minutes"],
            retries=given["retries"],
        )

    run_stage.__name__ = run_stage.__qualname__ = attribute(stage)
    run_stage.__doc__ = PARAMETERS.format(settings=CHANGED)
    run_stage.__signature__ = _signature(form)  # type: ignore[attr-defined]
    return flow(name=stage, flow_run_name=_run_name, description=describe(stage, settings))(run_stage)


def describe(stage: str, settings: Settings) -> str:
    """What a stage does, in the words of its settings."""
    about = " ".join((type(settings.stage(stage)).__doc__ or "").split())
    if stage in settings.rl.stages:
        about = f"Reinforcement learning from {settings.rl.stages[stage].init_from}, {settings.rl.stages[stage].steps} iterations."
    return f"{about}\n\nDVC skips it where nothing that it depends on has changed."


def machine(stage: str, settings: Settings) -> str:
    """The kind of machine that a stage wants, `gpu` or `data`: a tag of its deployment."""
    return "gpu" if stage in GPU or stage in settings.rl.stages else "data"


def shown_settings() -> dict[str, Any]:
    """The settings that the form of this run's deployment was filled with; empty for a run without a deployment."""
    if not runtime.deployment.id:
        return {}
    with get_client(sync_client=True) as client:
        schema = client.read_deployment(runtime.deployment.id).parameter_openapi_schema or {}
    return schema.get("properties", {}).get("settings", {}).get("default") or {}


def _signature(form: type[Form]) -> inspect.Signature:
    profiles = profile_choices(Path.cwd())
    fields: list[tuple[str, Any, Any]] = [
        ("run", Literal[tuple(SCOPES)], next(iter(SCOPES))),
        ("force", bool, False),
        ("profile", Literal[profiles], AS_IT_IS),
        ("settings", form, form()),
        ("other_settings", dict[str, Any], {}),
        ("limit_minutes", Minutes, 0),
        ("retries", Retries, 0),
    ]
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [inspect.Parameter(name, kind, default=value, annotation=of) for name, of, value in fields]
    )


def _run_name() -> str:
    """`denoise max_problem_chars=3000`: the stage and what was changed for it."""
    given = runtime.flow_run.parameters
    form, other = given.get("settings"), given.get("other_settings") or {}
    changed = {**(overrides(form, shown_settings(), "") if isinstance(form, Form) else {}), **other}
    words = [f"{name.lstrip('.')}={value}" for name, value in changed.items()]
    return " ".join([runtime.flow_run.flow_name, *words[:2], *([f"+{len(words) - 2}"] if len(words) > 2 else [])])
