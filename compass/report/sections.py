"""The report's sections from a run: the conclusion, scores, form and problems here; `run_sections` has how the run came about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import pyarrow.compute as pc

from compass.evaluation.benchmark_scores import MEASURES, drop_greedy
from compass.evaluation.looks import describe_looks
from compass.page.blocks import Bullets, Caution, Fold, Link, Note, Part, Section, Table
from compass.report.cautions import contaminated, limits, warnings
from compass.report.cost import tokens_section
from compass.report.figures import draw_chart, heat_figure, scores_figure
from compass.report.given import explain_lenient, given_section
from compass.report.headline import (
    conclude,
    find_comparison,
    format_interval,
    format_points,
    format_score,
    headline_model,
    percent,
)
from compass.report.printable import printable
from compass.report.run import Run
from compass.report.run_sections import (
    cost_section,
    data_section,
    details_section,
    planted_section,
    ran_section,
    training_section,
)
from compass.report.sensitivity import memorised_section, sensitivity_section
from compass.report.tallies import SOLVED, Item, Tally, shares_by_benchmark

GIVEN_NAMES = {"truncated": "visibly cut off, no answer %", "samples": "responses per problem"}
"""The same of responses made elsewhere, where a key means something else."""


SHOWN_PROBLEMS = 8
"""Problems shown of those gained and of those lost; the viewer has all."""

FATES = ("gained", "lost", "both", "neither")


def report_sections(run: Run, *, linked: Mapping[str, list[int]] | None = None) -> list[Section]:
    """Every section of a run's report, the conclusion first.

    Args:
        run: the run.
        linked: RL stage to iterations whose rollouts the page can show.
    """
    return [
        conclusion_section(run),
        scores_section(run),
        given_section(run),
        tokens_section(run),
        sensitivity_section(run),
        memorised_section(run),
        form_section(run),
        problems_section(run),
        training_section(run, linked or {}),
        data_section(run),
        planted_section(run),
        cost_section(run),
        ran_section(run),
        details_section(run),
    ]


def conclusion_section(run: Run) -> Section:
    """Which model is better, by how much, how sure; the warnings; and why it might be wrong."""
    found = conclude(run)
    more = [explain_lenient(run), *found.more] if run.given else found.more
    return build_conclusion(found.headline, more, warnings(run), limits(run) if run.models else [])


def build_conclusion(headline: str, more: Sequence[str], seen: Sequence[str], doubts: Sequence[str]) -> Section:
    """The section that begins a report: its headline, what stands behind it, warnings, and why it might be wrong."""
    parts: list[Part] = [Note(headline, "headline"), *more]
    if seen:
        parts += [Note(f"{len(seen)} warning{'s' * (len(seen) > 1)}", "label"), *(Caution(text) for text in seen)]
    if doubts:
        parts += [Note("Why this might be wrong all the same", "label"), Bullets(doubts)]
    return Section("Conclusion", parts, "conclusion")


def scores_section(run: Run) -> Section:
    """Accuracy of every model on every benchmark, the paired verdicts, and all measures in a fold."""
    scores = run.results.scores
    if not scores:
        return Section("Scores", [])
    samples = sorted(
        {score["samples"] for scored in scores.values() for score in scored.values() if "samples" in score}
    )
    counts = "/".join(map(str, samples))
    names = run.results.benchmarks
    rows = [[name, *(format_score(scored.get(name)) for scored in scores.values())] for name in names]
    parts: list[Part] = [
        Note(
            f"Accuracy in percent with its 95% interval: the mean share of right responses among {counts or '?'} {'given' if run.given else 'sampled'} per problem (avg@k), "
            "strict reading of answers. Intervals of single models may overlap although the paired comparison below is sure: it uses that all "
            "models answered the same problems."
        ),
        *draw_chart(
            "scores",
            "Accuracy of every model on every benchmark with 95% intervals",
            lambda width: scores_figure(run.results, width),
        ),
        Table(["benchmark", *scores], rows),
        *_verdicts(run, names),
        *_looks(run),
        *_contamination(run),
        *_these_problems(scores, names),
        Fold("All measures", [_measures(scores, names, GIVEN_NAMES if run.given else {})]),
    ]
    return Section("Scores", parts, "scores")


def form_section(run: Run) -> Section:
    """Strict against lenient: what is ability and what is form."""
    rows = []
    for model, score in run.results.averages.items():
        if "lenient" in score:
            shares = percent(score["accuracy"]), percent(score["lenient"])
            more = format_points(score["lenient"] - score["accuracy"])
            rows.append([model, *shares, more, percent(score.get("boxed"))])
    if not rows:
        return Section("Strict and lenient", [])
    parts: list[Part] = [
        Note(
            "Strict counts an answer in the form that was asked for; lenient counts it in other usual forms as well, though not in all. A gain in the strict column alone is a gain in form."
        ),
        Table(["model", "strict %", "lenient %", "difference", "in a box %"], rows),
    ]
    ours = headline_model(run)
    found = find_comparison(run, ours, run.models[0]) if ours != run.models[0] else None
    if found and "form" in found:
        parts.append(
            f"Of the {percent(found['difference'])} points between {ours} and {run.models[0]}, {percent(found['form']['difference'])} "
            f"({format_interval(found['form']['ci95'])}) are form, and {percent(found['lenient']['difference'])} remain in the lenient reading."
        )
    parts += _work_shown(run)
    return Section("Strict and lenient", parts, "form")


def _work_shown(run: Run) -> list[Part]:
    """How much work each model's responses show, and how often those are right that show some."""
    rows = [
        [model, percent(one["bare"]), f"{one['operations']:.2g}", percent(one.get("accuracy_with_work"))]
        for model, one in run.results.averages.items()
        if "bare" in one
    ]
    if not rows:
        return []
    note = Note(
        "Work shown: a bare answer has at most 12 words beside it, and no number or command of LaTeX among them. A model that stops to guess gains accuracy without "
        "reasoning better: compare the last column."
    )
    return [note, Table(["model", "bare answers %", "operations per response", "right of those with work %"], rows)]


