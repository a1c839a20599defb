"""Warnings that stand at the top of the report, and what its numbers cannot say, each from the run's own figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from compass.evaluation.benchmark_scores import MOST_UNREAD
from compass.report.given import GIVEN_LIMITS, given_warnings
from compass.report.headline import AVERAGE, find_comparison, headline_model, percent
from compass.report.run import Run

CUT_OFF = 0.05
"""Share of responses cut off by the length limit above which a score is in doubt."""

FEW = 0.06
"""A comparison that cannot show a difference of this size rests on few samples or problems."""

BARE_FALL = 0.1
"""Share of bare answers that a model gives less than another above which a gain may be a habit."""

LENIENT_GAP = 0.03
"""Accuracy that only the lenient reading finds, above which the form of answers limits a score."""


def warnings(run: Run) -> list[str]:
    """What a reader has to know before any score, the most serious first."""
    return [
        *older_scores(run),
        *given_warnings(run),
        *_form_only(run),
        *_bare(run),
        *_setups(run),
        *_uneven(run),
        *_cut_off(run),
        *_contamination(run),
        *_guards(run),
        *_few(run),
        *_format(run),
        *_unread(run),
        *_unread_rollouts(run),
        *_too_long(run),
        *_curriculum(run),
        *_sources(run),
        *_verifier(run),
        *_uncommitted(run),
    ]


def limits(run: Run) -> list[str]:
    """Why the conclusion might be wrong although every figure is right."""
    lines = (
        [
            *GIVEN_LIMITS,
        ]
        if run.given
        else [
            "One run with one seed was scored. Intervals cover the choice of problems and of responses, not what another training run would give: "
            "repeat with other seeds before you call a recipe better; “compass report RUN RUN RUN” shows how far they spread.",
            "The models were compared on these benchmarks alone. Other kinds of problems, languages or prompts may order them differently.",
        ]
    )
    if run.results.planted:
        lines.append(
            "Training and benchmark problems come from one generator: the gain says that the pipeline learns what it trains on, not that "
            "the policy reasons better in general."
        )
    if run.problems is not None and run.problems["similar"].null_count < run.problems.num_rows:
        lines.append(
            "Contamination is searched for by words. A translation or a free retelling of a benchmark's problem passes, and what the starting "
            "weights had seen before is not known."
        )
    lines.append(
        "Right means that the verifier finds the answer equal to the published one. It can be wrong on unusual forms, and published answers can be wrong; "
        "read some responses in the viewer."
    )
    if len(run.models) > 2:
        lines.append(
            "The best of several models was picked by the same scores that are shown, which flatters it a little. Verdicts are corrected for the "
            "number of pairs; intervals are not."
        )
    return lines


def older_scores(run: Run) -> Iterator[str]:
    """Scores of models that were trained before what the folder holds now."""
    if run.outdated_by:
        yield (
            f"{run.name}: its scores are older than its models or settings: since the evaluation {', '.join(run.outdated_by)} ran again or got other "
            "settings. Run `compass run` there, which evaluates what is new."
        )


def _form_only(run: Run) -> Iterator[str]:
    ours = headline_model(run) if run.models else ""
    for model in run.models:
        found = find_comparison(run, ours, model) if model != ours else None
        if not found or "form" not in found or found["verdict"] != "better":
            continue
        low, high = found["form"]["ci95"]
        if low > 0 and found["lenient"]["ci95"][0] <= 0 <= found["lenient"]["ci95"][1]:
            yield (
                f"Format-only gain: {ours} beats {model} by {percent(found['difference'])} points when answers have to be in the asked form, but "
                f"by {percent(found['lenient']['difference'])} points in the lenient reading. It learned the form, which is no gain in ability."
            )
        elif low > 0 and high > 0:
            yield (
                f"Part of the gain is form: of {percent(found['difference'])} points by which {ours} beats {model}, "
                f"{percent(found['form']['difference'])} are gone in the lenient reading."
            )


def _bare(run: Run) -> Iterator[str]:
    """A gain that goes with fewer bare answers: how much of it is among the responses that show work."""
    ours = headline_model(run) if run.models else ""
    averages = run.results.averages
    for model in run.models:
        one, two = averages[model], averages[ours]
        if "accuracy_with_work" not in one or "accuracy_with_work" not in two or one["bare"] - two["bare"] < BARE_FALL:
            continue
        yield (
            f"{percent(one['bare'])}% of the responses of {model} are bare answers, and {percent(two['bare'])}% of those of {ours}. Of the responses "
            f"that show work {percent(one['accuracy_with_work'])}% and {percent(two['accuracy_with_work'])}% are right; the rest of a gain can be fewer guesses."
        )


def _setups(run: Run) -> Iterator[str]:
    for name in ("sampling", "engine", "seed", "prompt"):
        values = {_plain(setup.get(name)) for setup in run.setups.values()}
        if len(values) > 1:
            yield f"The models were not sampled alike: their {name} differs ({' against '.join(sorted(values))[:300]})."


def _plain(value: object) -> str:
    """A fact of a setup as a reader would write it: `name server, version 0.28.0`."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(part)}" for name, part in value.items())
    return "none" if value is None else str(value)


