"""A study in the terminal and as a page: what was asked, which arm is better and how sure, what was run, and what to doubt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean, stdev
from typing import Any

from compass.durations import duration
from compass.page.blocks import Bullets, Caution, Note, Part, Section, Table
from compass.report.figures import DRAWN, bands_figure, draw_chart, forest_figure
from compass.report.headline import format_points
from compass.studies.statistics import Difference, compare_arms, interval
from compass.studies.study import Study

Runs = Sequence[tuple[str, int, Mapping[str, Any] | None]]
"""Every planned run: arm, seed, and its result as `flows.studies` keeps it; None where it is still to come."""


OF_ITERATIONS = ("entropy", "response_tokens", "left_out", "clipped", "kl")
"""Curves whose means over the iterations are told where they are not always 0."""


def compare_runs(study: Study, runs: Runs) -> list[Difference]:
    """Every arm against the first, by the study's own measure."""
    scores = {
        arm: {seed: run["scores"][study.measure] for seed, run in own.items()}
        for arm, own in _by_seed(study, runs).items()
    }
    return compare_arms(scores, smallest=study.smallest_difference / 100, planned=len(study.seeds))


def study_sections(study: Study, runs: Runs, left: float | None = None, others: int = 0) -> list[Section]:
    """The sections of a study's page, the answer first.

    Args:
        study: its file.
        runs: every planned run.
        left: how many seconds the runs that are still to come will take; None where that is not known.
        others: how many kept runs are none of the planned ones.
    """
    found = compare_runs(study, runs)
    return [
        _answer(study, runs, found, left, others),
        Section("Scores", [_scores(study, runs), *_per_benchmark(study, runs)], "scores"),
        Section(
            "Differences",
            [_differences(study, found), *_compare_tokens(study, runs), *_forest(study, found)],
            "differences",
        ),
        Section("Training", [_training(study, runs), *_curves(study, runs)], "training"),
        Section("What was run", _what_was_run(study, runs), "runs"),
    ]


def _answer(study: Study, runs: Runs, found: list[Difference], seconds_left: float | None, others: int) -> Section:
    first = next(iter(study.arms))
    parts: list[Part] = [Note(study.question)]
    shared = f", and in every arm {_settings(study.settings)}" if study.settings else ""
    parts += [Note(f"Profile {study.profile}{shared}.")]
    parts += [Bullets([f"{arm}: {_settings(own)}" for arm, own in study.arms.items()])]
    parts += [Note(f"Against {first}, by {study.measure}:", "label")]
    failures = {arm: [run for name, _, run in runs if name == arm and run and run["failed"]] for arm in study.arms}
    parts += [Note(f"{one.arm}: {one.words}{_without(failures, first, one.arm)}.", "headline") for one in found]
    done = [run for _, _, run in runs if run]
    left = sum(run is None or run["failed"] for _, _, run in runs)
    if left:
        took = "" if seconds_left is None else f", about {duration(seconds_left)}"
        parts.append(
            Caution(
                f"{left} of {len(runs)} runs {'is' if left == 1 else 'are'} still to come{took}: what is said here may change."
            )
        )
    if others:
        parts.append(
            Caution(
                f"{others} kept runs have other settings, or a model, an arm or a seed that the study does not ask for now: they are left out."
            )
        )
    failed = [(f"{arm}, seed {seed}", run.get("failure", "")) for arm, seed, run in runs if run and run["failed"]]
    if failed:
        which = "; ".join(f"{name}{f' ({why})' if why else ''}" for name, why in failed)
        parts.append(Caution(f"Failed, by a guard or an error, and left out of every figure: {which}."))
    if losing := [arm for arm, gains in _gains(study, runs).items() if gains and mean(gains) <= 0]:
        parts.append(
            Caution(
                f"On average {' and '.join(losing)} did not gain over the base: a difference may only say which recipe does less harm."
            )
        )
    if len({run["commit"] for run in done if "commit" in run}) > 1:
        parts.append(Caution("The runs are of several commits: the code differs as well as the settings."))
    if changed := sum(run.get("dirty") == "true" for run in done):
        parts.append(
            Caution(
                f"{changed} of the {len(done)} runs {'was' if changed == 1 else 'were'} made with uncommitted changes to the code."
            )
        )
    doubts = [
        "An interval covers what another seed would change. It says nothing of another model, other problems or more training.",
        "With few seeds, Student's interval rests on differences that are about normal, and the spread itself is known roughly: "
        "so is the number of seeds still needed.",
    ]
    if failed:
        doubts.append(
            "A recipe that fails with some seeds looks better than it is, because only the runs that ended are compared: count its failures against it."
        )
    if len(found) > 1:
        doubts.append("p-values are corrected for the number of arms (Holm); intervals are not.")
    if left or any(one.verdict == "too few seeds" for one in found):
        doubts.append(
            "Seeds that are added until a difference appears find one too often: fix their number before the first run."
        )
    return Section("Answer", [*parts, Note("What to doubt", "label"), Bullets(doubts)], "answer")


