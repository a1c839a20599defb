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
    fixed_interval,
    maj_at_k,
    mean,
    number_clusters,
    number_votes,
    pass_at_k,
    reported_k,
)
from compass.golds import gold_of
from compass.sampling.response import CUT_OFF, PROMPT_TOO_LONG
from compass.sampling.score import NO_ANSWER
from compass.verifier import judge_many, same_answer
from compass.verifier.extract import ENDS_INSIDE

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


MEASURES = {
    "accuracy": "avg@k %",
    "ci95": "95% interval",
    "fixed_ci95": "for these problems alone",
    "greedy": "greedy %",
    "lenient": "lenient %",
    "boxed": "in a box %",
    "unanswered": "no answer found %",
    "unextracted": "answer not extracted %",
    "unreadable": "unreadable %",
    "truncated": "cut off %",
    "looped": "ends in repetition %",
    "bare": "bare answer %",
    "operations": "operations per response",
    "accuracy_with_work": "right of those with work %",
    "length": "tokens per response",
    "tokens": "tokens per problem, greedy included",
    "seconds": "seconds per problem",
    "cost": "cost per problem",
    "similar": "resembling a training row",
    "problems": "problems",
    "clusters": "clusters of problems",
    "samples": "samples",
}
"""The scores that the report's table of all measures shows, in its order, with their titles; a title that ends in % is of a fraction.
`pass@k` and `maj@k` come after `greedy`."""


def drop_greedy(samples: pa.Table) -> pa.Table:
    """The sampled responses, and those of which it is not known (null) whether they are greedy."""
    return samples.filter(pc.invert(pc.fill_null(samples.column("greedy"), False)))


def mark_cut_off(samples: pa.Table) -> list[bool]:
    """Which responses `max_tokens` cut off; where nobody recorded why a response ended (null), those that end inside their answer, as the lenient
    mode finds, and so give none."""
    ended = samples.column("finish_reason").to_pylist()
    if "evidence_lenient" not in samples.column_names:
        return [reason == CUT_OFF for reason in ended]
    evidence = samples.column("evidence_lenient").to_pylist()
    return [
        seen == ENDS_INSIDE if reason is None else reason == CUT_OFF
        for reason, seen in zip(ended, evidence, strict=True)
    ]


def is_known(samples: pa.Table, column: str) -> bool:
    """Whether a column is there and says something of any response."""
    return column in samples.column_names and samples.column(column).null_count < samples.num_rows


