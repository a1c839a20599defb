"""What the page of a pipeline's run says about it, in a paragraph and a line of links."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compass.runs.repository import git_state
from compass.runs.run_name import Change

SHOWN = 8
"""Changed settings that the paragraph spells out."""


def description(
    profile: str,
    changes: list[Change] | None,
    scores: Mapping[str, Mapping[str, Any]],
    summaries: Mapping[str, Mapping[str, Any]],
    *,
    report: bool,
    folder: str | Path = ".",
) -> str:
    """The description in Markdown; `{experiment}` and `{run}` stand for the ids of the experiment and the stage's run.

    Args:
        profile: the profile's name.
        changes: the settings that differ from it; None where the profile could not be read.
        scores: model to its scores, as `metrics/evaluate.json` has them; empty before evaluation.
        summaries: stage to the content of its metrics file, as far as stages have run.
        report: whether the stage's run has the report.
        folder: the repository.
    """
    sentences = [_settings(profile, changes), *_rows(summaries), *_scores(scores), *_commit(folder)]
    links = _links(report=report)
    return " ".join(sentences) + (f"\n\n{' · '.join(links)}" if links else "")


def _settings(profile: str, changes: list[Change] | None) -> str:
    if changes is None:
        return f"Profile `{profile}`, which is not in `profiles/`: all settings are in `settings.json`."
    if not changes:
        return f"Profile `{profile}`, unchanged."
    shown = ", ".join(f"`{one.name}` {one.after} (profile: {one.before})" for one in changes[:SHOWN])
    more = f" and {len(changes) - SHOWN} more" if len(changes) > SHOWN else ""
    return f"Profile `{profile}` with {shown}{more}."


def _rows(summaries: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How many rows came in and how many were left."""
    read = summaries.get("collect", {}).get("read")
    kept = summaries.get("curriculum", {}).get("kept")
    return [f"Curation kept {kept:,} of {read:,} rows."] if read is not None and kept is not None else []


def _scores(scores: Mapping[str, Mapping[str, Any]]) -> list[str]:
    averages = {model: scored["average"] for model, scored in scores.items() if "average" in scored}
    if not averages:
        return ["Not evaluated yet."]
    told = [f"{model} {_share(score['accuracy'])} ({_range(score['ci95'])})" for model, score in averages.items()]
    sentences = [f"Average accuracy with 95% interval: {', '.join(told)}."]
    last, score = list(averages.items())[-1]
    if (gain := score.get("over_base")) is not None:
        low, high = (100 * bound for bound in score["over_base_ci95"])
        sentences.append(f"{last} over base: **{100 * gain:+.1f} points** ({low:+.1f} to {high:+.1f}).")
    return sentences


def _commit(folder: str | Path) -> list[str]:
    state = git_state(folder)
    if not state:
        return []
    return [f"Commit `{state['commit'][:10]}`{' with changes' if state['dirty'] == 'true' else ''}."]


def _links(*, report: bool) -> list[str]:
    links = []
    if page := os.environ.get("COMPASS_PREFECT_URL"):
        links.append(f"[Prefect flow run]({page})")
    if report:
        links.append("[report](#/experiments/{experiment}/runs/{run}/artifacts/reports/index.html)")
    if name := os.environ.get("DVC_EXP_NAME"):
        links.append(f"DVC experiment `{name}`")
    return links


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def _range(interval: Any) -> str:
    low, high = interval
    return f"{_share(low)} to {_share(high)}"
