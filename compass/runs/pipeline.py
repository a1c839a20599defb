"""Every stage of the pipeline and where it is, for the list at the top of the page."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from compass.errors import UserError
from compass.runs.progress import StageProgress, read_progress
from compass.settings import Settings, load_settings
from compass.settings.pipeline import AFTER_RL, BEFORE_RL

WAITING = "waiting"
"""The state of a stage that has neither run nor left results here."""


@dataclass(frozen=True)
class Stage:
    """A stage: its name, its kind (`rl`, or its own name), where it is, and what it is set to."""

    name: str
    kind: str
    state: str
    progress: StageProgress | None
    seconds: float | None
    """How long it ran, or has been running; None where that is not known here."""

    ended: float | None
    """When it ended, in seconds since 1970; None while it runs."""

    this_run: bool
    """Whether it ran in the newest pipeline run."""


@dataclass(frozen=True)
class Pipeline:
    """The stages in their order, the parameters in force, and why those cannot be read."""

    stages: list[Stage]
    settings: Settings | None
    problem: str

    def find(self, name: str) -> Stage | None:
        """The stage of this name."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def newest(self) -> Stage | None:
        """The stage to look at: the one that runs, else the one that ended last."""
        running = [stage for stage in self.stages if stage.state == "running"]
        if running:
            return running[-1]
        ended = [stage for stage in self.stages if stage.ended is not None]
        return max(ended, key=lambda stage: stage.ended or 0, default=None)


def read_pipeline(root: Path) -> Pipeline:
    """Every stage of the parameters in `root`, and those of other names that are running."""
    settings, problem = _settings(root)
    progress = read_progress(root)
    rl = list(settings.rl.stages) if settings else [name for name in progress if name.startswith("rl")]
    names = [*BEFORE_RL, *rl, *AFTER_RL]
    names += [name for name, one in progress.items() if name not in names and one.state == "running"]
    newest = max(progress.values(), key=lambda one: one.started, default=None)
    stages = [_stage(root, name, progress.get(name), newest) for name in names]
    return Pipeline(stages, settings, problem)


def _stage(root: Path, name: str, told: StageProgress | None, newest: StageProgress | None) -> Stage:
    kind = name if name in (*BEFORE_RL, *AFTER_RL) else "rl"
    result = root / "metrics" / f"{name}.json"
    running = told is not None and told.state == "running"
    same = told is None or newest is None or (told.run == newest.run if told.run else told is newest)
    # DVC removes a stage's result before it runs it: one that is there after an earlier run's failure came from the cache.
    if told is None or (told.state != "finished" and not running and not same and result.exists()):
        # A result without a file of progress came from DVC's cache, or from another checkout.
        if not result.exists():
            return Stage(name, kind, WAITING, None, None, None, False)
        return Stage(name, kind, "finished", None, None, os.path.getmtime(result), newest is None)
    return Stage(name, kind, told.state, told, told.updated - told.started, None if running else told.updated, same)


def _settings(root: Path) -> tuple[Settings | None, str]:
    try:
        return load_settings(root / "params.yaml"), ""
    except (UserError, OSError) as error:
        return None, str(error).splitlines()[0]