def benchmark_scores(
    samples: pa.Table, similar: Collection[str] | None = None, clusters: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A model's scores on one benchmark.

    Args:
        samples: columns `id`, `sample`, `greedy`, `answer`, `answer_lenient`, `correct`, `correct_lenient`, `outcome`, `leniencies`,
            `boxed`, `looped`, `tokens`, `finish_reason`, and those of `MEASURED` that are there. Problems may have unequal numbers
            of samples. Of responses made elsewhere `greedy`, `tokens` and `finish_reason` are null; what would follow from them is left out.
        similar: ids of the problems that resemble a training row, or None where that is not known.
        clusters: the cluster of each problem that shares one, by its id.

    Returns:
        Fractions 0..1, all of sampled responses where nothing else is said:

        - `accuracy` (avg@k: each problem's share of right samples, averaged over problems) with `ci95`, and with `fixed_ci95` for these problems alone (not for one response each
          that may be greedy: no further one would change it); and `sd`: how far other seeds
          (`samples`) and other problems (`problems`) would move it, as standard deviations;
        - `pass@k` and `maj@k` from the first k samples of each problem, k up to the fewest samples of a problem;
        - `by_tokens`: what accuracy costs, for k = 1, powers of two and the fewest samples: `tokens` generated per problem by k samples, and `maj` and `pass`, maj@k and
          pass@k with them, maj@k averaged over all disjoint groups of k samples;
        - `greedy` with `greedy_ci95`, `greedy_lenient` and `greedy_length`, where there are greedy responses;
        - `lenient` (avg@k in the verifier's lenient mode) with `lenient_ci95`, and `form` (lenient less strict: right answers lost by form);
        - `truncated` (cut off by `max_tokens`, or as `mark_cut_off` sees it), `boxed` (an answer in a box), `unanswered` (no answer in lenient mode either), `unextracted` (no answer in strict mode, one in
          lenient), `unreadable` (an answer that the verifier cannot read), `looped` (ends in a loop), `leaned` (of the right
          responses those whose verdict leans on a leniency);
        - `bare` (an answer without any work), `operations` (how many a response works out) and `accuracy_with_work` (right ones among the responses
          that are no bare answers, where there are any), where the samples have the columns `bare` and `operations`;
        - `other_gold` (`accuracy`, `ci95`): with the golds that other copies give, where every problem has such a gold (`correct_other`);
        - `clean` (`accuracy`, `ci95`, `problems` without similar ones) and `similar` (how many those are), where known.

        `length` is the mean response in tokens; `tokens`, `seconds` and `cost` are sums per problem, greedy response included;
        `problems`, `clusters` where problems share them, `samples` (fewest per problem), `most_samples` where some have more, and `prompt_too_long` (problems that
        were not sampled, and count as wrong) are counts.
    """
    drawn = drop_greedy(samples)
    marks, lenient, answers = (_by_problem(drawn, name) for name in ("correct", "correct_lenient", "answer"))
    counts = [len(group) for group in marks.values()]
    fewest, mean_count = min(counts), mean(counts)

    def accuracy(shares: Mapping[str, float], count: float = mean_count) -> dict[str, Any]:
        """The mean over problems, with its interval."""
        numbers, values = number_clusters(list(shares), clusters), list(shares.values())
        return {"accuracy": mean(values), "ci95": list(accuracy_interval(values, count, numbers))}

    shares = {name: mean(group) for name, group in marks.items()}
    numbers = number_clusters(list(shares), clusters)
    spread = accuracy_sd(list(shares.values()), counts, numbers)
    scores: dict[str, Any] = accuracy(shares) | {
        "sd": dict(zip(("samples", "problems"), spread, strict=True)),
        "problems": len(marks),
        "samples": fewest,
    }
    if fewest > 1 or is_known(samples, "greedy"):
        scores["fixed_ci95"] = list(fixed_interval(list(shares.values()), counts))
    if numbers is not None:
        scores["clusters"] = len(set(numbers.tolist()))
    if max(counts) > fewest:
        scores["most_samples"] = max(counts)
    scores |= scores_at_k(marks, answers, _by_problem(drawn, "tokens") if is_known(drawn, "tokens") else None)
    greedy = samples.filter(samples.column("greedy"))
    if greedy.num_rows:
        found = accuracy(dict(_rows(greedy, "id", "correct")), 1)
        scores |= {"greedy": found["accuracy"], "greedy_ci95": found["ci95"]}
        scores["greedy_lenient"] = mean(greedy.column("correct_lenient").to_pylist())
        scores["greedy_length"] = mean(greedy.column("tokens").to_pylist())
    found = accuracy({name: mean(group) for name, group in lenient.items()})
    scores |= {
        "lenient": found["accuracy"],
        "lenient_ci95": found["ci95"],
        "form": found["accuracy"] - scores["accuracy"],
    }
    scores |= _shares_of_responses(drawn)
    for name in ("tokens", *MEASURED):
        if is_known(samples, name):
            scores[name] = float(pc.sum(samples.column(name)).as_py() or 0) / len(marks)
    if is_known(drawn, "finish_reason"):
        scores["prompt_too_long"] = len(
            {name for name, reason in _rows(drawn, "id", "finish_reason") if reason == PROMPT_TOO_LONG}
        )
    if similar is not None:
        clean = {name: share for name, share in shares.items() if name not in similar}
        scores["similar"] = len(shares) - len(clean)
        if clean:
            scores["clean"] = accuracy(clean) | {"problems": len(clean)}
    if OTHER_GOLD in drawn.column_names and not drawn.column(OTHER_GOLD).null_count:
        scores["other_gold"] = accuracy({name: mean(group) for name, group in _by_problem(drawn, OTHER_GOLD).items()})
    return scores


def scores_at_k(
    marks: Mapping[Any, Sequence[bool]],
    answers: Mapping[Any, Sequence[str | None]],
    tokens: Mapping[Any, Sequence[int]] | None,
) -> dict[str, Any]:
    """pass@k and maj@k from the first k samples of each problem, and by tokens, where those are known, what more samples bring.

    Args:
        marks: by problem, whether each of its samples is right.
        answers: by problem, what each answers.
        tokens: by problem, how long each is.
    """
    fewest = min(map(len, marks.values()))
    votes = {name: number_votes(answers[name], group, same_answer) for name, group in marks.items()}
    passed = {
        k: mean([pass_at_k(len(group), sum(group), k) for group in marks.values()]) for k in (1, *reported_k(fewest))
    }
    scores: dict[str, Any] = {f"pass@{k}": share for k, share in passed.items() if k > 1}
    if fewest > 1:
        first = [maj_at_k(group[:fewest], votes[name][:fewest], fewest) for name, group in marks.items()]
        scores[f"maj@{fewest}"] = mean(first)
    if tokens is None:
        return scores
    length = mean([mean(group) for group in tokens.values()])
    majorities = {k: mean([maj_at_k(group, votes[name], k) for name, group in marks.items()]) for k in passed}
    by_tokens = [{"k": k, "tokens": k * length, "maj": majorities[k], "pass": share} for k, share in passed.items()]
    return scores | {"by_tokens": by_tokens}


def _by_problem(table: pa.Table, column: str) -> dict[str, list[Any]]:
    """Problem id to a column's values."""
    found: dict[str, list[Any]] = {}
    for name, value in _rows(table, "id", column):
        found.setdefault(name, []).append(value)
    return found


def _shares_of_responses(drawn: pa.Table) -> dict[str, float]:
    """What the sampled responses are like, as shares, and their mean length in tokens."""
    answers = list(_rows(drawn, "outcome", "answer_lenient"))
    leaned = [bool(names) for names, right in _rows(drawn, "leniencies", "correct") if right]
    length = {"length": mean(drawn.column("tokens").to_pylist())} if is_known(drawn, "tokens") else {}
    return (
        length
        | {
            "truncated": mean(mark_cut_off(drawn)),
            "boxed": mean(drawn.column("boxed").to_pylist()),
            "unanswered": mean([lenient is None for _, lenient in answers]),
            "unextracted": mean([outcome == NO_ANSWER and lenient is not None for outcome, lenient in answers]),
            "unreadable": mean([outcome == "unrecognised" for outcome, _ in answers]),
            "looped": mean(drawn.column("looped").to_pylist()),
            "leaned": mean(leaned) if leaned else 0.0,
        }
        | (_work_shown(drawn) if "bare" in drawn.column_names else {})
    )


def _work_shown(drawn: pa.Table) -> dict[str, float]:
    """How much work the sampled responses show, and the accuracy of those that answer and show some."""
    bare = drawn.column("bare").to_pylist()
    worked = [
        right
        for right, is_bare, answer in _rows(drawn, "correct", "bare", "answer_lenient")
        if not is_bare and answer is not None
    ]
    found = {"bare": mean(bare), "operations": mean(drawn.column("operations").to_pylist())}
    return found | ({"accuracy_with_work": mean(worked)} if worked else {})


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


def _rows(table: pa.Table, *columns: str) -> Any:
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)
