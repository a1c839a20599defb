"""The flow of the whole pipeline, and one per stage, made from `params.yaml`: `flows.stage.pipeline`, `flows.stage.rl_1`.

The signature of a flow is the form that Prefect's pages draw. It is made from the settings in force when a flow is asked for,
in the serving process and again in the process of each run.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal

from flows import prefect_settings

prefect_settings.apply()  # before Prefect reads its settings

from prefect import Flow, flow, runtime  # noqa: E402
from prefect.client.schemas.objects import State  # noqa: E402
from pydantic import Field  # noqa: E402

from compass.settings import Settings, load_settings  # noqa: E402
from flows.flow_run import carry_out  # noqa: E402
from flows.forms import Form, build_form, collect_overrides, prefix  # noqa: E402
from flows.overrides import list_profiles  # noqa: E402
from flows.run import RunRequest, Scope  # noqa: E402

SCOPES: dict[str, Scope] = {
    "this stage and what it needs": "upto",
    "this stage alone": "only",
    "this stage and all that build on it": "downstream",
}
"""What a form offers for the stages to run, and what DVC calls it."""

ALL = "all stages"

AS_IT_IS = "as params.yaml is"
"""The choice of a form that changes no profile."""

GPU = ("base", "grade", "evaluate")
"""Stages besides RL's that want an accelerator where there is one."""

PARAMETERS = """Carry out one run.

Args:
    settings: Settings of this stage, filled in with those in force. Values that differ from those in force when the run starts are written into params.yaml.
    run: Which stages run, where something changed for them.
    up_to: The last stage to run, with all that it needs.
    force: Run stages that did not change as well.
    profile: Another profile's values for this and the next runs, as `compass profile use` sets them. Refused where params.yaml has edits that no profile has.
    other_settings: Settings by their name in params.yaml, for those that the form does not draw, as {"seed": 1, "rl.loss.clip_high": 0.3}. They win over the form.
    limit_minutes: A stage that takes longer is ended with all its processes, and keeps what it had finished. 0 sets no limit.
    retries: How often a stage that died without a message is tried again, if it goes on from what it has: collect, grade, evaluate and the RL stages.
"""
"""What the fields of a form mean, as Prefect reads it from a docstring."""

PIPELINE = """Run every stage whose inputs changed, in DVC's order: curation, grading, curriculum, RL, evaluation, report.

DVC decides what runs; stages that have nothing to do are shown as cached. Runs that `compass run` starts in a terminal are not listed here:
`compass status`, the live page and MLflow show them."""

Minutes = Annotated[float, Field(ge=0)]
Retries = Annotated[int, Field(ge=0, le=5)]


def __getattr__(name: str) -> Flow[Any, Any]:
    """The flow of the pipeline, or of the stage whose name this is, with `_` for `-`."""
    if name == "pipeline":
        return pipeline_flow()
    for stage in load_settings().stages if not name.startswith("__") else ():
        if name_attribute(stage) == name:
            return stage_flow(stage)
    raise AttributeError(f"params.yaml has no stage {name!r}")


def name_attribute(stage: str) -> str:
    """The name of a stage's flow in this module."""
    return stage.replace("-", "_")


@cache
def pipeline_flow() -> Flow[Any, Any]:
    """The flow that runs the pipeline."""

    def run_pipeline(**given: Any) -> State:
        target = None if given["up_to"] == ALL else given["up_to"]
        return _carry_out(RunRequest(target, force=given["force"], overrides=given["other_settings"]), given)

    fields = [("up_to", Literal[(ALL, *load_settings().stages)], ALL)]
    return _make_flow("pipeline", run_pipeline, fields, PIPELINE)


@cache
def stage_flow(stage: str) -> Flow[Any, Any]:
    """The flow that runs one stage."""
    settings = load_settings()
    form = build_form(settings.stage(stage), stage)  # of an RL stage with the shared recipe laid under its own
    where = prefix(stage, settings)

    def run_stage(**given: Any) -> State:
        changed = {**collect_overrides(given["settings"], where), **given["other_settings"]}
        return _carry_out(RunRequest(stage, SCOPES[given["run"]], force=given["force"], overrides=changed), given)

    fields = [("run", Literal[tuple(SCOPES)], next(iter(SCOPES))), ("settings", form, form())]
    return _make_flow(stage, run_stage, fields, describe(stage, settings))


def _carry_out(request: RunRequest, given: dict[str, Any]) -> State:
    profile = None if given["profile"] == AS_IT_IS else given["profile"]
    request = replace(request, profile=profile)
    return carry_out(request, limit_minutes=given["limit_minutes"], retries=given["retries"])


def _make_flow(
    name: str, carry: Callable[..., State], fields: list[tuple[str, Any, Any]], description: str
) -> Flow[Any, Any]:
    """A flow whose form has `fields` (name, type, default) and those that every form has."""
    every: list[tuple[str, Any, Any]] = [
        ("force", bool, False),
        ("profile", Literal[(AS_IT_IS, *(path.stem for path in list_profiles()))], AS_IT_IS),
        ("other_settings", dict[str, Any], {}),
        ("limit_minutes", Minutes, 0),
        ("retries", Retries, 0),
    ]
    first, *rest = fields
    kind = inspect.Parameter.KEYWORD_ONLY
    carry.__name__ = carry.__qualname__ = name_attribute(name)
    carry.__doc__ = PARAMETERS
    carry.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(field, kind, default=value, annotation=of)
            for field, of, value in (first, *every[:2], *rest, *every[2:])
        ]
    )
    return flow(name=name, flow_run_name=_run_name, description=description)(carry)


def describe(stage: str, settings: Settings) -> str:
    """What a stage does, in the words of its settings."""
    about = " ".join((type(settings.stage(stage)).__doc__ or "").split())
    if stage in settings.rl.stages:
        about = f"Reinforcement learning from {settings.rl.stages[stage].init_from}, {settings.rl.stages[stage].steps} iterations."
    return f"{about}\n\nDVC skips it where nothing that it depends on has changed."


def choose_machine(stage: str, settings: Settings) -> str:
    """The kind of machine that a stage wants, `gpu` or `data`: a tag of its deployment."""
    return "gpu" if stage in GPU or stage in settings.rl.stages else "data"


def _run_name() -> str:
    """`denoise max_problem_chars=3000`: the stage and what was changed for it."""
    given = runtime.flow_run.parameters
    form, other = given.get("settings"), given.get("other_settings") or {}
    changed = {**(collect_overrides(form, "") if isinstance(form, Form) else {}), **other}
    target = given.get("up_to", ALL)
    words = [f"to {target}"] if target != ALL else []
    words += [f"{name.lstrip('.')}={value}" for name, value in changed.items()]
    return " ".join([runtime.flow_run.flow_name, *words[:2], *([f"+{len(words) - 2}"] if len(words) > 2 else [])])