def problems_section(run: Run) -> Section:
    """Per-problem heat map, and problems gained and lost with their answers side by side."""
    if not run.items:
        return Section("Problems", [])
    shares = shares_by_benchmark(run.items, run.models)
    note = "Each column is a problem, each row a model: blue is right in all samples, red in none. Problems stand from hard to easy."
    parts: list[Part] = [Note(note), *draw_chart("problems", note, lambda width: heat_figure(shares, width))]
    if len(run.models) > 1:
        parts += _gained_and_lost(run)
    parts += _missing_figures(run)
    return Section("Problems", parts, "problems")


def _missing_figures(run: Run) -> Iterator[Part]:
    """The problems that speak of a figure which their text does not hold."""
    said = run.missing_figures
    found = [
        [_link(item), printable(item.id, 60), printable(said[item.id], 220)] for item in run.items if item.id in said
    ]
    if found:
        note = "Found by their words, so some may be whole. A model that cannot see the figure has to guess; the scores without them stand among the other ways of scoring."
        title = f"Problems that speak of a figure which is missing: {len(found)}"
        yield Fold(title, [Note(note), Table(["benchmark", "problem", "what it says"], found)])


def _gained_and_lost(run: Run) -> Iterator[Part]:
    """How many problems the headline's model gained and lost against the first one (where it is the first, the last against it), and the clearest of them."""
    before, after = run.models[0], headline_model(run)
    if before == after:
        before, after = after, run.models[-1]
    several = any(item.tallies[after].samples > 1 for item in run.items if after in item.tallies)
    by_chance = (
        f" By chance: how many {after} solves with one half of its samples and not with the other, and as many the other way round: so many would be gained and lost "
        "without any change, with half the samples."
    )
    yield Note(
        f"A problem counts as solved where at least {100 * SOLVED:.0f}% of a model's samples are right. Gained: {after} solves it and {before} does not; lost: "
        f"the other way round.{by_chance if several else ''} A benchmark's name in the lists below leads to the problem's responses."
    )
    rows = []
    for benchmark in dict.fromkeys(item.benchmark for item in run.items):
        own = [item for item in run.items if item.benchmark == benchmark and {before, after} <= item.tallies.keys()]
        counts = Counter(item.fate(before, after) for item in own)
        turned = sum(item.tallies[after].turns_by_chance for item in own)
        rows.append([benchmark, *(counts[fate] for fate in FATES), turned])
    if len(rows) > 1:
        rows.append(["all", *(sum(row[place] for row in rows) for place in range(1, len(FATES) + 2))])
    rows = [[*row[:-1], *([f"{row[-1]:.0f}"] if several else [])] for row in rows]
    head = ["benchmark", "gained", "lost", "solved by both", "by neither", *(["by chance"] if several else [])]
    yield Table(head, rows)
    for fate, sign in (("gained", 1), ("lost", -1)):
        items = [item for item in run.items if item.fate(before, after) == fate]
        items.sort(key=lambda item: (-sign * (item.tallies[after].share - item.tallies[before].share), item.id))
        if items:
            title = f"{fate.capitalize()}: the clearest {min(SHOWN_PROBLEMS, len(items))} of {len(items)}"
            yield Fold(title, [_side_by_side(run, items[:SHOWN_PROBLEMS], before, after)])


