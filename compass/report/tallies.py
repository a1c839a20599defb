"""How often each model solved each problem: what the heat map, the lists of gained and lost problems and the viewer count from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from typing import Any

import numpy as np
import pyarrow as pa

from compass.evaluation.benchmark_scores import mark_cut_off

COUNTED = [
    "model",
    "benchmark",
    "id",
    "greedy",
    "correct",
    "correct_lenient",
    "answer_lenient",
    "outcome",
    "finish_reason",
]
"""The columns of samples that are counted."""

SOLVED = 0.5
"""A problem counts as solved by a model that answers it right in at least this share of its samples."""


@dataclass(frozen=True)
class Tally:
    """One model on one problem: counts over its samples, greedy responses left out; `greedy` is None where there is none.

    `unread`: responses without an answer that could be read, in the lenient mode either.
    """

    samples: int = 0
    right: int = 0
    right_lenient: int = 0
    cut_off: int = 0
    unread: int = 0
    greedy: bool | None = None

    @property
    def share(self) -> float:
        """Share of right samples, 0..1; 0 where nothing was sampled."""
        return self.right / self.samples if self.samples else 0.0

    @property
    def turns_by_chance(self) -> float:
        """How often one half of the samples solves the problem and the other does not, over all ways to halve them: gained or lost without any change of the model."""
        return _turns_by_chance(self.samples, self.right)

    @property
    def solved(self) -> bool:
        """Whether at least `SOLVED` of the samples are right; without samples, whether the greedy response is."""
        return self.share >= SOLVED if self.samples else bool(self.greedy)


@cache
def _turns_by_chance(samples: int, right: int) -> float:
    from scipy.stats import hypergeom

    half = samples // 2
    least = ceil(SOLVED * half)
    first = np.arange(max(least, half - samples + right), min(half, right) + 1)  # right ones in a half that solves it
    if not half or not len(first):
        return 0.0
    other_fails = hypergeom.cdf(least - 1, samples - half, right - first, half)
    return float(hypergeom.pmf(first, samples, right, half) @ other_fails)


@dataclass(frozen=True)
class Item:
    """A benchmark's problem with each model's tally; texts and level are None where evaluation kept no problems."""

    benchmark: str
    id: str
    problem: str | None
    answer: str | None
    level: str | None
    tallies: Mapping[str, Tally]

    def fate(self, before: str, after: str) -> str:
        """`gained`, `lost`, `both` or `neither`: which of two models solved it; empty where one did not answer it."""
        if before not in self.tallies or after not in self.tallies:
            return ""
        marks = (self.tallies[before].solved, self.tallies[after].solved)
        return {(False, True): "gained", (True, False): "lost", (True, True): "both", (False, False): "neither"}[marks]


def tally(samples: pa.Table, problems: pa.Table | None = None) -> list[Item]:
    """Every problem that some model answered, by benchmark and in the order of evaluation.

    Args:
        samples: with the columns `COUNTED`.
        problems: rows of `compass.evaluation.results.PROBLEMS`, None where they were not kept.
    """
    counted: dict[tuple[str, str], dict[str, Tally]] = {}
    for row in _counts(samples):
        models = counted.setdefault((row["benchmark"], row["id"]), {})
        before = models.get(row["model"], Tally())
        if row["greedy"]:
            greedy = row["correct_sum"] > 0
            models[row["model"]] = replace(before, greedy=greedy)
        else:
            names = ("correct_count", "correct_sum", "correct_lenient_sum", "cut_off_sum", "unread_sum")
            models[row["model"]] = Tally(*(int(row[name] or 0) for name in names), before.greedy)
    rows = problems.to_pylist() if problems is not None else []
    known: dict[tuple[str, str], dict[str, Any]] = {(row["benchmark"], row["id"]): row for row in rows}
    order = {name: place for place, name in enumerate(samples["benchmark"].unique().to_pylist())}
    items = []
    for benchmark, id_ in sorted(counted, key=lambda place: order[place[0]]):
        row = known.get((benchmark, id_), {})
        texts = (row.get("problem"), row.get("answer"), row.get("level"))
        items.append(Item(benchmark, id_, *texts, counted[benchmark, id_]))
    return items


def shares_by_benchmark(items: list[Item], models: list[str]) -> dict[str, dict[str, list[float]]]:
    """Benchmark to model to the shares of right samples, the problems from the least to the most often solved."""
    shares: dict[str, dict[str, list[float]]] = {}
    for benchmark in dict.fromkeys(item.benchmark for item in items):
        own = [item for item in items if item.benchmark == benchmark]
        own.sort(key=lambda item: sum(one.share for one in item.tallies.values()))
        here = [model for model in models if any(model in item.tallies for item in own)]
        shares[benchmark] = {model: [item.tallies.get(model, Tally()).share for item in own] for model in here}
    return shares


def _counts(samples: pa.Table) -> list[dict[str, Any]]:
    table = samples.select(["benchmark", "id", "model", "greedy", "correct", "correct_lenient"])
    answers = zip(samples["answer_lenient"].to_pylist(), samples["outcome"].to_pylist(), strict=True)
    unread = [lenient is None or read == "unrecognised" for lenient, read in answers]
    table = table.append_column("cut_off", pa.array(mark_cut_off(samples), pa.bool_()))
    table = table.append_column("unread", pa.array(unread, pa.bool_()))
    grouped = table.group_by(["benchmark", "id", "model", "greedy"], use_threads=False).aggregate(
        [
            ("correct", "sum"),
            ("correct", "count"),
            *((name, "sum") for name in ("correct_lenient", "cut_off", "unread")),
        ]
    )
    return grouped.to_pylist()
