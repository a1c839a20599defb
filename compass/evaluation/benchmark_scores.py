"""Scores of one model on one benchmark, from its scored samples, and the average over benchmarks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.evaluation.accuracy import (
    accuracy_interval,
    accuracy_sd,
    average_interval,
    avg_at_k,
    fixed_interval,
    majority_at,
    mean,
    number_clusters,
    number_votes,
    pass_at_k,
    reported_k,
)
from compass.golds import gold_of
from compass.sampling.response import PROMPT_TOO_LONG
from compass.sampling.score import NO_ANSWER
from compass.verifier import judge_many, same_answer

OTHER_GOLD = "correct_other"


MOST_UNREAD = 0.2
"""Share of responses without a readable answer above which a score is in doubt."""


def score_other_golds(scored: pa.Table, items: pa.Table) -> pa.Table:
    """Scored responses with the column `correct_other`: whether the strict mode calls them equal to the other gold, null where there is none.

    Args:
        scored: columns `id` and `response`.
        items: `RECORD` rows of the problems.
    """
    columns = (items.column(name).to_pylist() for name in ("id", "other_answer", "tolerance", "problem"))
    golds = {
        name: (gold_of(other, None, tolerance), problem)
        for name, other, tolerance, problem in zip(*columns, strict=True)
        if other
    }
    rows = list(zip(scored.column("id").to_pylist(), scored.column("response").to_pylist(), strict=True))
    asked = [(*golds[name], text or "") for name, text in rows if name in golds]
    judged = iter(judge_many([(gold, text) for gold, _, text in asked], questions=[problem for _, problem, _ in asked]))
    marks = [next(judged).equal if name in golds else None for name, _ in rows]
    return scored.append_column(OTHER_GOLD, pa.array(marks, type=pa.bool_()))


MEASURED = ("seconds", "cost")
"""Columns that a sampler may add: what a response took, in seconds, and what it cost."""


def benchmark_scores(
    samples: pa.Table, similar: Collection[str] | None = None, clusters: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A model's scores on one benchmark.

    Args:
        samples: columns `id`, `sample`, `greedy`, `answer`, `answer_lenient`, `correct`, `correct_lenient`, `outcome`, `leniencies`,
            `boxed`, `looped`, `tokens`, `finish_reason`, and those of `MEASURED` that are there. Problems may have unequal numbers
            of samples.
        similar: ids of the problems that resemble a training row, or None where that is not known.
        clusters: the cluster of each problem that shares one, by its id.

    Returns:
        Fractions 0..1, all of sampled responses where nothing else is said:

        - `accuracy` (avg@k: each problem's share of right samples, averaged over problems) with `ci95`, and with `fixed_ci95` for these problems alone; and `sd`: how far other seeds
          (`samples`) and other problems (`problems`) would move it, as standard deviations;
        - `pass@k` and `maj@k` from the first k samples of each problem, k up to the fewest samples of a problem;
        - `by_tokens`: what accuracy costs, for k = 1, powers of two and the fewest samples: `tokens` generated per problem by k samples, and `maj` and `pass`, maj@k and
          pass@k with them, maj@k averaged over all disjoint groups of k samples;
        - `greedy` with `greedy_ci95`, `greedy_lenient` and `greedy_length`, where there are greedy responses;
        - `lenient` (avg@k in the verifier's lenient mode) with `lenient_ci95`, and `form` (lenient less strict: right answers lost by form);
        - `truncated` (cut off by `max_tokens`), `boxed` (an answer in a box), `unanswered` (no answer in lenient mode either), `unextracted` (no answer in strict mode, one in
          lenient), `unreadable` (an answer that the verifier cannot read), `looped` (ends in a loop), `leaned` (of the right
          responses those whose verdict leans on a leniency);
        - `other_gold` (`accuracy`, `ci95`): with the golds that other copies give, where every problem has such a gold (`correct_other`);
        - `clean` (`accuracy`, `ci95`, `problems` without similar ones) and `similar` (how many those are), where known.

        `length` is the mean response in tokens; `tokens`, `seconds` and `cost` are sums per problem, greedy response included;
        `problems`, `clusters` where problems share them, `samples` (fewest per problem), `most_samples` where some have more, and `prompt_too_long` (problems that
        were not sampled, and count as wrong) are counts.
    """
    drawn = samples.filter(pc.invert(samples.column("greedy")))
    groups: dict[str, list[tuple[str | None, bool, bool, int]]] = {}
    for name, *row in _rows(drawn, "id", "answer", "correct", "correct_lenient", "tokens"):
        groups.setdefault(name, []).append(tuple(row))  # type: ignore[arg-type]
    counts = [len(group) for group in groups.values()]
    fewest, mean_count = min(counts), sum(counts) / len(counts)
    shares = {name: avg_at_k([right for _, right, *_ in group]) for name, group in groups.items()}
    lenient = [avg_at_k([right for _, _, right, _ in group]) for group in groups.values()]
    numbers = number_clusters(list(groups), clusters)
    by_samples, by_problems = accuracy_sd(list(shares.values()), counts, numbers)
    scores: dict[str, Any] = {
        "accuracy": mean(list(shares.values())),
        "ci95": list(accuracy_interval(list(shares.values()), mean_count, numbers)),
        "fixed_ci95": list(fixed_interval(list(shares.values()), counts)),
        "sd": {"samples": by_samples, "problems": by_problems},
        "problems": len(groups),
        "samples": fewest,
    }
    if numbers is not None:
        scores["clusters"] = len(set(numbers.tolist()))
    if max(counts) > fewest:
        scores["most_samples"] = max(counts)
    for k in reported_k(fewest):
        scores[f"pass@{k}"] = mean(
            [pass_at_k(len(group), sum(right for _, right, *_ in group), k) for group in groups.values()]
        )
    marked = [_mark(group) for group in groups.values()]
    if fewest > 1:
        scores[f"maj@{fewest}"] = mean(
            [majority_at(correct[:fewest], votes[:fewest], fewest) for correct, votes, _ in marked]
        )
    scores["by_tokens"] = _by_tokens(marked, fewest)
    scores |= _greedy(samples.filter(samples.column("greedy")), clusters)
    scores["lenient"] = mean(lenient)
    scores["lenient_ci95"] = list(accuracy_interval(lenient, mean_count, numbers))
    scores["form"] = scores["lenient"] - scores["accuracy"]
    scores |= _shares_of_responses(drawn)
    scores |= {
        name: _sum(samples, name) / len(groups) for name in ("tokens", *MEASURED) if name in samples.column_names
    }
    too_long = {name for name, reason in _rows(drawn, "id", "finish_reason") if reason == PROMPT_TOO_LONG}
    scores["prompt_too_long"] = len(too_long)
    if similar is not None:
        scores |= _clean(shares, similar, mean_count, clusters)
    return scores | _other_gold(drawn, mean_count, clusters)


