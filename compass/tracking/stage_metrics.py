"""Which numbers of a stage are metrics in MLflow: those that people compare, under names that say what they are.

Everything else that a stage measured is in the artifact `summary.json` of its run, and of an RL stage in `data/<stage>/steps.csv`.
MLflow draws metrics whose names share the part before the last `/` in one group, and groups by the alphabet: what matters most
comes first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from compass.curves import CURVES, unlisted_curves

VALIDATION = "val-core/validation/acc/"
"""How verl's accuracy on validation problems begins."""

PARENT_CURVES = ("train/reward", "train/entropy", "train/response_tokens")
"""Curves that the pipeline's run has as well, over the iterations of all RL stages."""

SCORES = ("greedy", "truncated")
"""Scores of a model over all benchmarks, besides its average with interval, and `maj@` and `pass@` at their largest k."""

_REFUSED = re.compile(r"[^/\w.\- :]")
"""Characters that MLflow refuses in a metric's name."""


def stage_metrics(stage: str, summary: Mapping[str, Any]) -> dict[str, float]:
    """The metrics of a stage.

    Args:
        stage: its name.
        summary: the content of `metrics/<stage>.json`.
    """
    if stage == "evaluate":
        return evaluate_metrics(summary.get("models", {}))
    measured = summary.get("metrics") or {}
    if stage == "report":
        return _numbers({"page_bytes": measured.get("page_bytes")})
    dropped = summary.get("dropped")
    rows = {name: summary.get(name) for name in ("read", "kept")}
    if dropped is not None:
        rows["dropped"] = sum(dropped.values())
    reasons = {f"dropped/{reason}": count for reason, count in (dropped or {}).items()}
    return _numbers({**measured, **rows, **reasons})


def evaluate_metrics(models: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Scores of every model: its averages, its accuracy on each benchmark, and what it gained over the base."""
    found: dict[str, Any] = headline(models)
    for model, scored in models.items():
        for benchmark, score in scored.items():
            if benchmark != "average":
                found[f"accuracy/{benchmark}/{model}"] = score.get("accuracy")
        average = scored.get("average", {})
        found |= {f"{name}/{model}": average.get(name) for name in SCORES}
        for kind in ("maj@", "pass@"):
            if names := [name for name in average if name.startswith(kind)]:
                largest = max(names, key=lambda name: int(name.removeprefix(kind)))
                found[f"{largest}/{model}"] = average[largest]
    return _numbers(found)


def headline(models: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Average accuracy of every model with its 95% interval, and the gain over the base with its own: shares from 0 to 1."""
    found: dict[str, Any] = {}
    for model, scored in models.items():
        average = scored.get("average", {})
        found |= _interval(f"average/{model}", average.get("accuracy"), average.get("ci95"))
        found |= _interval(f"gain/{model}", average.get("over_base"), average.get("over_base_ci95"))
    return _numbers(found)


def model_scores(scored: Mapping[str, Any]) -> dict[str, float]:
    """The scores of one model, under names that are the same for every model."""
    average = scored.get("average", {})
    found = _interval("average", average.get("accuracy"), average.get("ci95"))
    found |= {f"accuracy/{name}": score.get("accuracy") for name, score in scored.items() if name != "average"}
    return _numbers(found)


def curve_values(row: Mapping[str, Any]) -> dict[str, float]:
    """One iteration's metrics under their names in MLflow."""
    found = {curve.tracked: row.get(curve.metric) for curve in CURVES}
    found |= {name: row[name] for name in unlisted_curves(row) if not name.startswith(VALIDATION)}
    found["validation/accuracy"] = next((value for key, value in row.items() if key.startswith(VALIDATION)), None)
    return _numbers(found)


def row_counts(summaries: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, float]:
    """Rows kept and dropped by each stage that curates, for the pipeline's run."""
    found = {}
    for stage, summary in summaries:
        if summary.get("dropped") is not None:
            found |= {f"kept/{stage}": summary["kept"], f"dropped/{stage}": sum(summary["dropped"].values())}
    return _numbers(found)


def _interval(name: str, value: Any, interval: Any) -> dict[str, Any]:
    low, high = interval or (None, None)
    return {name: value, f"{name}.low": low, f"{name}.high": high}


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """The finite numbers among values, not those nested in them, in names that MLflow accepts: verl's `pass_at_8` for `pass@8`."""
    return {
        _REFUSED.sub("_", name.replace("@", "_at_"))[:250]: float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    }
