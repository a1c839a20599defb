"""What a flow run shows beside its logs: how far each stage is, what it dropped, the scores, and where to look further.

All of it is a convenience: where Prefect's server or MLflow cannot be reached, the stage goes on and the log says so once.
"""

from __future__ import annotations

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

from compass.durations import duration
from compass.runs.progress import StageProgress
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
        percent = _format_percent(progress)
        shown = percent, "done" if progress.state == "finished" else describe(progress)
        if shown == self._shown:
            return
        self._shown = shown
        text = f"**{progress.stage}**: {shown[1]}"
        if self._artifact is None:
            key = f"progress-{_make_key(progress.stage)}"
            self._artifact = _safely("progress", lambda: create_progress_artifact(percent, key, text))
        else:
            artifact = self._artifact
            _safely("progress", lambda: update_progress_artifact(artifact, percent, text))


def describe(progress: StageProgress) -> str:
    """`sampling, 120 of 768 problems, 3 min left`."""
    total = "" if progress.total is None else f" of {progress.total:,.0f}"
    count = f"{progress.done:,.0f}{total} {progress.unit}".strip() if progress.unit or progress.total else ""
    left = "" if progress.seconds_left is None else f"{duration(progress.seconds_left)} left"
    return ", ".join(filter(None, (progress.phase, progress.detail, count, left))) or progress.state


def show_results(stage: str, root: Path) -> None:
    """The tables that a stage which ended well adds to: rows dropped so far, or the scores."""
    from compass.report.results import read_results

    try:
        results = read_results(root)
    except Exception as error:  # a page is not worth a stage
        get_run_logger().warning("no tables: %s", error)
        return
    if stage in {counts.stage for counts in results.counts}:
        rows = [
            {
                "stage": counts.stage,
                "read": counts.read,
                "kept": counts.kept,
                "dropped": counts.read - counts.kept,
                "most frequent reasons": counts.reasons(4),
            }
            for counts in results.counts
        ]
        _safely("the rows", lambda: create_table_artifact(rows, "drop-funnel", "Rows read, kept and dropped per stage"))
    if stage == "evaluate" and results.scores:
        text = format_scores(results.scores)
        _safely("the scores", lambda: create_markdown_artifact(text, "scores", "Scores per benchmark and model"))


def format_scores(scores: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Sampled accuracy in percent with its 95% interval: a row per benchmark, a column per model.

    Args:
        scores: model to benchmark (and `average`) to scores, as `metrics/evaluate.json` holds them.
    """
    models = list(scores)
    lines = [f"| benchmark | {' | '.join(models)} |", f"|---|{'---:|' * len(models)}"]
    for benchmark in next(iter(scores.values())):
        cells = (_score(scores[model][benchmark]) for model in models)
        lines.append(f"| {benchmark} | {' | '.join(cells)} |")
    return "\n".join(["Accuracy in percent, sampled, with its 95% interval.", "", *lines])


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


def show_command(command: str) -> None:
    """The command that does the same in a terminal."""
    text = f"This run does what this command does in a terminal:\n\n```sh\n{command}\n```\n"
    _safely("the command", lambda: create_markdown_artifact(text, "command", "The same in a terminal"))


def _show_link(key: str, title: str, url: str, what: str) -> None:
    """A link to click on in the list of artifacts already: the list shows the description, and only a click on it the rest."""
    _safely(title, lambda: create_link_artifact(url, title, key, f"[{title}]({url}): {what}"))


def _format_percent(progress: StageProgress) -> float:
    if progress.state == "finished":
        return 100.0
    return round(min(100.0, 100 * progress.done / progress.total), 1) if progress.total else 0.0


def _score(score: dict[str, Any]) -> str:
    low, high = score["ci95"]
    return f"{100 * score['accuracy']:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def _make_key(name: str) -> str:
    """A name as Prefect's artifact keys have it: lower-case letters, digits and dashes."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower())


def _safely(what: str, call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:  # whatever Prefect's client raises: the stage is worth more
        logging.getLogger(__name__).debug("%s: not shown", what, exc_info=error)
        return None
