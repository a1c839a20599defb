"""Several training runs of one recipe on one page: the mean over runs, and what a score varies by (samples, problems, training run)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from compass.errors import UserError
from compass.evaluation.across_runs import summarise_runs
from compass.page.blocks import Note, Section, Table
from compass.report.cautions import limits
from compass.report.headline import (
    AVERAGE,
    find_comparison,
    format_interval,
    format_points,
    format_score,
    percent,
)
from compass.report.run import Run, changed_rows, list_problems, name_runs
from compass.report.sections import build_conclusion

SEED = "seed"
"""The one setting in which repetitions of a recipe differ."""


def training_run_sections(runs: Sequence[Run]) -> list[Section]:
    """The sections of a page on several training runs of one recipe, the conclusion first.

    Args:
        runs: two at least, each with its scores.

    Raises:
        UserError: no model was scored in all of them.
    """
    names = name_runs(runs)
    models = [model for model in runs[0].models if all(AVERAGE in run.results.scores.get(model, {}) for run in runs)]
    if not models:
        scored = "; ".join(f"{run.folder}: {', '.join(run.models) or 'none'}" for run in runs)
        raise UserError(f"no model was scored in all of these runs ({scored}); give runs of one recipe")
    shared = shared_problems(runs)
    found = {model: _summarise_scores(runs, model, AVERAGE, shared) for model in models}
    gains = {model: _summarise_gains(runs, model, models[0], shared) for model in models[1:]}
    return [
        _conclusion(runs, names, found, gains, shared),
        _parts(found, {f"{model} less {models[0]}": gain for model, gain in gains.items() if gain}),
        _scores(runs, names, models),
        _benchmarks(runs, models, shared),
    ]


def shared_problems(runs: Sequence[Run]) -> float:
    """The share of the benchmarks' problems that all runs were evaluated on, 0..1; 1 where a run has neither problems nor responses."""
    if any(run.problems is None and run.samples is None for run in runs):
        return 1.0
    asked = list_problems(runs)
    return len(set.intersection(*asked)) / max(map(len, asked))


def _summarise_scores(runs: Sequence[Run], model: str, benchmark: str, shared: float) -> dict[str, Any]:
    scores = [run.results.scores[model][benchmark] for run in runs]
    return summarise_runs([score["accuracy"] for score in scores], *_list_deviations(scores), shared=shared)


def _summarise_gains(runs: Sequence[Run], model: str, base: str, shared: float) -> dict[str, Any] | None:
    """The paired gain of a model over the base; None where a run did not compare them."""
    found = [one for run in runs if (one := find_comparison(run, model, base)) and one["problems"]]
    if len(found) < len(runs):
        return None
    values = [one["difference"] for one in found]
    return summarise_runs(values, *_list_deviations(found), shared=shared, limits=(-1.0, 1.0))


def _list_deviations(figures: Sequence[Mapping[str, Any]]) -> Iterator[list[float | None]]:
    """What other samples, and other problems, would move each of these scores or gains by; None where a run's evaluation is older than `sd`."""
    for part in ("samples", "problems"):
        yield [one.get("sd", {}).get(part) for one in figures]