def _scores(study: Study, runs: Runs) -> Table:
    measures = list(dict.fromkeys(name for _, _, run in runs if run for name in run.get("scores", ())))
    measures.sort(key=lambda name: name != study.measure)
    gains = _gains(study, runs)
    rows = [
        [
            arm,
            len(own),
            _spread(gains[arm]),
            *(_spread([run["scores"][name] for run in own if name in run["scores"]], 100) for name in measures),
            _spread([run["response_tokens"] for run in own if "response_tokens" in run]),
        ]
        for arm, own in _by_arm(study, runs).items()
    ]
    text = (
        f"Percent on average over all benchmarks, the gain over the base in points of {study.measure}, and tokens per response: "
        "mean over seeds, ± their standard deviation."
    )
    return Table(["arm", "runs", "gain", *measures, "tokens"], rows, text=text)


def _per_benchmark(study: Study, runs: Runs) -> list[Part]:
    """The gain over the base on each benchmark that all arms have, where the base was evaluated: what an arm does not train on, it may lose."""
    gains = {
        arm: [
            {name: 100 * (score - run["base_benchmarks"][name]) for name, score in run["benchmarks"].items()}
            for run in own
            if run.get("base_benchmarks")
        ]
        for arm, own in _by_arm(study, runs).items()
    }
    known = [gain for own in gains.values() for gain in own]
    names = [name for name in (known[0] if known else ()) if all(name in gain for gain in known)]
    if len(names) < 2:
        return []
    rows = [[arm, *(_spread([gain[name] for gain in own]) for name in names)] for arm, own in gains.items()]
    text = "Gain over the base on each benchmark, in points of accuracy: mean over seeds, ± their standard deviation."
    return [Table(["arm", *names], rows, text=text)]


def _differences(study: Study, found: list[Difference]) -> Table:
    head = ["arm", "points, per seed", "mean", "95% interval", "p", f"power for ±{study.smallest_difference:g}"]
    rows = [
        [
            one.arm,
            ", ".join(map(format_points, one.differences)) or "–",
            "–" if one.mean is None else format_points(one.mean),
            "–" if one.interval is None else format_points(*one.interval),
            "–" if one.p is None else f"{one.p:.3f}",
            "–" if one.power is None else f"{100 * one.power:.0f}%",
        ]
        for one in found
    ]
    text = f"Power: the chance that the {len(study.seeds)} planned seeds find the smallest difference of interest, at the spread seen so far."
    return Table(head, rows, text=text)


def _compare_tokens(study: Study, runs: Runs) -> list[Part]:
    """How many more tokens than the first arm's training an arm's sampled, paired by seed as the scores are; empty before any pair."""
    (first, reference), *others = _by_seed(study, runs).items()
    told = []
    for arm, own in others:
        shared = [seed for seed in own if seed in reference]
        if more := [own[seed]["training"]["tokens"] - reference[seed]["training"]["tokens"] for seed in shared]:
            limits = interval(more)
            span = f" ({limits[0]:+,.0f} to {limits[1]:+,.0f})" if limits else ""
            told.append(f"{arm}: {mean(more):+,.0f}{span}")
    title = f"Tokens sampled in training, less those of {first}, with a 95% interval where seeds differ:"
    return [Note(title, "label"), Bullets(told)] if told else []