def _uneven(run: Run) -> Iterator[str]:
    answered = {tuple(sorted(scored)) for scored in run.results.scores.values()}
    if len(answered) > 1:
        yield "The models were not scored on the same benchmarks: their averages are of different problems; compare them by benchmark."


def _cut_off(run: Run) -> Iterator[str]:
    cells = [
        f"{model} on {benchmark} {percent(score['truncated'])}%"
        for model, scored in run.results.scores.items()
        for benchmark, score in scored.items()
        if benchmark != AVERAGE and score.get("truncated", 0) > CUT_OFF
    ]
    if cells and run.given:
        yield f"More than {percent(CUT_OFF)}% of responses end inside their answer, and so count as wrong: {_listed(cells)}. With a longer limit they might have answered."
    elif cells:
        yield f"More than {percent(CUT_OFF)}% of responses were cut off at the length limit, which counts as wrong unless they had answered: {_listed(cells)}."


def _contamination(run: Run) -> Iterator[str]:
    if run.problems is None:
        return
    similar = run.problems["similar"].to_pylist()
    if all(rows is None for rows in similar):
        yield "Contamination was not checked: the rows that were trained on were not at hand."
        return
    hit = sum(bool(rows) for rows in similar)
    if not hit:
        return
    without = ""
    if changes := [abs(score["clean"]["accuracy"] - score["accuracy"]) for score in contaminated(run).values()]:
        without = f"Without {'them' if hit > 1 else 'it'} the scores change by at most {percent(max(changes))} points (the table is below Scores). "
    weights = "What the starting weights had seen is not known."
    if run.parameters.get("base", {}).get("pretrain"):
        generated = [one.get("path", "") for one in run.parameters.get("collect", {}).get("benchmarks", [])]
        same = all("$GENERATED" in path for path in generated)
        weights = "The starting weights were pre-trained here, on problems of the generator " + (
            "that made the benchmarks." if same else "of `tiny`; whether your benchmarks are like them is not known."
        )
    yield (
        f"Contamination: {hit:,} of {len(similar):,} benchmark problems resemble{'s' * (hit == 1)} rows that were trained on. {without}{weights}"
    )


def contaminated(run: Run) -> dict[str, Mapping[str, Any]]:
    """Model to its average score, where some of its problems resemble trained rows and the score without them is known."""
    return {model: score for model, score in run.results.averages.items() if score.get("similar") and "clean" in score}


def _guards(run: Run) -> Iterator[str]:
    fired: dict[str, list[str]] = {}
    for stage, found in run.results.findings.items():
        for guard, count in Counter(line["guard"] for line in found).items():
            fired.setdefault(guard, []).append(f"{stage} ({count} x)")
    if fired:
        cells = (f"{guard} in {', '.join(stages)}" for guard, stages in fired.items())
        yield f"Guards fired (findings below Training): {'; '.join(cells)}."


