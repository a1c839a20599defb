"""What a flow run shows beside its logs: how far each stage is, what it dropped, the scores, and where to look further.

All of it is a convenience: where Prefect's server or MLflow cannot be reached, the stage goes on and the log says so once.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from prefect import get_run_logger
from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from compass.page.blocks import Section
from compass.page.markdown import to_markdown
from compass.report.outputs import STAGES, find_outputs
from compass.report.terminal_tables import scores_table
from compass.runs.progress import StageProgress
from compass.runs.progress_display import describe_step
from compass.services.servers import find_page
from compass.services.state import read_services


class ProgressArtifact:
    """The progress bar of one stage, and the link to its run in MLflow as soon as the stage knows it."""

    def __init__(self) -> None:
        self._artifact: UUID | None = None
        self._shown: tuple[float, str] | None = None
        self._linked = False

    def show(self, progress: StageProgress) -> None:
        """Show how far the stage is now; the bar of a stage that ended well is full."""
        for title, address in progress.pages.items():
            if "MLflow" in title and not self._linked:
                self._linked = True
                _show_link("mlflow-run", title, address, "scores and curves")
        percent, words = 0.0, describe_step(progress, progress.seconds_left) or progress.state
        if progress.state == "finished":
            percent, words = 100.0, "done"
        elif progress.total:
            percent = round(min(100.0, 100 * progress.done / progress.total), 1)
        if (percent, words) == self._shown:
            return
        self._shown = percent, words
        text = f"**{progress.stage}**: {words}"
        if self._artifact is None:
            # As Prefect's keys have it: lower-case letters, digits and dashes.
            name = "".join(letter if letter.isalnum() else "-" for letter in progress.stage.lower())
            key = f"progress-{name}"
            self._artifact = _safely("progress", lambda: create_progress_artifact(percent, key, text))
        else:
            artifact = self._artifact
            _safely("progress", lambda: update_progress_artifact(artifact, percent, text))


def show_results(stage: str, root: Path) -> None:
    """The tables that a stage which ended well adds to: rows dropped so far, or the scores."""
    try:
        if stage == "evaluate":
            _show_scores(root)
        elif stage in STAGES:
            _show_counts(root)
    except Exception as error:  # a page is not worth a stage
        get_run_logger().warning("no tables: %s", error)


def _show_scores(root: Path) -> None:
    measured = json.loads((root / "metrics" / "evaluate.json").read_text(encoding="utf-8"))
    text = to_markdown("Scores", [Section("Accuracy", [scores_table(measured["models"])])])
    create_markdown_artifact(text, "scores", "Scores per model and benchmark")


def _show_counts(root: Path) -> None:
    rows = [
        {
            "stage": counts.stage,
            "read": counts.read,
            "kept": counts.kept,
            "dropped": counts.read - counts.kept,
            "most frequent reasons": counts.reasons(4),
        }
        for counts in find_outputs(root / "data").counts()
    ]
    create_table_artifact(rows, "drop-funnel", "Rows read, kept and dropped per stage")


def show_links(root: Path) -> None:
    """Links to the pages that `compass up` serves: the live page, which leads on to the report and the ledger."""
    shown = (
        ("live", "Live page", "this run, as it goes"),
        ("mlflow", "All runs in MLflow", "compare runs"),
    )
    for name, title, what in shown:
        service = read_services(root).get(name)
        if service and (url := find_page(service)):
            _show_link(f"{name}-page", title, url, what)


def _show_link(key: str, title: str, url: str, what: str) -> None:
    """A link to click on in the list of artifacts already: the list shows the description, and only a click on it the rest."""
    _safely(title, lambda: create_link_artifact(url, title, key, f"[{title}]({url}): {what}"))


def _safely(what: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # whatever Prefect's client raises: the stage is worth more
        logging.getLogger(__name__).debug("%s: not shown", what, exc_info=error)
        return None