def _training(study: Study, runs: Runs) -> Table:
    rows, gains, arms = [], _gains(study, runs), _by_arm(study, runs)
    curves = [run["curves"] for own in arms.values() for run in own]
    shown = [name for name in OF_ITERATIONS if any(any(curve.get(name, ())) for curve in curves)]
    for arm, own in arms.items():
        tokens = [run["training"]["tokens"] / 1000 for run in own]
        seconds = [run["training"]["seconds"] for run in own]
        per = (
            [gain / cost for gain, cost in zip(gains[arm], tokens, strict=True) if cost]
            if len(gains[arm]) == len(own)
            else []
        )
        means = [
            _spread([mean(run["curves"][name]) for run in own if run["curves"].get(name)], DRAWN[name][1])
            for name in shown
        ]
        rows.append([arm, _spread(tokens), _spread(seconds), _spread(per, 1000), *means])
    costs = ["1,000 tokens sampled", "seconds", "points gained per million tokens"]
    text = "Of all RL stages up to the model; the columns after the points are means over their iterations."
    return Table(["arm", *costs, *(DRAWN[name][0] for name in shown)], rows, text=text)


def _what_was_run(study: Study, runs: Runs) -> list[Part]:
    rows = []
    for arm, seed, run in runs:
        if run:
            ran = "failed" if run["failed"] else ", ".join(run.get("ran", ())) or "none"
            origin = run.get("commit", "")[:8], run.get("experiment") or ""
            rows.append([arm, seed, run["started"], duration(run["seconds"]), ran, *origin])
    total = sum(run["seconds"] for _, _, run in runs if run)
    return [
        f"Smallest difference of interest: {study.smallest_difference:g} points.",
        Table(["arm", "seed", "started last", "took", "stages that ran", "commit", "experiment"], rows),
        f"{duration(total)} in all, the last try of each run counted. Stages that are not named were up to date or came from DVC's cache. `dvc exp apply EXPERIMENT` restores a run.",
    ]


def _forest(study: Study, found: list[Difference]) -> list[Part]:
    shown = {
        one.arm: (100 * one.mean, 100 * one.interval[0], 100 * one.interval[1])
        for one in found
        if one.mean is not None and one.interval is not None
    }
    text = "Differences from the first arm with 95% intervals"
    return list(draw_chart("differences", text, lambda width: forest_figure(shown, study.smallest_difference, width)))


def _curves(study: Study, runs: Runs) -> list[Part]:
    groups = {arm: [run["curves"] for run in own] for arm, own in _by_arm(study, runs).items() if own}
    text = "Training curves: each arm's mean over its seeds, and a band from the lowest to the highest"
    return list(draw_chart("curves", text, lambda width: bands_figure(groups, width)))


def _by_seed(study: Study, runs: Runs) -> dict[str, dict[int, Mapping[str, Any]]]:
    """Arm to seed to its run, of the runs that ended well."""
    return {
        arm: {seed: run for name, seed, run in runs if name == arm and run and not run["failed"]} for arm in study.arms
    }


def _by_arm(study: Study, runs: Runs) -> dict[str, list[Mapping[str, Any]]]:
    return {arm: list(own.values()) for arm, own in _by_seed(study, runs).items()}


def _gains(study: Study, runs: Runs) -> dict[str, list[float]]:
    """Of each arm the gains over the base in points, by the study's measure; of runs that have the base's score."""
    return {
        arm: [
            100 * (run["scores"][study.measure] - run["base"][study.measure])
            for run in own
            if study.measure in run.get("base", {})
        ]
        for arm, own in _by_arm(study, runs).items()
    }


def _without(failures: Mapping[str, Sequence[Any]], *arms: str) -> str:
    """How many runs of two arms failed, to follow their verdict; empty where none did."""
    counts = [f"{len(failures[arm])} of {arm}" for arm in arms if failures[arm]]
    return f", without the runs that failed ({', '.join(counts)})" if counts else ""


def _settings(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "no settings of its own"


def _spread(values: Sequence[float], factor: float = 1.0) -> str:
    """`70.9 ± 1.2`: mean and standard deviation; the latter of two values or more."""
    shown = [factor * value for value in values]
    if not shown:
        return "–"
    size = abs(mean(shown))
    digits = 0 if size >= 1000 else 1 if size >= 1 else 2 if size >= 0.1 or not size else 3
    return f"{mean(shown):,.{digits}f}" + (f" ± {stdev(shown):,.{digits}f}" if len(shown) > 1 else "")
