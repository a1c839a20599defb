"""Whether the order of the models hangs on how they were asked and how their responses are scored: other prompts, readers, limits, golds and choices of problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from compass.evaluation.memorised import completed_problems, summarise_memorised
from compass.evaluation.other_readers import READERS
from compass.page.blocks import Note, Part, Section, Table
from compass.report.headline import AVERAGE, percent
from compass.report.run import Run

TEXT_READERS = ("boxed-text", "minerva-text", "last-number")
"""Readers that compare texts: all responses of a page in seconds. `compass score --readers all` has the others."""

LEAST_READ = 0.5
"""Share of all responses in which a reader finds an answer, below which it says nothing about the models."""

Accuracies = dict[str, dict[str, float]]
"""Model and benchmark to its accuracy, 0..1; every model has the same benchmarks."""


def sensitivity_section(run: Run) -> Section:
    """Each way of asking and scoring with the models' accuracies, and in how many of them the models stand in the same order."""
    every = {"as on this page": _measure(run, lambda score: score["accuracy"])}
    every |= dict(other_ways(run)) if len(every["as on this page"]) > 1 else {}
    own, *_ = (every := _restrict(every)).values() or [{}]
    others = {name: found for name, found in every.items() if found is not own}
    if not others:
        return Section("Other ways of asking and scoring", [])
    order = sorted(own, key=lambda model: -_mean(own[model]))
    means = {name: {model: _mean(found[model]) for model in order} for name, found in others.items()}
    kept = [name for name, found in means.items() if _keeps(order, found)]
    rows = [["as on this page", *(percent(_mean(own[model])) for model in order), ""]]
    rows += [
        [name, *(percent(found[model]) for model in order), "yes" if name in kept else "no"]
        for name, found in means.items()
    ]
    asked = "ask the models and score their responses" if run.prompts is not None else "score the same responses"
    parts: list[Part] = [
        f"The order of the models, {', '.join(order)}, holds in {len(kept)} of {len(others)} other ways to {asked}.",
        Table(["asked or scored", *(f"{model} %" for model in order), "same order"], rows),
        Note(
            "Means over benchmarks. Models that stand close together change places by chance as well: the paired verdicts above say which differences are sure. Readers "
            f"that find an answer in fewer than {100 * LEAST_READ:.0f}% of the responses are left out."
        ),
    ]
    return Section("Other ways of asking and scoring", parts, "sensitivity")


def other_ways(run: Run) -> Iterator[tuple[str, Accuracies]]:
    """Each other way of asking and scoring that the run's files allow, with every model's accuracies."""
    for name, value in (
        ("lenient reading", lambda score: score.get("lenient")),
        ("greedy responses", lambda score: score.get("greedy")),
        ("majority of the samples", lambda score: score.get(f"maj@{score['samples']}")),
    ):
        if found := _measure(run, value):
            yield name, found
    if any("other_gold" in score for scored in run.results.scores.values() for score in scored.values()):
        golds = _measure(run, lambda score: score.get("other_gold", score)["accuracy"])
        if golds:
            yield "golds of other copies, where a benchmark has them", golds
    if run.samples is None:
        return
    if {model for model in run.models if AVERAGE in run.results.scores[model]} - _models(run.samples):
        return
    yield from _other_problems(run, run.samples)
    limits = [setup.get("sampling", {}).get("max_tokens") for setup in run.setups.values()]
    if limits := [limit for limit in limits if limit is not None]:
        half = min(limits) // 2
        name = f"half the length limit: responses over {half:,} tokens count as wrong"
        yield name, _score(run, run.samples, lambda row: row["correct"] and row["tokens"] <= half)[0]
    yield from _other_prompts(run)
    golds = {row["id"]: row["answer"] for row in run.problems.to_pylist()} if run.problems is not None else {}
    for name in TEXT_READERS if golds.keys() >= set(run.samples["id"].unique().to_pylist()) else ():
        reader = READERS[name]
        found, read = _score(
            run, run.samples, lambda row, grade=reader.grade: grade(golds[row["id"]], row["response"] or "")
        )
        if read >= LEAST_READ:
            yield f"reader {name} ({reader.source})", found


