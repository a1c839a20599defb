"""The few numbers by which runs are compared: `metrics/headline.json` for tables, `plots/scores.csv` for a plot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compass.report.results import Results


def measure_headline(results: Results, seconds: Iterable[float] = ()) -> dict[str, float]:
    """The columns of `dvc exp show`.

    Args:
        results: what a run measured.
        seconds: how long each of its stages took.

    Returns:
        Per model its accuracy over all benchmarks in percent, by the model's name; `±`, half the width of the widest of
        their 95% intervals, in points; `kept` and `dropped`, problems after and by curation; `hours` of all stages.
    """
    averages = {model: scores["average"] for model, scores in results.scores.items() if "average" in scores}
    columns = {model: _percent(average["accuracy"]) for model, average in averages.items()}
    if averages:
        columns["±"] = max(_percent((high - low) / 2) for low, high in (one["ci95"] for one in averages.values()))
    if results.counts:
        columns["kept"] = results.counts[-1].kept
        columns["dropped"] = sum(counts.read - counts.kept for counts in results.counts)
    if seconds := list(seconds):
        columns["hours"] = round(sum(seconds) / 3600, 2)
    return columns


def score_rows(results: Results) -> list[Mapping[str, Any]]:
    """One row per model: `model`, `accuracy` and `greedy`, percent over all benchmarks."""
    rows: list[Mapping[str, Any]] = []
    for model, scores in results.scores.items():
        if average := scores.get("average"):
            measures = {"accuracy": average["accuracy"], "greedy": average.get("greedy")}
            rows.append({"model": model, **{name: _percent(one) for name, one in measures.items() if one is not None}})
    return rows


def _percent(share: float) -> float:
    return round(100 * share, 1)