def _conclusion(
    runs: Sequence[Run],
    names: Sequence[str],
    found: dict[str, dict[str, Any]],
    gains: dict[str, dict[str, Any] | None],
    shared: float,
) -> Section:
    (base, *_), last = found, list(found)[-1]
    score = found[last]
    headline = (
        f"{last} has an accuracy of {percent(score['mean'])}% on average over {len(runs)} training runs "
        f"(95% interval of their mean {format_interval(score['ci95'])})."
    )
    if gain := gains.get(last):
        low, high = gain["ci95"]
        holds = "shown" if not low <= 0 <= high else "not shown"
        headline += (
            f" Its gain over {base} is {format_points(gain['mean'])} points ({format_points(low, high)}; "
            f"{format_points(gain['lowest'], gain['highest'])} in the runs seen): {holds} to hold for another training run."
        )
    more = []
    if score["sd"]["training"] is not None:
        more.append(
            f"Training it again moves {last} by {100 * score['sd']['training']:.1f} points (standard deviation), other samples by "
            f"{100 * score['sd']['samples']:.1f} and other problems by {100 * score['sd']['problems']:.1f}."
        )
    seen = _unlike(runs, names)
    if shared < 1:
        seen.append(
            f"The runs share {100 * shared:.0f}% of their problems: the spread over runs holds that of the problems, which is taken off for the training run's part."
        )
    older = [name for run, name in zip(runs, names, strict=True) if "sd" not in run.results.scores[last][AVERAGE]]
    if older:
        seen.append(
            f"{', '.join(older)} {'was' if len(older) == 1 else 'were'} evaluated before evaluation wrote what other samples and problems "
            "would change (`sd`), so that what training again would change is not known; evaluate again to have it."
        )
    if len(runs) == 2:
        seen.append(
            "Two runs say little about how far runs spread: the interval has one degree of freedom. Add a third."
        )
    return build_conclusion(headline, more, seen, limits(runs[0])[1:])


def _unlike(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """What differs besides the seed, run after run."""
    lines = []
    for (before, first), (after, second) in pairwise(zip(runs, names, strict=True)):
        if not before.parameters or not after.parameters:
            lines.append(f"{first} or {second} has no parameter file: whether they ran the same recipe is not known.")
            continue
        changed = [name for name, *_ in changed_rows(before.parameters, after.parameters) if name != SEED]
        if changed:
            shown = ", ".join(changed[:6]) + (" and others" if len(changed) > 6 else "")
            lines.append(f"{first} and {second} differ in settings ({shown}): their spread is not that of one recipe.")
    if len({run.commit["commit"] for run in runs if run.commit}) > 1:
        lines.append("The runs are of different commits: the code differs as well.")
    return lines


def _parts(found: dict[str, dict[str, Any]], gains: dict[str, dict[str, Any]]) -> Section:
    head = ["in points", "mean", "95% interval", "lowest", "highest"]
    head += ["sd over runs", "samples", "problems", "training run"]
    parts = ("runs", "samples", "problems", "training")
    rows = [
        [name, percent(one["mean"]), format_interval(one["ci95"]), percent(one["lowest"]), percent(one["highest"])]
        + [percent(one["sd"][part]) for part in parts]
        for name, one in {**found, **gains}.items()
    ]
    note = (
        "The average over benchmarks. The last three columns are standard deviations: what other samples of the same problems, other problems, and another "
        "training run would move a single run's score by. The interval is that of the mean over training runs and problems."
    )
    return Section("What moves a score", [Note(note), Table(head, rows)], "spread")


def _scores(runs: Sequence[Run], names: Sequence[str], models: Sequence[str]) -> Section:
    rows = []
    for run, name in zip(runs, names, strict=True):
        averages = [run.results.scores[model][AVERAGE] for model in models]
        rows.append([name, run.parameters.get(SEED), *(format_score(one) for one in averages)])
    note = Note("Accuracy in percent, with each run's own 95% interval, which covers problems and samples alone.")
    return Section("Each run", [note, Table(["run", "seed", *models], rows)], "runs")


def _benchmarks(runs: Sequence[Run], models: Sequence[str], shared: float) -> Section:
    """Mean and spread over runs per benchmark."""
    names = [
        name
        for name in runs[0].results.scores[models[0]]
        if name != AVERAGE and all(name in run.results.scores[model] for run in runs for model in models)
    ]
    rows = []
    for name in names:
        each = [_summarise_scores(runs, model, name, shared) for model in models]
        rows.append([name, *(f"{percent(one['mean'])} ± {percent(one['sd']['runs'])}" for one in each)])
    note = Note("Accuracy in percent: the mean over runs ± the standard deviation over runs.")
    return Section("Benchmarks", [note, Table(["benchmark", *models], rows)] if rows else [], "benchmarks")