def _side_by_side(run: Run, items: list[Item], before: str, after: str) -> Table:
    head = ["benchmark", "problem", "gold", f"{before} answered", f"{after} answered"]
    rows = []
    for item in items:
        texts = printable(item.problem or item.id, 220), printable(item.answer or "", 60)
        rows.append([_link(item), *texts, *(_commonest(run, item, model) for model in (before, after))])
    return Table(head, rows)


def _link(item: Item) -> Link:
    """A benchmark's name, which leads to a problem in the page's viewer."""
    return Link(item.benchmark, f"#problem={quote(f'{item.benchmark}:{item.id}')}")


def _commonest(run: Run, item: Item, model: str) -> str:
    """A model's most frequent answer to a problem, how often, how it was judged, and how many samples are right."""
    asked = (pc.field("id") == item.id) & (pc.field("benchmark") == item.benchmark) & (pc.field("model") == model)
    rows = drop_greedy(run.samples.filter(asked)).select(["answer", "correct", "outcome", "method"]).to_pylist()
    tally = item.tallies.get(model, Tally())
    right = f"{tally.right} of {tally.samples} right"
    if not rows:
        return right
    counted = Counter((row["answer"], row["correct"], row["outcome"], row["method"]) for row in rows)
    (answer, correct, outcome, method), count = counted.most_common(1)[0]
    judged = ", ".join(word for word in ("right" if correct else "wrong", outcome, method) if word)
    return f"{printable(answer, 60) if answer is not None else 'no answer'} ({count} time{'s' * (count != 1)}; {judged}); {right}"


def _verdicts(run: Run, names: list[str]) -> Iterator[Part]:
    """Paired verdicts of the headline's model against each other one."""
    ours = headline_model(run)
    others = [model for model in run.models if model != ours]
    for place, other in enumerate(others):
        found = {name: find_comparison(run, ours, other, name) for name in names}
        rows = [[name, one["verdict"], _gap_cell(one), _remark(one)] for name, one in found.items() if one]
        if rows:
            head = ["benchmark", "verdict", f"{ours} less {other}, points (95% interval), paired by problem", "remark"]
            kept = len(head) - (not any(row[-1] for row in rows))
            table = Table(head[:kept], [row[:kept] for row in rows])
            yield table if place == 0 else Fold(f"{ours} against {other}", [table])
    if others:
        yield Note(
            "“Better” and “worse” need an interval without 0 and a p-value that is small enough for the number of comparisons made; so “cannot tell” may stand beside an "
            "interval without 0. “Cannot tell” is no tie: the remark says which difference these problems and samples would find in 4 of 5 repetitions."
        )


