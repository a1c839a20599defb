"""All that the page shows at one moment: the list of stages, the links, and the view of the chosen stage."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.live.counts import counts_view, report_view
from compass.live.responses import show_rollouts
from compass.live.sampled import Scorer, sampled_view
from compass.live.training import find_course, read_training, training_view
from compass.page.blocks import Block, Caution, Note
from compass.rl.failure import log_lines, reason
from compass.runs.pipeline import Pipeline, Stage, read_pipeline
from compass.runs.progress import read_progress
from compass.runs.progress_display import count
from compass.runs.repository import repository_root
from compass.services.state import read_services

SERVICES = {"mlflow": "MLflow", "prefect": "Prefect"}
"""Services with a page of their own, and what they are called."""

LOGGED = 40
"""Lines of an RL stage's log that are shown where it failed and says no cause."""


COPIES = ".dvc/tmp/exps"
"""Where `dvc exp run --temp` and its queue put copies of the repository, each with stages of its own."""


class Reader:
    """Reads a repository's state, again and again; what does not change is read once."""

    def __init__(self, root: Path, shown: str = "") -> None:
        """`root` is what is read; `shown` is what to call it, by default the folder's name."""
        self.root = root
        self._shown = shown or root.resolve().name
        self._copies: dict[Path, Reader] = {}
        self._scorer = Scorer(root)

    def newest(self) -> Reader:
        """The reader of where something runs: this one, or that of a running experiment's copy of the repository."""
        if any(one.state == "running" for one in read_progress(self.root).values()):
            return self
        copies = self.root / COPIES
        for folder in sorted([*copies.glob("*/work/progress"), *copies.glob("*/*/work/progress")]):
            copy = folder.parents[1]
            if any(one.state == "running" for one in read_progress(copy).values()):
                name = f"{self._shown}, experiment in {copy.relative_to(self.root)}"
                return self._copies.setdefault(copy, Reader(copy, name))
        return self

    def state(self, chosen: str = "", step: int | None = None) -> dict[str, Any]:
        """What the page shows of this reader's repository.

        Args:
            chosen: the stage to view; where there is none of this name, the one that runs or ran last.
            step: the iteration whose rollouts are shown; None for the newest.
        """
        pipeline = read_pipeline(self.root)
        stage = pipeline.find(chosen) or pipeline.newest()
        ran = [one for one in pipeline.stages if one.state != "waiting"]
        blocks: list[Block] = []
        if pipeline.problem:
            blocks.append(Caution(f"The parameters cannot be read: {pipeline.problem}"))
        if not ran:
            blocks.append(
                Note("No stage has run here yet. Start the whole pipeline, or one stage of it:", command="compass run")
            )
        elif stage:
            blocks += [*self._ended(stage), *self._safe_view(stage, pipeline, step)]
        return {
            "profile": pipeline.settings.profile if pipeline.settings else "",
            "folder": self._shown,
            "links": self._links(pipeline),
            "stages": [_listed(one) for one in pipeline.stages],
            "selected": stage.name if stage else None,
            "newest": newest.name if (newest := pipeline.newest()) else None,
            "blocks": blocks,
        }

    def _safe_view(self, stage: Stage, pipeline: Pipeline, step: int | None) -> list[Block]:
        """The view of a stage, or why there is none: a file is replaced while it is read, or is not what the stage writes."""
        try:
            return self._view(stage, pipeline, step)
        except (OSError, ValueError, TypeError, KeyError, AttributeError, pa.ArrowException) as error:
            return [Caution(f"What {stage.name} wrote cannot be read now.", f"{type(error).__name__}: {error}")]

    def _view(self, stage: Stage, pipeline: Pipeline, step: int | None) -> list[Block]:
        settings = pipeline.settings
        if stage.kind == "rl":
            ours = settings.rl.stages.get(stage.name) if settings else None
            training = read_training(self.root, stage)
            blocks = training_view(stage, training, ours)
            if training and training.steps:
                every = ours.record.rollouts_every if ours else None
                blocks.append(show_rollouts(self.root, training.rollouts, step, every))
            return blocks
        if stage.kind in ("grade", "evaluate"):
            return sampled_view(stage, self._scorer, settings)
        if stage.kind == "report":
            return [*report_view(self.root, stage), *counts_view(self.root, stage)]
        return counts_view(self.root, stage)

    def _ended(self, stage: Stage) -> list[Block]:
        """What to say of a stage that did not end well."""
        told = stage.progress
        if told is None or stage.state not in ("failed", "killed"):
            return []
        if stage.state == "killed":
            where = f" in {told.phase}" if told.phase else ""
            again = "It goes on from its last checkpoint or response when it is run again."
            text = f"{stage.name} was ended from outside{where}. {again}"
            return [Caution(text), Note("To go on:", command=f"compass run {stage.name}")]
        log = self._log(stage)
        return [
            Caution(f"{stage.name} failed: {told.error}", log),
            Note("When that is fixed:", command=f"compass run {stage.name}"),
        ]

    def _log(self, stage: Stage) -> str:
        """Why an RL stage ended, from the newest log of its trainer."""
        paths = find_course(self.root, stage) if stage.kind == "rl" else None
        if paths is None or not paths.log.exists():
            return ""
        return f"{paths.log.relative_to(self.root)}:\n{reason(log_lines(paths.log), last=LOGGED)}"

    def _links(self, pipeline: Pipeline) -> list[dict[str, str]]:
        """Pages of the run that is shown, of the services that are up, and of the report."""
        newest = pipeline.newest()
        pages = dict(newest.progress.pages) if newest and newest.progress else {}
        for name, service in read_services(repository_root(self.root)).items():
            if name in SERVICES and service.url:
                pages.setdefault(SERVICES[name], service.url)
        links = [{"text": text, "url": url} for text, url in pages.items() if url.startswith(("http://", "https://"))]
        if (self.root / "reports" / "index.html").exists():
            links.append({"text": "Report", "url": "/reports/index.html"})
        return links


def _listed(stage: Stage) -> dict[str, Any]:
    """A stage as the list shows it; times are seconds since 1970."""
    told = asdict(stage.progress) if stage.progress else {}
    names = ("phase", "detail", "done", "total", "unit", "seconds_left", "started", "error")
    return {
        "name": stage.name,
        "state": stage.state,
        "seconds": None if stage.state == "running" else stage.seconds,
        "ended": stage.ended,
        "this_run": stage.this_run,
        "counted": count(stage.progress) if stage.progress else "",
        **{name: told.get(name) for name in names},
    }