def _other_problems(run: Run, samples: pa.Table) -> Iterator[tuple[str, Accuracies]]:
    """Without problems that resemble trained rows, whose figure is missing, or that a model completes from their beginning."""
    rows = run.problems.to_pylist() if run.problems is not None else []
    for name, left_out in (
        ("without problems that resemble trained rows", {row["id"] for row in rows if row.get("similar")}),
        ("without problems whose figure is missing", set(run.missing_figures)),
        ("without problems that a model completes from their beginning", completed_problems(run.memorised)),
    ):
        kept = samples.filter(pa.array([one not in left_out for one in samples["id"].to_pylist()], pa.bool_()))
        if 0 < kept.num_rows < samples.num_rows:
            yield name, _score(run, kept, lambda row: row["correct"])[0]


def _other_prompts(run: Run) -> Iterator[tuple[str, Accuracies]]:
    """Each prompt with which all models were asked the problems of the page."""
    if run.samples is None or run.prompts is None:
        return
    asked, models = set(run.samples["id"].unique().to_pylist()), _models(run.samples)
    for prompt in run.prompts["prompt"].unique().to_pylist():
        rows = run.prompts.filter(pa.compute.equal(run.prompts["prompt"], prompt))
        if models <= _models(rows) and set(rows["id"].unique().to_pylist()) == asked:
            yield f"prompt {prompt}", _score(run, rows, lambda row: row["correct"])[0]


def _restrict(ways: Mapping[str, Accuracies]) -> dict[str, Accuracies]:
    """The ways on the benchmarks that all models have; those without one left out."""
    found = {
        name: {
            model: {benchmark: own[benchmark] for benchmark in own if all(benchmark in one for one in way.values())}
            for model, own in way.items()
        }
        for name, way in ways.items()
    }
    return {name: way for name, way in found.items() if way and all(way.values())}


def memorised_section(run: Run) -> Section:
    """How many problems each model completes from their beginning (`compass memorised`)."""
    title = "Problems known by heart"
    if run.memorised is None:
        return Section(title, [])
    plain, shares = ("model", "benchmark", "shown", "problems"), ("completed", "rouge_l", "answered")
    rows = [
        [*(one[name] for name in plain), *(percent(one[name]) for name in shares)]
        for one in summarise_memorised(run.memorised)
    ]
    parts: list[Part] = [
        Note(
            "Each model was shown the beginning of a problem, as plain text, and went on greedily. Completed: it wrote the hidden end word by word; ROUGE-L: the share of the end's words "
            "that it wrote in their order; answered: it gave the right answer without having seen the end. Compare with a benchmark that is younger than the model: endings that "
            "many problems share can be completed by whoever knows their style."
        ),
        Table(["model", "benchmark", "shown %", "problems", "completed %", "ROUGE-L %", "answered %"], rows),
    ]
    return Section(title, parts, "memorised")


def _keeps(order: list[str], found: Mapping[str, float]) -> bool:
    """Whether no model stands above one that is before it in the order; rounding in the last digit turns nothing round."""
    return all(found[a] >= found[b] - 1e-9 for a, b in pairwise(order))


def _mean(found: Mapping[str, float]) -> float:
    return float(np.mean(list(found.values())))


def _models(rows: pa.Table) -> set[str]:
    return set(rows["model"].unique().to_pylist())


def _measure(run: Run, value: Callable[[Mapping[str, Any]], float | None]) -> Accuracies:
    """A score of every model on every benchmark; empty where one has none."""
    found: Accuracies = {}
    for model, scored in run.results.scores.items():
        if AVERAGE in scored:
            each = {benchmark: value(score) for benchmark, score in scored.items() if benchmark != AVERAGE}
            known = {benchmark: one for benchmark, one in each.items() if one is not None}
            if len(known) < len(each):
                return {}
            found[model] = known
    return found


def _score(
    run: Run, samples: pa.Table, is_right: Callable[[Mapping[str, Any]], bool | None]
) -> tuple[Accuracies, float]:
    """Every model's mean over problems on each benchmark, and the share of responses with an answer (`is_right` is not None)."""
    marks: dict[str, dict[str, dict[str, list[bool]]]] = {}
    read, count = 0, 0
    columns = ["model", "benchmark", "id", "greedy", "correct", "tokens", "response"]
    for batch in samples.select(columns).to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            if not row["greedy"]:
                verdict = is_right(row)
                read, count = read + (verdict is not None), count + 1
                problems = marks.setdefault(row["model"], {}).setdefault(row["benchmark"], {})
                problems.setdefault(row["id"], []).append(bool(verdict))
    found = {
        model: {
            benchmark: float(np.mean([np.mean(group) for group in problems.values()]))
            for benchmark, problems in own.items()
        }
        for model, own in marks.items()
        if model in run.results.scores
    }
    return found, read / max(count, 1)