def _gap_cell(found: Mapping[str, Any]) -> str:
    """A comparison's difference with its interval, without the words that each row would repeat."""
    return f"{format_points(found['difference'])} ({format_points(*found['ci95'])})" if "ci95" in found else ""


def _remark(found: Mapping[str, Any]) -> str:
    """What a comparison's words say beside its verdict, difference and interval."""
    words, verdict = found["words"], found["verdict"]
    rest = words.partition(")")[2] if verdict in ("better", "worse") else words.removeprefix(verdict)
    return rest.lstrip(",;: ")


def _these_problems(scores: Mapping[str, Mapping[str, Mapping[str, Any]]], names: list[str]) -> Iterator[Part]:
    """The table of scores once more, with the intervals of these very problems."""
    rows = [[name, *(format_score(scored.get(name), "fixed_ci95") for scored in scores.values())] for name in names]
    if any(any(row[1:]) for row in rows):
        note = (
            "Only the samples are uncertain here: what further samples of these very problems would come to. It says nothing about other problems of the kind; the intervals "
            "above do. A model that solves none of 30 problems in 960 responses is near 0 on these, and may be at 10% on the next 30."
        )
        yield Fold("Intervals for these problems alone", [Note(note), Table(["benchmark", *scores], rows)])


def _looks(run: Run) -> Iterator[Part]:
    """The looks of an evaluation that was sampled until a verdict."""
    looks = run.comparisons.get("looks")
    if not looks:
        return
    rows = []
    for one in looks["made"]:
        chances = (f"{one[name]:.2g}" for name in ("p", "limit"))
        difference = format_points(one["difference"])
        rows.append([one["samples"], percent(one["information"]), difference, *chances, one["verdict"]])
    yield Note(
        f"{describe_looks(looks)} The 5% are spent over the looks (Lan and DeMets); information is the inverse variance of the difference, as a share of that with "
        f"{looks['at_most']} samples per problem."
    )
    yield Table(["samples", "information %", " less ".join(looks["pair"]), "p", "limit of p", "verdict"], rows)


def _contamination(run: Run) -> Iterator[Part]:
    """What the benchmark problems that resemble trained rows do to each model's score."""
    rows = []
    for model, score in contaminated(run).items():
        every, clean = score["accuracy"], score["clean"]["accuracy"]
        rows.append([model, percent(every), percent(clean), format_points(clean - every)])
    if rows:
        yield "Accuracy without the benchmark problems that resemble rows which were trained on:"
        yield Table(["model", "all problems %", "without them %", "difference, points"], rows)


def _measures(
    scores: Mapping[str, Mapping[str, Mapping[str, Any]]], benchmarks: list[str], other_names: Mapping[str, str]
) -> Table:
    every = [score for scored in scores.values() for score in scored.values()]
    names = [name for name in MEASURES if any(name in score for score in every)]
    at_k = sorted({name for score in every for name in score if name.startswith(("pass@", "maj@"))}, key=_by_k)
    place = names.index("greedy") + 1 if "greedy" in names else 2
    names[place:place] = at_k
    rows = [
        [model, benchmark, *(_measure(name, score.get(name)) for name in names)]
        for model, scored in scores.items()
        for benchmark, score in scored.items()
        if benchmark in benchmarks
    ]
    titles = {**MEASURES, **other_names}
    return Table(["model", "benchmark", *(titles.get(name, f"{name} %") for name in names)], rows)


def _by_k(name: str) -> tuple[str, int]:
    kind, _, k = name.partition("@")
    return (kind != "pass", int(k)) if k.isdigit() else (True, 0)


def _measure(name: str, value: Any) -> Any:
    if value is None:
        return ""
    if name in ("ci95", "fixed_ci95"):
        return format_interval(value)
    if MEASURES.get(name, "%").endswith("%"):
        return percent(value)
    return value if isinstance(value, int) else f"{value:,.4g}"