def _other_gold(drawn: pa.Table, samples: float, clusters: Mapping[str, str] | None) -> dict[str, Any]:
    """The accuracy with the golds of other copies, where every problem has one."""
    if OTHER_GOLD not in drawn.column_names or drawn.column(OTHER_GOLD).null_count:
        return {}
    marks: dict[str, list[bool]] = {}
    for name, right in _rows(drawn, "id", OTHER_GOLD):
        marks.setdefault(name, []).append(right)
    shares = [avg_at_k(group) for group in marks.values()]
    interval = accuracy_interval(shares, samples, number_clusters(list(marks), clusters))
    return {"other_gold": {"accuracy": mean(shares), "ci95": list(interval)}}


def _greedy(greedy: pa.Table, clusters: Mapping[str, str] | None) -> dict[str, Any]:
    if not greedy.num_rows:
        return {}
    marks = [float(right) for right in greedy.column("correct").to_pylist()]
    lenient = mean([float(right) for right in greedy.column("correct_lenient").to_pylist()])
    interval = accuracy_interval(marks, 1, number_clusters(greedy.column("id").to_pylist(), clusters))
    length = mean(greedy.column("tokens").to_pylist())
    return {"greedy": mean(marks), "greedy_ci95": list(interval), "greedy_lenient": lenient, "greedy_length": length}


Marked = tuple[Sequence[bool], Sequence[int | None], Sequence[int]]
"""A problem's samples: which are right, with which a wrong one votes, and their tokens."""


def _mark(group: Sequence[tuple[str | None, bool, bool, int]]) -> Marked:
    answers, correct, _, tokens = zip(*group, strict=True)
    return correct, number_votes(answers, correct, same_answer), tokens


def _by_tokens(groups: Sequence[Marked], fewest: int) -> list[dict[str, float]]:
    """Tokens per problem, maj@k and pass@k by number of samples."""
    length = mean([mean(tokens) for _, _, tokens in groups])
    return [
        {
            "k": k,
            "tokens": k * length,
            "maj": mean([majority_at(correct, votes, k) for correct, votes, _ in groups]),
            "pass": mean([pass_at_k(len(correct), sum(correct), k) for correct, *_ in groups]),
        }
        for k in [1, *reported_k(fewest)]
    ]


