"""Scores of one model on one benchmark, from its scored samples, and the average over benchmarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.evaluation.estimators import avg_at_k, maj_at_k, pass_at_k, reported_k
from compass.evaluation.statistics import accuracy_interval, average_interval, paired_difference
from compass.sampling.response import PROMPT_TOO_LONG
from compass.verifier import same_answer

NOT_AVERAGED = ("ci95", "greedy_ci95", "problems", "samples", "prompt_too_long")
"""Scores whose average over benchmarks is not their mean."""


def problem_shares(samples: pa.Table) -> dict[str, float]:
    """Each problem's share of right samples, greedy responses left out, in the order of the rows."""
    drawn = samples.filter(pc.invert(samples.column("greedy")))
    correct: dict[str, list[bool]] = {}
    for name, right in zip(drawn.column("id").to_pylist(), drawn.column("correct").to_pylist(), strict=True):
        correct.setdefault(name, []).append(right)
    return {name: avg_at_k(marks) for name, marks in correct.items()}


def benchmark_scores(samples: pa.Table) -> dict[str, Any]:
    """A model's scores on one benchmark.

    Args:
        samples: columns `id`, `greedy`, `answer`, `correct`, `boxed`, `correct_lenient`, `leniencies`, `tokens`, `finish_reason`; as many sampled responses
            for every problem.

    Returns:
        Fractions 0..1: `accuracy` (avg@k) with `ci95`, `pass@k`, `maj@k`, `greedy` with `greedy_ci95` where there are
        greedy responses, `truncated` (cut off by `max_tokens`), `boxed` (an answer in a box), `lenient` (accuracy in the verifier's lenient mode), `leaned` (of the right responses those whose verdict leans
        on a leniency). `length` is the mean
        response in tokens, `problems`, `samples` (per problem) and `prompt_too_long` (problems that were not sampled, and
        count as wrong) are counts.
    """
    drawn = samples.filter(pc.invert(samples.column("greedy")))
    groups: dict[str, list[tuple[str | None, bool]]] = {}
    for name, answer, right in _rows(drawn, "id", "answer", "correct"):
        groups.setdefault(name, []).append((answer, right))
    count = len(next(iter(groups.values())))
    shares = [avg_at_k([right for _, right in group]) for group in groups.values()]
    scores: dict[str, Any] = {
        "accuracy": _mean(shares),
        "ci95": list(accuracy_interval(shares, count)),
        "problems": len(groups),
        "samples": count,
    }
    for k in reported_k(count):
        scores[f"pass@{k}"] = _mean(
            [pass_at_k(count, sum(right for _, right in group), k) for group in groups.values()]
        )
    if count > 1:
        scores[f"maj@{count}"] = _mean([_majority(group) for group in groups.values()])
    greedy = samples.filter(samples.column("greedy"))
    if greedy.num_rows:
        marks = [float(right) for right in greedy.column("correct").to_pylist()]
        scores["greedy"] = _mean(marks)
        scores["greedy_ci95"] = list(accuracy_interval(marks, 1))
    reasons = drawn.column("finish_reason").to_pylist()
    scores["length"] = _mean(drawn.column("tokens").to_pylist())
    scores["truncated"] = _mean([reason == "length" for reason in reasons])
    scores["lenient"] = _mean(drawn.column("correct_lenient").to_pylist())
    scores["leaned"] = _leaned(drawn)
    scores["boxed"] = _mean(drawn.column("boxed").to_pylist())
    scores["prompt_too_long"] = reasons.count(PROMPT_TOO_LONG) // count
    return scores


def average_scores(scores: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The unweighted mean of every score over the benchmarks, with the intervals of accuracy and greedy accuracy."""
    each = list(scores.values())
    shared = [name for name in each[0] if all(name in score for score in each)]
    average: dict[str, Any] = {
        "accuracy": _mean([score["accuracy"] for score in each]),
        "ci95": list(average_interval([score["accuracy"] for score in each], [score["ci95"] for score in each])),
        "problems": sum(score["problems"] for score in each),
        "samples": each[0]["samples"],
    }
    average |= {
        name: _mean([score[name] for score in each]) for name in shared if name not in (*NOT_AVERAGED, "accuracy")
    }
    if "greedy_ci95" in shared:
        intervals = [score["greedy_ci95"] for score in each]
        average["greedy_ci95"] = list(average_interval([score["greedy"] for score in each], intervals))
    average["prompt_too_long"] = sum(score["prompt_too_long"] for score in each)
    return average


def over_base(
    model: Mapping[str, Mapping[str, float]], base: Mapping[str, Mapping[str, float]], *, resamples: int, seed: int
) -> dict[str, dict[str, Any]]:
    """The gain in accuracy over the base on every benchmark and on average, paired by problem.

    Args:
        model: benchmark to problem id to share of right samples.
        base: the same of the base model.

    Returns:
        Benchmark, and `average`, to `over_base` (-1..1) and `over_base_ci95`.
    """
    names = list(model)
    ours = [[model[name][problem] for problem in base[name]] for name in names]
    theirs = [list(base[name].values()) for name in names]
    each = {name: ([mine], [other]) for name, mine, other in zip(names, ours, theirs, strict=True)}
    gains: dict[str, dict[str, Any]] = {}
    for name, (mine, other) in (each | {"average": (ours, theirs)}).items():
        gain, interval = paired_difference(mine, other, resamples=resamples, seed=seed)
        gains[name] = {"over_base": gain, "over_base_ci95": list(interval)}
    return gains


def _leaned(drawn: pa.Table) -> float:
    """The share of right responses whose verdict leans on some rule; 0 where none is right."""
    leaned = [bool(names) for names, right in _rows(drawn, "leniencies", "correct") if right]
    return _mean(leaned) if leaned else 0.0


def _majority(group: Sequence[tuple[str | None, bool]]) -> float:
    answers, correct = zip(*group, strict=True)
    return maj_at_k(answers, correct, same_answer)


def _rows(table: pa.Table, *columns: str) -> Any:
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
