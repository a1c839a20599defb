"""Recompute the figures of this bundle from its responses, with Python's standard library and numpy alone.

    python -I recompute.py [FOLDER]     # FOLDER: the bundle, without it the one that holds this file

`responses.jsonl.gz` has one row per response, with the verifier's verdict (`correct`; `correct_lenient` for the lenient reading) and, of a wrong
sampled answer, the number of the first answers to that problem that the verifier calls the same (`vote`). `problems.jsonl.gz` has the problems
and golds, `settings.json` what made the responses, and `figures.json` what the page shows. Every figure is computed again here, by code that
shares nothing with the code that made it, and printed with `equal` or `DIFFERENT`. Exit status 1: some figure differs.

Formulas: avg@k, pass@k (Chen et al. 2021), maj@k (Wang et al. 2022); Wilson's interval with an effective sample size, exact limits near 0 and 1,
MOVER for averages; for differences Student's interval with one more win and one more loss, the sign-flip test, Holm's correction with weights; for
an evaluation that was sampled until a verdict Lan and DeMets' limits, each look from the samples that it had.
p-values that the page drew by chance (averages) are drawn again, with other signs, and count as equal within five standard errors.
What follows from such a p is computed from the page's. Words are not checked: they repeat the figures. Nor is what the verifier decided.
"""

import gzip
import json
import sys
from collections import Counter
from functools import cache
from itertools import combinations
from math import ceil, comb, erfc, exp, gcd, lcm, lgamma, log, pi, sqrt
from pathlib import Path

import numpy as np

DRAWS = 9_999
EXACT = 20_000_000
CLUSTERS = {}
"""Problem id to its benchmark and cluster, of problems that share a stem or a template."""
LOOKS = {"error": 0.05}
"""The error of a test: 5%, or what the limit of the last look leaves of it."""
rng = np.random.default_rng(20_260_101)


# Student's t and the beta distribution


def beta_share(x, a, b):
    """The regularised incomplete beta function, by its continued fraction."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = d
    for m in range(1, 5_000):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):  # fmt: skip
            d = 1 / (1 + step * d)
            c = 1 + step / c
            value *= c * d
        if abs(c * d - 1) < 1e-16:
            break
    return front * value


@cache
def quantile(share, a, b):
    """The beta distribution's quantile, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_share(middle, a, b) < share else (low, middle)
    return (low + high) / 2


def student(freedom, level):
    """Student's two-sided quantile; 2 degrees of freedom at the least."""
    freedom = max(freedom, 2)
    x = quantile(1 - level, freedom / 2, 0.5)
    return sqrt(freedom * (1 - x) / x)


# One model


def by_problem(rows, column="correct"):
    """Problem to a column's values."""
    found = {}
    for row in rows:
        found.setdefault(row["id"], []).append(row[column])
    return found


def shares_of(marks):
    return np.array([np.mean(values) for values in marks.values()])


def numbers_of(names):
    """Each problem's cluster as a number from 0; problems that share a stem or a template share it."""
    known = {}
    return np.array([known.setdefault(CLUSTERS.get(name, (name,)), len(known)) for name in names], dtype=int)


def exact(p, trials, missed):
    """Both limits of a share in so many trials, each of which misses it with this chance (Clopper and Pearson)."""
    right, wrong = float(p * trials), float((1 - p) * trials)
    low = quantile(missed, right, wrong + 1) if right > 0 else 0.0
    return [low, quantile(1 - missed, right + 1, wrong) if wrong > 0 else 1.0]


def accuracy(shares, samples, names):
    """Mean and interval of problems' shares of right samples."""
    n, p, numbers = len(shares), float(shares.mean()), numbers_of(names)
    sizes, sums = np.bincount(numbers), np.bincount(numbers, weights=shares)
    groups, size = len(sizes), n / len(sizes)
    middle = (shares.sum() + size) / (n + 2 * size)  # one more cluster all right, one more all wrong
    off = np.append(sums - sizes * middle, (-size * middle, size - size * middle))
    variance = (groups + 2) / (groups + 1) * (off**2).sum() / (n * (n + 2 * size))
    effective = min(max(middle * (1 - middle) / variance, n**2 / (sizes**2).sum()), n * samples)
    z = student(groups - 1, 0.95)
    centre, scale = p + z * z / (2 * effective), 1 + z * z / effective
    half = z * sqrt(p * (1 - p) / effective + z * z / (4 * effective**2))
    low, high = exact(p, effective, 0.05)
    return p, [max(0.0, min((centre - half) / scale, low)), min(1.0, max((centre + half) / scale, high))]


