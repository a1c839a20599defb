"""Whether the order of the models hangs on how their responses are scored: the same responses under other readers, limits and choices of problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from compass.evaluation.other_readers import READERS
from compass.page.blocks import Note, Part, Section, Table
from compass.report.headline import AVERAGE, percent
from compass.report.run import Run

TEXT_READERS = ("boxed-text", "minerva-text", "last-number")
"""Readers that compare texts: all responses of a page in seconds. `compass score --readers all` has the others."""

LEAST_READ = 0.5
"""Share of all responses in which a reader finds an answer, below which it says nothing about the models."""

Accuracies = dict[str, float]
"""Model to its mean over benchmarks, 0..1."""


def sensitivity_section(run: Run) -> Section:
    """Each way of scoring with the models' accuracies, and in how many of them the models stand in the same order."""
    own = {model: scored[AVERAGE]["accuracy"] for model, scored in run.results.scores.items() if AVERAGE in scored}
    others = dict(other_ways(run)) if len(own) > 1 else {}
    if not others:
        return Section("Other ways of scoring", [])
    order = sorted(own, key=lambda model: -own[model])
    kept = [name for name, found in others.items() if all(found[a] >= found[b] for a, b in pairwise(order))]
    rows = [
        [name, *(percent(found[model]) for model in order), "" if found is own else "yes" if name in kept else "no"]
        for name, found in {"as on this page": own, **others}.items()
    ]
    parts: list[Part] = [
        f"The order of the models, {', '.join(order)}, holds in {len(kept)} of {len(others)} other ways to score the same responses.",
        Table(["scored", *(f"{model} %" for model in order), "same order"], rows),
        Note(
            "Means over benchmarks. Models that stand close together change places by chance as well: the paired verdicts above say which differences are sure. Readers "
            f"that find an answer in fewer than {100 * LEAST_READ:.0f}% of the responses are left out."
        ),
    ]
    return Section("Other ways of scoring", parts, "sensitivity")


def other_ways(run: Run) -> Iterator[tuple[str, Accuracies]]:
    """Each other way of scoring that the run's files allow, with every model's accuracy."""
    averages = {model: scored[AVERAGE] for model, scored in run.results.scores.items() if AVERAGE in scored}
    for name, value in (
        ("lenient reading", lambda score: score.get("lenient")),
        ("greedy responses", lambda score: score.get("greedy")),
        ("majority of the samples", lambda score: score.get(f"maj@{score['samples']}")),
        ("without problems that resemble trained rows", _clean),
    ):
        found = {model: value(score) for model, score in averages.items()}
        if None not in found.values():
            yield name, found
    if run.samples is None or {"tokens", "response"} - set(run.samples.column_names):
        return
    if averages.keys() - set(run.samples["model"].unique().to_pylist()):
        return
    limits = [
        setup["sampling"]["max_tokens"] for setup in run.setups.values() if "max_tokens" in setup.get("sampling", {})
    ]
    if limits:
        half = min(limits) // 2
        yield (
            f"half the length limit: responses over {half:,} tokens are wrong",
            _score(run, lambda row: row["correct"] and row["tokens"] <= half)[0],
        )
    golds = {row["id"]: row["answer"] for row in run.problems.to_pylist()} if run.problems is not None else {}
    for name in TEXT_READERS if golds.keys() >= set(run.samples["id"].unique().to_pylist()) else ():
        reader = READERS[name]
        found, read = _score(run, lambda row, grade=reader.grade: grade(golds[row["id"]], row["response"] or ""))
        if read >= LEAST_READ:
            yield f"reader {name} ({reader.source})", found


def _clean(score: Mapping[str, Any]) -> float | None:
    """The accuracy without similar problems, where there are some and others are left."""
    return score["clean"]["accuracy"] if score.get("similar") and "clean" in score else None


def _score(run: Run, is_right: Callable[[Mapping[str, Any]], bool | None]) -> tuple[Accuracies, float]:
    """Every model's mean over benchmarks of its mean over problems, and the share of responses with an answer (`is_right` is not None)."""
    assert run.samples is not None
    marks: dict[str, dict[str, dict[str, list[bool]]]] = {}
    read, count = 0, 0
    columns = ["model", "benchmark", "id", "greedy", "correct", "tokens", "response"]
    for batch in run.samples.select(columns).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            if not row["greedy"]:
                verdict = is_right(row)
                read, count = read + (verdict is not None), count + 1
                problems = marks.setdefault(row["model"], {}).setdefault(row["benchmark"], {})
                problems.setdefault(row["id"], []).append(bool(verdict))
    found = {
        model: float(np.mean([np.mean([np.mean(group) for group in problems.values()]) for problems in own.values()]))
        for model, own in marks.items()
        if model in run.results.scores
    }
    return found, read / max(count, 1)
