"""`compass rl show`: what an RL stage would run with, without starting it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import App

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compass.settings import Settings

app = App(name="rl")

GLUE = "\N{NO-BREAK SPACE}"
"""Between a setting's name and its value, so that both stay in one line."""


@app.command
def show(stage: str, /, *, profile: str | None = None, params: Path | None = None, whole: bool = False) -> int:
    """Show what an RL stage would run with: its recipe on a page, or verl's complete configuration.

    `compass run STAGE --only` trains.

    Args:
        stage: a stage of `rl.stages` in the parameters, such as rl-1.
        profile: a file of profiles/, without .yaml (without it, the parameters in use).
        params: a parameter file (without it, params.yaml).
        whole: print every value that verl gets, resolved, as YAML.

    Raises:
        SettingsError: the parameter file cannot be used.
        WrongName: it has no such stage.

    Examples:
        compass rl show rl-2                       the recipe
        compass rl show rl-2 --profile paper       of another profile
        compass rl show rl-2 --whole               every value that verl gets, about 1,000 lines
    """
    from compass.errors import UserError, WrongName
    from compass.settings import load_settings

    if profile and params:
        raise UserError("give --profile or --params, not both")
    path = Path("profiles") / f"{profile}.yaml" if profile else params or Path("params.yaml")
    settings = load_settings(path)
    if stage not in settings.rl.stages:
        stages = ", ".join(settings.rl.stages)
        raise WrongName(f"{path}: `rl.stages` has no {stage!r}; there are {stages}")
    if whole:
        print(_whole(stage, settings), end="")
    else:
        print("\n".join(_page(stage, settings, path)))
        where = f" --profile {profile}" if profile else f" --params {params}" if params else ""
        print(f"\n* not the default. Every value that verl gets: compass rl show {stage}{where} --whole")
    return 0


def _whole(stage: str, settings: Settings) -> str:
    from omegaconf import OmegaConf

    from compass.rl.config import verl_config
    from compass.rl.paths import StagePaths
    from compass.rl.start import start_folder

    ours = settings.rl.stages[stage]
    work = Path("work") / stage
    paths = StagePaths(start_folder(stage, ours, Path()), work / "train.parquet", work / "COURSE")
    return OmegaConf.to_yaml(verl_config(stage, ours, paths, seed=settings.seed), resolve=True)


def _page(stage: str, settings: Settings, path: Path) -> Iterator[str]:
    """The stage's start and size, then a paragraph per group of the recipe."""
    from textwrap import fill

    ours = settings.rl.stages[stage]
    problems, responses = ours.data.batch_size, ours.data.batch_size * ours.rollout.group_size
    updates = problems // ours.optimizer.mini_batch_size * ours.optimizer.epochs
    yield f"{stage} of {path}: starts from {ours.init_from}, {ours.steps} iterations, seed {settings.seed}"
    yield (
        f"each iteration: {problems} problems x {ours.rollout.group_size} responses = {responses:,} responses, "
        f"{updates} update{'s' * (updates != 1)} of {ours.optimizer.mini_batch_size} problems"
    )
    more = "; more where dynamic sampling replaces groups" if ours.rollout.dynamic_sampling else ""
    yield f"in all: {problems * ours.steps:,} problems and {responses * ours.steps:,} responses{more}"
    yield ""
    for group in type(settings.rl).model_fields:
        if group != "stages":
            values = getattr(ours, group)
            shown = _guards(values) if group == "guards" else ", ".join(_values(values)) or "no other key"
            yield fill(f"{group:12}{shown}", 110, subsequent_indent=" " * 12, break_on_hyphens=False).replace(GLUE, " ")


def _values(section: Any) -> Iterator[str]:
    from compass.settings.section import Section

    if isinstance(section, dict):  # verl's own keys
        yield from (f"{key}{GLUE}{value!r}{GLUE}*" for key, value in section.items())
        return
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        if isinstance(value, Section):
            yield from (f"{name}.{shown}" for shown in _values(value))
            continue
        yield f"{name}{GLUE}{value!r}{'' if value == field.default else f'{GLUE}*'}"


def _guards(guards: Any) -> str:
    """The guards by what they do when they are met."""
    levels: dict[str, list[str]] = {}
    for name in type(guards).model_fields:
        levels.setdefault(getattr(guards, name).level, []).append(name)
    return "; ".join(f"{level}: {', '.join(names)}" for level, names in sorted(levels.items()))