def on_these_problems(shares, counts):
    """The interval of the accuracy on these problems alone: exact limits for as many trials as there are samples, or as the variance says."""
    n, p = len(shares), float(shares.mean())
    trials = n**2 / (1 / counts).sum()
    if counts.min() >= 4:
        noise = (shares * (1 - shares) / (counts - 1)).sum() + 0.5 * (1 / counts).mean()
        trials = max(trials, p * (1 - p) * n**2 / noise)
    return exact(p, trials, 0.025)


def pass_at(n, right, k):
    return 1 - comb(n - right, k) / comb(n, k)


def majority(marks, votes):
    """The chance that the most frequent answer is right; ties are drawn."""
    wrong = Counter(vote for mark, vote in zip(marks, votes, strict=True) if not mark and vote is not None).values()
    right, most = sum(marks), max(wrong, default=0)
    return 0.0 if not right or right < most else 1 / (1 + sum(count == right for count in wrong))


def majorities(marks, votes, k):
    return {name: majority(marks[name][:k], votes[name][:k]) for name in marks}


def by_tokens(marks, votes, tokens, most):
    """Tokens per problem, maj@k and pass@k of k samples; maj@k over all disjoint groups of k."""
    length, out = float(np.mean([np.mean(values) for values in tokens.values()])), []
    for k in sorted({1, most, *(2**power for power in range(30) if 2**power < most)}):
        voted = [
            np.mean([majority(own[at : at + k], votes[name][at : at + k]) for at in range(0, len(own) // k * k, k)])
            for name, own in marks.items()
        ]
        passed = [pass_at(len(own), sum(own), k) for own in marks.values()]
        out.append({"k": k, "tokens": k * length, "maj": float(np.mean(voted)), "pass": float(np.mean(passed))})
    return out


def cut_off(row):
    """Whether `max_tokens` cut a response off; where its end was not recorded, whether it ends inside its answer."""
    if row["finish_reason"] is None:
        return row.get("evidence_lenient") == "cut off"
    return row["finish_reason"] == "length"


def score(rows, similar):
    """A model's scores on one benchmark."""
    drawn, greedy = ([row for row in rows if bool(row["greedy"]) is kind] for kind in (False, True))
    known = {name: any(row.get(name) is not None for row in rows) for name in ("greedy", "tokens", "finish_reason")}
    marks, votes = by_problem(drawn), by_problem(drawn, "vote")
    counts = np.array([len(values) for values in marks.values()])
    shares, problems, k, mean = shares_of(marks), len(marks), int(counts.min()), counts.mean()
    p, interval = accuracy(shares, mean, marks)
    out = {
        "accuracy": p,
        "ci95": interval,
        "problems": problems,
        "samples": k,
        "sd": {"samples": None, "problems": None},
    }
    if k > 1 or known["greedy"]:
        out["fixed_ci95"] = on_these_problems(shares, counts)
    if k > 1 and problems > 1:
        noise = float((shares * (1 - shares) / (counts - 1)).sum()) / problems**2
        sums = np.bincount(numbers_of(marks), weights=shares - p)
        whole = len(sums) / max(len(sums) - 1, 1) * (sums**2).sum() / problems**2
        out["sd"] = {"samples": sqrt(noise), "problems": sqrt(max(whole - noise, 0))}
    if len(set(numbers_of(marks))) < problems:
        out["clusters"] = len(set(numbers_of(marks)))
    if counts.max() > k:
        out["most_samples"] = int(counts.max())
    points = by_tokens(marks, votes, by_problem(drawn, "tokens") if known["tokens"] else {"": [0]}, k)
    out |= {f"pass@{one['k']}": one["pass"] for one in points if one["k"] > 1}
    if k > 1:
        out[f"maj@{k}"] = float(np.mean(list(majorities(marks, votes, k).values())))
    if greedy:
        right = np.array([float(row["correct"]) for row in greedy])
        out["greedy"], out["greedy_ci95"] = accuracy(right, 1, [row["id"] for row in greedy])
        out["greedy_length"] = float(np.mean([row["tokens"] for row in greedy]))
        out["greedy_lenient"] = float(np.mean([row["correct_lenient"] for row in greedy]))
    out["lenient"], out["lenient_ci95"] = accuracy(shares_of(by_problem(drawn, "correct_lenient")), mean, marks)
    out["form"] = out["lenient"] - p
    right = [row for row in drawn if row["correct"]]
    if known["tokens"]:
        out["by_tokens"], out["length"] = points, float(np.mean([row["tokens"] for row in drawn]))
    for name, values in {
        "truncated": [cut_off(row) for row in drawn],
        "boxed": [row["boxed"] for row in drawn],
        "looped": [row["looped"] for row in drawn],
        "unanswered": [row["answer_lenient"] is None for row in drawn],
        "unextracted": [row["outcome"] == "none" and row["answer_lenient"] is not None for row in drawn],
        "unreadable": [row["outcome"] == "unrecognised" for row in drawn],
        "leaned": [bool(row["leniencies"]) for row in right] or [0],
    }.items():
        out[name] = float(np.mean(values))
    if "bare" in rows[0]:
        out["bare"] = float(np.mean([row["bare"] for row in drawn]))
        out["operations"] = float(np.mean([row["operations"] for row in drawn]))
        if worked := [row["correct"] for row in drawn if not row["bare"] and row["answer_lenient"] is not None]:
            out["accuracy_with_work"] = float(np.mean(worked))
    for name in ("tokens", "seconds", "cost"):
        if any(row.get(name) is not None for row in rows):
            out[name] = sum(row[name] or 0 for row in rows) / problems
    if known["finish_reason"]:
        out["prompt_too_long"] = len({row["id"] for row in drawn if row["finish_reason"] == "prompt_too_long"})
    if similar is not None:
        clean = {name: own for name, own in marks.items() if name not in similar}
        out["similar"] = problems - len(clean)
        if clean:
            share, limits = accuracy(shares_of(clean), mean, clean)
            out["clean"] = {"accuracy": share, "ci95": limits, "problems": len(clean)}
    if all(row.get("correct_other") is not None for row in drawn):
        share, limits = accuracy(shares_of(by_problem(drawn, "correct_other")), mean, marks)
        out["other_gold"] = {"accuracy": share, "ci95": limits}
    return out


def mover(values, intervals):
    """The interval of a mean of independent benchmarks."""
    middle, n = float(np.mean(values)), len(values)
    low, high = (sqrt(sum((v - i[side]) ** 2 for v, i in zip(values, intervals, strict=True))) / n for side in (0, 1))
    return [max(0.0, middle - low), min(1.0, middle + high)]


NOT_AVERAGED = {"samples", "most_samples", "clusters", "clean", "other_gold", "by_tokens"}


def average(each):
    """Means over benchmarks of what all of them have."""
    out = {"samples": min(one["samples"] for one in each)}
    for name in set.intersection(*(set(one) for one in each)) - NOT_AVERAGED:
        values = [one[name] for one in each]
        if name in ("problems", "prompt_too_long", "similar"):
            out[name] = sum(values)
        elif name.endswith("ci95"):
            of = name.removesuffix("ci95").rstrip("_")
            out[name] = mover([one["accuracy" if of in ("", "fixed") else of] for one in each], values)
        elif name == "sd":
            parts = {part: [value[part] for value in values] for part in ("samples", "problems")}
            out[name] = {
                part: None if None in own else float(np.linalg.norm(own)) / len(own) for part, own in parts.items()
            }
        else:
            out[name] = float(np.mean(values))
    if all("by_tokens" in one for one in each):
        points = [{point["k"]: point for point in one["by_tokens"]} for one in each]
        out["by_tokens"] = [
            {"k": k} | {name: float(np.mean([own[k][name] for own in points])) for name in ("tokens", "maj", "pass")}
            for k in sorted(set.intersection(*(set(own) for own in points)))
        ]
    if clean := [one["clean"] for one in each if "clean" in one]:
        means = [one["accuracy"] for one in clean]
        out["clean"] = {"accuracy": float(np.mean(means)), "ci95": mover(means, [one["ci95"] for one in clean])}
        out["clean"]["problems"] = sum(one["problems"] for one in clean)
    return out


# Two models on the same problems


class Pair:
    """Two models' shares of right samples on the problems that both answered, and their numbers of samples."""

    def __init__(self, numbers, a, b, na, nb, are_shares=True):
        self.n, self.are_shares, self.numbers = len(numbers), are_shares, numbers
        self.a, self.b, self.na, self.nb = a, b, na, nb
        if not self.n:
            return
        self.d = a - b
        self.sums = np.bincount(numbers, weights=self.d)  # clusters of problems are independent, not problems in them
        self.groups = len(self.sums)
        self.u = self.sums * self.groups / self.n
        self.difference = float(self.d.mean())
        self.right = float(a.mean() + b.mean()) / 2
        self.spread = float(self.u.var(ddof=1)) if self.groups > 1 else 0.0
        self.variance = (self.spread + 2 * self.unseen(self.right) / self.groups) / self.groups
        self.noise = None
        if min(na.min(), nb.min()) > 1:
            self.noise = float((a * (1 - a) / (na - 1) + b * (1 - b) / (nb - 1)).sum()) / self.n**2

    def unseen(self, right):
        """Squared size of the win and of the loss that were not drawn."""
        size = (float(self.u @ self.u) + 1) / (np.count_nonzero(self.u) + 1)
        return size + (1 - size) * (3 / max(self.groups * min(right, 1 - right), 3)) ** 2 if self.are_shares else size

    def less(self, other):
        """The strict difference less the lenient one."""
        return Pair(self.numbers, self.d, other.d, self.na, self.nb, are_shares=False)

    def variance_at(self, variance, size):
        """`variance`, were one model better by `size`."""
        nearer = min(self.right + size / 2, 0.5) if self.right < 0.5 else max(self.right - size / 2, 0.5)
        before, after = (2 * self.unseen(right) / self.groups**2 for right in (self.right, nearer))
        seen = (self.right * self.groups + 1) / (self.groups + 2)
        moved = min(min(seen, 1 - seen) + size, 0.5)
        growth = (seen * (1 - seen) + moved * (1 - moved)) / (2 * seen * (1 - seen))
        return max(variance - before, 0) * growth + after


def pair_up(ours, theirs):
    """The pair of two models' values by problem."""
    names = [name for name in theirs if name in ours]
    shares = (np.array([np.mean(side[name]) for name in names]) for side in (ours, theirs))
    return Pair(numbers_of(names), *shares, *(np.array([len(side[name]) for name in names]) for side in (ours, theirs)))


def span(pairs):
    """Mean difference over benchmarks, its variance and its degrees of freedom."""
    parts = [pair.variance / len(pairs) ** 2 for pair in pairs]
    freedom = sum(parts) ** 2 / sum(part**2 / max(pair.groups - 1, 2) for part, pair in zip(parts, pairs, strict=True))
    return float(np.mean([pair.difference for pair in pairs])), sum(parts), freedom


def around(pairs, sides=1):
    """Student's interval at the level of the tests; with 2 `sides` that of two tests of one side."""
    level = 1 - sides * LOOKS["error"]
    middle, variance, freedom = span(pairs)
    if len(pairs) == 1:
        freedom = pairs[0].groups - 1
    half = student(freedom, level) * sqrt(variance)
    return [max(-1.0, middle - half), min(1.0, middle + half)]


def difference(pairs):
    return {"difference": span(pairs)[0], "ci95": around(pairs)}


def sign_flip(pairs, stated):
    """The sign-flip test's p: exact where the page's is, else `stated` if signs drawn here agree with it."""
    if len(pairs) == 1:
        [pair] = pairs
        whole = lcm(*(int(count) for counts in (pair.na, pair.nb) for count in counts))
        steps = np.rint(pair.sums * whole).astype(int)
        fits = whole <= EXACT and np.allclose(pair.sums * whole, steps, atol=1e-6)
        steps = steps[steps != 0]
        steps = steps // gcd(*(int(step) for step in steps)) if len(steps) else steps
        if fits and np.abs(steps).sum() * len(steps) <= EXACT:
            chances = np.ones(1)
            for step in np.abs(steps):
                none = np.zeros(2 * step)
                chances = (np.append(chances, none) + np.append(none, chances)) / 2
            far = np.abs(np.arange(len(chances)) - len(chances) // 2) >= abs(steps.sum())
            return min(1.0, float(chances[far].sum()))
    weights = np.concatenate([pair.sums / pair.n for pair in pairs])
    weights = weights[weights != 0]
    if len(weights) < 2:
        return 1.0
    seen, hits = abs(weights.sum()) * (1 - 1e-9), 0
    for size in [1_000] * (DRAWS // 1_000) + [DRAWS % 1_000]:
        hits += int((np.abs(rng.choice((-1.0, 1.0), (size, len(weights))) @ weights) >= seen).sum())
    own = hits / DRAWS
    near = 5 * sqrt(3 * max(own, stated, 1 / DRAWS) / DRAWS) + 2 / DRAWS
    return stated if abs(own - stated) <= near else own


def holm(chances, weights):
    """p-values corrected by Holm's method with weights, and the level at which each test was made."""
    chances = [min(1.0, p * 0.05 / LOOKS["error"]) for p in chances]
    out, highest, left = [0.0] * len(chances), 0.0, sum(weights)
    for i in sorted(range(len(chances)), key=lambda i: chances[i] / weights[i]):
        out[i] = highest = max(highest, min(1.0, chances[i] * left / weights[i]))
        left -= weights[i]
    left = sum(weight for p, weight in zip(out, weights, strict=True) if p > 0.05)
    error = LOOKS["error"]
    return out, [error * w / (left + (w if p <= 0.05 else 0)) for p, w in zip(out, weights, strict=True)]


def verdict(found):
    low, high = found["ci95"]
    if found["p_corrected"] <= 0.05 and not low <= 0 <= high:
        return "better" if found["difference"] > 0 else "worse"
    return "tied" if max(map(abs, found["ci90"])) <= 0.06 else "cannot tell"


def reach(freedom, level):
    """Standard errors of a difference that a test at 1 - `level` finds in 80 of 100 repetitions."""
    return student(freedom, level) + student(freedom, 0.6)


def detectable(parts, freedom, level):
    """The smallest difference found in 80 of 100 repetitions; `parts` are variances and their pairs."""
    size = 0.0
    for _ in range(50):
        variance = sum(pair.variance_at(variance, size) for variance, pair in parts) / len(parts) ** 2
        size = min(1.0, reach(freedom, level) * sqrt(variance))
    return size


def needed(pair, level):
    """How many such problems, or samples per problem, would show the difference that was seen."""
    out, seen = {"difference": abs(pair.difference), "problems": None, "samples": None}, pair.difference
    if not seen:
        return out
    times = (reach(pair.groups - 1, level) / seen) ** 2
    own = pair.spread * times
    problems = (own + sqrt(own**2 + 8 * pair.unseen(pair.right) * times)) / 2 * pair.n / pair.groups
    out["problems"] = ceil(problems) if problems <= 1_000_000 else None
    if pair.noise is not None and (allowed := 1 / times - max(pair.variance - pair.noise, 0)) > 0:
        samples = 2 / (1 / pair.na.mean() + 1 / pair.nb.mean()) * pair.noise / allowed
        out["samples"] = max(1, ceil(samples)) if samples <= 1_000_000 else None
    return out


def compare_measures(found, stated):
    """Greedy accuracy, maj@k and pass@k: measure to each benchmark's pair."""
    out = {}
    for name, pairs in found.items():
        out[name] = difference(pairs) | {"ci90": around(pairs, 2), "p": sign_flip(pairs, stated[name]["p"])}
        out[name]["values"] = [float(np.mean([getattr(pair, side).mean() for pair in pairs])) for side in "ab"]
    for one, p in zip(out.values(), holm([one["p"] for one in out.values()], [1] * len(out))[0], strict=True):
        one["p_corrected"] = p
        one["verdict"] = verdict(one)
    return out


def sides(rows, model, other, column, greedy=False):
    """Benchmark to both models' values by problem, for the benchmarks of both."""
    return {
        name: tuple(
            by_problem([row for row in rows[one, name] if bool(row["greedy"]) is greedy], column)
            for one in (model, other)
        )
        for one, name in rows
        if one == model and (other, name) in rows
    }


def measures_of(rows, model, other, benchmarks):
    """Measure to benchmark to the pair of both models' estimates per problem."""
    marks, votes = (sides(rows, model, other, column) for column in ("correct", "vote"))
    greedy = sides(rows, model, other, "correct", greedy=True)
    k = min((len(values) for name in benchmarks for side in marks[name] for values in side.values()), default=1)
    out = {"greedy": {name: pair_up(*greedy[name]) for name in benchmarks}}
    if k > 1:
        for name in benchmarks:
            voted = (majorities(*both, k) for both in zip(marks[name], votes[name], strict=True))
            passed = ({i: pass_at(len(own), sum(own), k) for i, own in side.items()} for side in marks[name])
            for measure, values in ((f"maj@{k}", voted), (f"pass@{k}", passed)):
                pair = pair_up(*({i: [value] for i, value in side.items()} for side in values))
                out.setdefault(measure, {})[name] = pair
    pairs = {measure: {name: pair for name, pair in found.items() if pair.n} for measure, found in out.items()}
    return {measure: found for measure, found in pairs.items() if found}


def compare(rows, model, other, stated):
    """One pair of models: every benchmark's comparison and their average, with the pairs that they are made of."""
    marks, loose = (sides(rows, model, other, column) for column in ("correct", "correct_lenient"))
    pairs = {name: pair_up(*both) for name, both in marks.items()}
    pairs = {name: pair for name, pair in pairs.items() if pair.n}
    lenient = {name: pair_up(*loose[name]) for name in pairs}
    measures = measures_of(rows, model, other, list(pairs))
    each = {}
    for name, (ours, theirs) in marks.items():
        counts = [len(values) for side in (ours, theirs) for values in side.values()]
        each[name] = {"problems": 0, "missing": len(ours.keys() ^ theirs.keys()), "samples": [min(counts), max(counts)]}
        said, one = stated["benchmarks"][name], {n: [found[name]] for n, found in measures.items() if name in found}
        each[name]["measures"] = compare_measures(one, said["measures"])
        if name in pairs:
            each[name] |= compare_pairs([pairs[name]], [lenient[name]], said)
            if pairs[name].groups < pairs[name].n:
                each[name]["clusters"] = pairs[name].groups
            each[name] |= {"gained": int((pairs[name].d > 0).sum()), "lost": int((pairs[name].d < 0).sum())}
    whole = {name: list(found.values()) for name, found in measures.items() if len(found) == len(pairs)}
    mean = {"problems": 0, "benchmarks": len(pairs), "missing": sum(one["missing"] for one in each.values())}
    mean["measures"] = compare_measures(whole, stated["average"]["measures"])
    if pairs:
        mean |= compare_pairs(list(pairs.values()), list(lenient.values()), stated["average"])
        counts = [count for pair in pairs.values() for side in (pair.na, pair.nb) for count in side]
        mean["samples"] = [int(min(counts)), int(max(counts))]
    return {"benchmarks": each, "average": mean}, pairs


def compare_pairs(pairs, lenient, stated):
    variance = span(pairs)[1]
    noise = None if None in (parts := [pair.noise for pair in pairs]) else sum(parts) / len(pairs) ** 2
    rest = None if noise is None else sqrt(max(variance - noise, 0))
    return difference(pairs) | {
        "problems": sum(pair.n for pair in pairs),
        "ci90": around(pairs, 2),
        "p": sign_flip(pairs, stated["p"]),
        "sd": {"samples": None if noise is None else sqrt(noise), "problems": rest},
        "lenient": difference(lenient),
        "form": difference([pair.less(loose) for pair, loose in zip(pairs, lenient, strict=True)]),
    }


def correct(family):
    """Holm's correction over a family of (comparison, its pairs, its weight), and what depends on it."""
    levels = holm([found["p"] for found, *_ in family], [weight for *_, weight in family])
    for (found, pairs, _), p, alpha in zip(family, *levels, strict=True):
        found["p_corrected"] = p
        found["verdict"] = verdict(found)
        found["detectable"] = detectable([(pair.variance, pair) for pair in pairs], span(pairs)[2], 1 - alpha)
        if "gained" in found:
            [pair] = pairs
            rest = None if pair.noise is None else max(pair.variance - pair.noise, 0)
            found["needed"] = needed(pair, 1 - alpha)
            at_best = None if rest is None else detectable([(rest, pair)], pair.groups - 1, 1 - alpha)
            found["detectable_at_best"] = at_best


# Looks


def gauss(x):
    """The chance that a normal number is above x."""
    return np.array([erfc(one / sqrt(2)) / 2 for one in np.atleast_1d(x)])


def limit_of(times, alpha, points=2_001):
    """The p that the last of these looks has to reach; each side spends 2 - 2 Phi(z / sqrt(time))."""
    z = low = 0.0
    high = 40.0
    for _ in range(200):
        z = (low + high) / 2
        low, high = (z, high) if gauss(z)[0] > alpha / 4 else (low, z)
    place, mass, spent, before = np.zeros(1), np.ones(1), 0.0, 0.0
    simpson = np.array([1, *[4, 2] * (points // 2 - 1), 4, 1]) / 3
    for time in times:
        step, own = sqrt(time - before), 4 * gauss(z / sqrt(time))[0] - spent
        low, high = 0.0, 9 * sqrt(time)
        for _ in range(50):
            limit = (low + high) / 2
            out = mass @ (gauss((limit - place) / step) + gauss((limit + place) / step))
            low, high = (limit, high) if out > own else (low, limit)
        here = np.linspace(-limit, limit, points)
        kernel = np.exp(-(((here[:, None] - place) / step) ** 2) / 2) / (step * sqrt(2 * pi))
        mass, place, spent, before = kernel @ mass * simpson * (here[1] - here[0]), here, spent + own, time
    return 2 * float(gauss(limit / sqrt(time))[0])


def share_of_information(pairs, most):
    rest = now = last = 0.0
    for pair in pairs:
        noise = pair.noise or 0.0
        rest += max(pair.spread / pair.groups - noise, 0)
        now, last = now + noise, last + noise * 2 / (1 / pair.na.mean() + 1 / pair.nb.mean()) / most
    if rest + now == 0:
        return min(min(pair.na.min(), pair.nb.min()) for pair in pairs) / most
    return (rest + last) / (rest + now)


def take_looks(rows, stated):
    """Every look again, from the samples that were there."""
    model, other = stated["pair"]
    made, times = [], []
    for said in stated["made"]:
        had = [row for row in rows if row["model"] in (model, other) and row["sample"] < said["samples"]]
        cells = {}
        for row in had:
            cells.setdefault((row["model"], row["benchmark"]), []).append(row)
        pairs = [pair for both in sides(cells, model, other, "correct").values() if (pair := pair_up(*both)).n]
        samples = int(min(min(pair.na.min(), pair.nb.min()) for pair in pairs))
        before, time = times[-1] if times else 0.0, 1.0
        if samples < stated["at_most"]:
            time = min(share_of_information(pairs, stated["at_most"]), 0.99)
            time = time if time > before + 1e-3 else before + (1 - before) / 10
        times.append(time)
        limit = limit_of(times, stated["alpha"])
        LOOKS["error"] = limit
        found = {"samples": samples, "information": time, "limit": limit, "p": sign_flip(pairs, said["p"])}
        found["difference"] = span(pairs)[0]
        tested = difference(pairs) | {"ci90": around(pairs, 2), "p_corrected": min(1.0, found["p"] * 0.05 / limit)}
        made.append(found | {"verdict": verdict(tested)})
    return {"pair": stated["pair"], "at_most": stated["at_most"], "alpha": stated["alpha"], "made": made}


# The whole page


def recompute(rows, problems, stated):
    """Scores and comparisons, in the shape of `figures.json`."""
    shared = [row for row in problems if row.get("cluster") is not None]
    CLUSTERS.update({row["id"]: (row["benchmark"], row["cluster"]) for row in shared})
    cells = {}
    for row in rows:
        cells.setdefault((row["model"], row["benchmark"]), []).append(row)
    models = list(dict.fromkeys(model for model, _ in cells))
    known = [row for row in problems if row["similar"] is not None]
    similar = {row["id"] for row in known if row["similar"]} if known else None
    scores = {}
    for (model, benchmark), own in cells.items():
        scores.setdefault(model, {})[benchmark] = score(own, similar)
    for found in scores.values():
        found["average"] = average(list(found.values()))
    found_looks = {}
    if looks := stated["comparisons"].get("looks"):
        found_looks = {"looks": take_looks(rows, looks)}
        LOOKS["error"] = 0.05 * found_looks["looks"]["made"][-1]["limit"] / looks["alpha"]
    said = {(pair["model"], pair["other"]): pair for pair in stated["comparisons"]["pairs"]}
    primary, count = stated["comparisons"]["primary"], comb(len(models), 2)
    pairs, averages, single = [], [], []
    for other, model in combinations(models, 2):
        found, parts = compare(cells, model, other, said[model, other])
        weight = 0.8 if {model, other} == set(primary or ()) else 0.2 / max(count - 1, 1)
        if parts:
            averages.append((found["average"], list(parts.values()), weight))
        single += [(found["benchmarks"][name], [pair], weight / len(parts)) for name, pair in parts.items()]
        pairs.append({"model": model, "other": other, **found})
    correct(averages)
    correct(single)
    for pair in pairs:
        if "base" in (pair["model"], pair["other"]):
            sign, model = (1, pair["model"]) if pair["other"] == "base" else (-1, pair["other"])
            for name, found in {**pair["benchmarks"], "average": pair["average"]}.items():
                if found["problems"]:
                    scores[model][name]["over_base"] = sign * found["difference"]
                    scores[model][name]["over_base_ci95"] = sorted(sign * limit for limit in found["ci95"])
                    scores[model][name]["over_base_form"] = sign * found["form"]["difference"]
    return {"scores": scores, "comparisons": {"pairs": pairs, **found_looks}}


def leaves(value, name=()):
    """Every figure and verdict of nested JSON, by its path; words are left out."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "words":
                yield from leaves(inner, (*name, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            is_pair = isinstance(inner, dict) and "model" in inner
            own = f"{inner['model']} against {inner['other']}" if is_pair else str(place)
            yield from leaves(inner, (*name, own))
    else:
        yield " / ".join(name), value


def same(one, other):
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return abs(one - other) <= 1e-9 * max(1, abs(one))
    return one == other


def read_rows(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main(folder):
    rows, problems = (read_rows(folder / f"{name}.jsonl.gz") for name in ("responses", "problems"))
    stated = json.loads((folder / "figures.json").read_text(encoding="utf-8"))
    found = dict(leaves(recompute(rows, problems, stated)))
    compared = {name: stated["comparisons"][name] for name in ("pairs", "looks") if name in stated["comparisons"]}
    page = dict(leaves({"scores": stated["scores"], "comparisons": compared}))
    different = 0
    for name in [*page, *(name for name in found if name not in page)]:
        fits = name in page and name in found and same(page[name], found[name])
        different += not fits
        again = "" if fits else f", recomputed {found.get(name, 'not there')}"
        print(f"{'equal    ' if fits else 'DIFFERENT'} {name}: {page.get(name, 'not there')}{again}")
    print(
        f"{len(rows):,} responses, {len(page):,} figures of the page: {len(page) - different:,} equal, {different:,} different"
    )
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent))