def _shares_of_responses(drawn: pa.Table) -> dict[str, float]:
    """What the sampled responses are like, as shares, and their mean length in tokens."""
    answers = list(_rows(drawn, "outcome", "answer_lenient"))
    return {
        "length": mean(drawn.column("tokens").to_pylist()),
        "truncated": mean([reason == "length" for reason in drawn.column("finish_reason").to_pylist()]),
        "boxed": mean(drawn.column("boxed").to_pylist()),
        "unanswered": mean([lenient is None for _, lenient in answers]),
        "unextracted": mean([outcome == NO_ANSWER and lenient is not None for outcome, lenient in answers]),
        "unreadable": mean([outcome == "unrecognised" for outcome, _ in answers]),
        "looped": mean(drawn.column("looped").to_pylist()),
        "leaned": _leaned(drawn),
    }


def _clean(
    shares: Mapping[str, float], similar: Collection[str], samples: float, clusters: Mapping[str, str] | None
) -> dict[str, Any]:
    left = [name for name in shares if name not in similar]
    clean = [shares[name] for name in left]
    scores: dict[str, Any] = {"similar": len(shares) - len(clean)}
    if clean:
        interval = list(accuracy_interval(clean, samples, number_clusters(left, clusters)))
        scores["clean"] = {"accuracy": mean(clean), "ci95": interval, "problems": len(clean)}
    return scores


SUMMED = ("problems", "prompt_too_long", "similar")
"""Scores whose average over benchmarks is their sum."""


def average_scores(scores: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The unweighted mean over the benchmarks of every score that all of them have, with the intervals of those that have one.

    `problems`, `prompt_too_long` and `similar` are summed; `samples` is the fewest of any benchmark; `clean` averages the
    benchmarks that have problems left.
    """
    each = list(scores.values())
    average: dict[str, Any] = {}
    for name, value in each[0].items():
        if not all(name in score for score in each) or name in ("samples", "most_samples", "clusters"):
            continue
        values = [score[name] for score in each]
        if name in SUMMED:
            average[name] = sum(values)
        elif isinstance(value, float | int):
            average[name] = mean(values)
        elif name.endswith("ci95"):
            middle = "accuracy" if name in ("ci95", "fixed_ci95") else name.removesuffix("_ci95")
            average[name] = list(average_interval([score[middle] for score in each], values))
        elif name == "sd":
            average[name] = {part: _root_of_squares([sd[part] for sd in values]) for part in value}
    average["samples"] = min(score["samples"] for score in each)
    if all("by_tokens" in score for score in each):
        points = [{one["k"]: one for one in score["by_tokens"]} for score in each]
        average["by_tokens"] = [
            {name: k if name == "k" else mean([own[k][name] for own in points]) for name in one}
            for k, one in points[0].items()
            if all(k in own for own in points)
        ]
    clean = [score["clean"] for score in each if "clean" in score]
    if clean:
        means, intervals = [one["accuracy"] for one in clean], [one["ci95"] for one in clean]
        average["clean"] = {
            "accuracy": mean(means),
            "ci95": list(average_interval(means, intervals)),
            "problems": sum(one["problems"] for one in clean),
        }
    return average


def _root_of_squares(values: Sequence[float | None]) -> float | None:
    """The standard deviation of the mean of independent benchmarks."""
    known = [value for value in values if value is not None]
    return sum(value**2 for value in known) ** 0.5 / len(values) if len(known) == len(values) else None


def over_base(comparisons: Mapping[str, Any], base: str = "base") -> dict[str, dict[str, dict[str, Any]]]:
    """Every other model's gain over the base, from the paired comparisons.

    Args:
        comparisons: of `compass.evaluation.comparisons.compare_models`.
        base: the base's name.

    Returns:
        Model and benchmark, and `average`, to `over_base` (-1..1), `over_base_ci95` and `over_base_form`: the part of the gain that
        is gone in the lenient reading.
    """
    gains: dict[str, dict[str, dict[str, Any]]] = {}
    for pair in comparisons["pairs"]:
        if base not in (pair["model"], pair["other"]):
            continue
        sign = 1 if pair["other"] == base else -1
        model = pair["model"] if sign > 0 else pair["other"]
        for name, found in {**pair["benchmarks"], "average": pair["average"]}.items():
            if found["problems"]:
                gains.setdefault(model, {})[name] = {
                    "over_base": sign * found["difference"],
                    "over_base_ci95": sorted(sign * limit for limit in found["ci95"]),
                    "over_base_form": sign * found["form"]["difference"],
                }
    return gains


def _leaned(drawn: pa.Table) -> float:
    """The share of right responses whose verdict leans on some rule; 0 where none is right."""
    leaned = [bool(names) for names, right in _rows(drawn, "leniencies", "correct") if right]
    return mean(leaned) if leaned else 0.0


def _rows(table: pa.Table, *columns: str) -> Any:
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)


def _sum(table: pa.Table, column: str) -> float:
    return float(pc.sum(table.column(column)).as_py() or 0)