def _few(run: Run) -> Iterator[str]:
    """Comparisons of the headline's model that end without a verdict because they could not have shown a difference worth having."""
    ours = headline_model(run) if run.models else ""
    cells = []
    for other in run.models:
        weak = {
            name: found
            for name in (run.results.benchmarks if other != ours else ())
            if (found := find_comparison(run, ours, other, name))
            and found["verdict"] == "cannot tell"
            and found["detectable"] > FEW
        }
        average = weak.pop(AVERAGE, None)
        whole = [f"on average ({_least_shown(average)})"] if average else []
        single = (
            [f"on {_listed([f'{name} ({_least_shown(found)})' for name, found in weak.items()], most=2)}"]
            if weak
            else []
        )
        if weak or average:
            cells.append(f"{other} {' and '.join(whole + single)}")
    if cells:
        yield f"Too few problems or samples to tell {ours} from {'; from '.join(cells)}."


def _least_shown(found: Mapping[str, Any]) -> str:
    return f"{found['problems']:,} problems would show {percent(found['detectable'])} points or more"


def _format(run: Run) -> Iterator[str]:
    gaps = {model: one["lenient"] - one["accuracy"] for model, one in run.results.averages.items() if "lenient" in one}
    if cells := [f"{model} {percent(gap)} points" for model, gap in gaps.items() if gap > LENIENT_GAP]:
        yield f"Right answers in another form than asked count as wrong in the scores: {', '.join(cells)} more in the lenient reading."


def _unread(run: Run) -> Iterator[str]:
    cells = [
        f"{model} on {name}: {percent(score['unanswered'])}% without an answer, {percent(score['unreadable'])}% with one that cannot be read"
        for model, scored in run.results.scores.items()
        for name, score in scored.items()
        if name != AVERAGE and score.get("unanswered", 0.0) + score.get("unreadable", 0.0) > MOST_UNREAD
    ]
    if cells:
        yield f"Many responses count as wrong because no answer was read ({_listed(cells)}). Look at some in the viewer before you quote a score."


def _unread_rollouts(run: Run) -> Iterator[str]:
    share = run.results.summaries.get("grade", {}).get("metrics", {}).get("unanswered") or 0.0
    if share > MOST_UNREAD:
        yield (
            f"The grader gave no answer that could be read in {percent(share)}% of its rollouts: levels measure its form as well as difficulty. "
            "Look at some in data/grade/rollouts.parquet, and at grade.sampling (prompt, max_tokens)."
        )


def _too_long(run: Run) -> Iterator[str]:
    for model, score in run.results.averages.items():
        if count := score.get("prompt_too_long"):
            yield f"Too long for {model}'s context, and counted as wrong: {count:,} problem{'s' * (count != 1)}."


def _curriculum(run: Run) -> Iterator[str]:
    stages = run.results.summaries.get("curriculum", {}).get("metrics", {}).get("stages", {})
    for stage, facts in stages.items():
        if facts.get("missing"):
            yield f"{stage} trained on {facts['missing']:,} fewer problems than its mix asks for."


def _sources(run: Run) -> Iterator[str]:
    for stage in ("collect", "dedup", "denoise", "verify"):
        for warning in run.results.summaries.get(stage, {}).get("metrics", {}).get("warnings", ()):
            yield f"{stage}: {warning}."


def _verifier(run: Run) -> Iterator[str]:
    if run.models and not run.verifier:
        yield "The verifier's error on this run's own answers is unmeasured: “compass label” has a person judge a sample of them."
    elif run.models and run.verifier.get("error") is None:
        yield (
            f"The verifier's error is not known yet: {run.verifier['labelled']} responses were judged, and every kind of response needs some "
            "(“compass label”)."
        )


def _uncommitted(run: Run) -> Iterator[str]:
    if run.commit.get("dirty") == "true":
        yield "The code or the settings had changes that no commit holds: another machine cannot repeat this run from the commit alone."


def _listed(cells: list[str], most: int = 6) -> str:
    return ", ".join(cells[:most]) + (f" and {len(cells) - most} more" if len(cells) > most else "")
