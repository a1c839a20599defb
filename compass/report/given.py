"""What a page says of responses that were made elsewhere: where they are from, how they were read, and what nobody here knows about them."""

from __future__ import annotations

from collections.abc import Iterator

from compass.page.blocks import Note, Part, Section, Table
from compass.report.headline import find_comparison, format_gap, format_interval, headline_model, percent
from compass.report.run import Run
from compass.sampling.score import OUTCOMES
from compass.verifier.extract import UNANSWERED

UNKNOWN = (
    "Not known, because the responses were made elsewhere and their file does not say it here: the prompt, the temperature, whether responses are greedy or "
    "sampled, their tokens, and why each ended. So “cut off” counts only those that visibly end inside their answer; others may have hit a limit as well."
)

COUNTS = {
    "rows": "rows",
    "responses": "responses",
    "empty_responses": "empty",
    "problems": "problems",
    "without_gold": "left out: no gold",
    "without_response": "no response",
}
"""Counts of `compass score` and their names on a page."""


def given_section(run: Run) -> Section:
    """The files, what was counted in them, and how each mode read their answers."""
    if not run.given:
        return Section("Where the responses are from", [])
    rows = [
        [model, fact["file"], (fact["sha256"] or "")[:8], *(fact["scores"][name] for name in COUNTS)]
        for model, fact in run.given.items()
    ]
    read = []
    for model, fact in run.given.items():
        for mode, counts in fact["scores"]["outcomes"].items():
            why = fact["scores"]["evidence"][mode]
            reasons = ", ".join(f"{why[reason]:,} {reason}" for reason in UNANSWERED if reason in why)
            read.append([model, mode, *(counts[name] for name in OUTCOMES), reasons])
    parts: list[Part] = [
        Note(UNKNOWN),
        Table(["model", "file", "SHA-256", *COUNTS.values()], rows),
        Note(
            "How the answers were read, by mode: responses that are right, wrong, or give an answer that cannot be read, and, where no answer is found, why."
        ),
        Table(["model", "mode", "right", "wrong", "unreadable", "no answer", "why"], read),
    ]
    return Section("Where the responses are from", parts, "given")


def explain_lenient(run: Run) -> str:
    """The accuracies in the lenient reading, which is the one to quote for responses that were not told a form, and how far the others are from the best."""
    best = headline_model(run)
    scores = [
        f"{model} {percent(score['lenient'])}% (95% interval {format_interval(score['lenient_ci95'])})"
        for model, score in run.results.averages.items()
    ]
    gaps = [
        f"{best} less {model} {format_gap(found['lenient'])}"
        for model in run.models
        if model != best and (found := find_comparison(run, best, model)) and "lenient" in found
    ]
    return (
        f"Read leniently, with an answer in any usual form counted: {'; '.join(scores + gaps)}. Quote the lenient figures unless the models were told to "
        "give their answer in a box or after “the answer is”: then the strict ones."
    )


def given_warnings(run: Run) -> Iterator[str]:
    """Problems whose gold is not the same in every file."""
    for model, fact in run.given.items():
        if count := fact["other_golds"]:
            yield f"{count:,} problem{'s have' if count > 1 else ' has'} another gold in the file of {model} than in one before it: each response is judged by its own file's gold, and these problems are left out of the comparison."


GIVEN_LIMITS = (
    "The responses were made elsewhere. How the models were asked is not known: another prompt, another temperature or another length limit may order them differently, "
    "and models that were asked in different ways cannot be compared by these figures.",
    "Each model is one set of responses. Intervals cover the choice of problems and of responses, not what another training run of the model would give.",
)
"""Why a conclusion from responses made elsewhere might be wrong although every figure is right."""
