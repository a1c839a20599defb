"""Defects planted among the generated problems, each labelled with the stage and reason that should drop it.

A planted duplicate always stands in a later source than its original, so that the rule "the earlier source's row
survives" decides which of the two goes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from compass.ledger import Reason
from compass.settings.denoise import NoiseReason
from compass.sources.tiny_problems import Problem

NEAR_SIMILARITY = 0.82
"""Least word-trigram Jaccard similarity of a planted near-duplicate to its original, a margin above dedup's 0.8."""

VARIANT_COVERAGE = 0.6
"""Least share of a benchmark item's 13-grams in its planted variant, a margin above denoise's 0.5."""


@dataclass(frozen=True)
class Row:
    """One row to publish, with its truth. `twin` is the original's (source, source_id); clean rows have no `reason`."""

    text: str
    answer: str
    equations: tuple[str, ...]
    kind: str = "clean"
    stage: str = ""
    reason: str = ""
    twin: tuple[str, str] = ("", "")
    level: int = 0
    skill: str = ""


@dataclass(frozen=True)
class Defect:
    """A kind of planted row that stands alone: who should drop it, why, and how a problem becomes one."""

    kind: str
    stage: str
    reason: Reason | NoiseReason
    spoil: Callable[[random.Random, Problem], tuple[str, str]]
    """`(rng, problem) -> (text, answer)`."""


def row_of(problem: Problem, **changes: object) -> Row:
    """A row of `problem`, clean unless `changes` say otherwise."""
    values = {
        "text": problem.text,
        "answer": str(problem.answer),
        "equations": tuple(step.equation for step in problem.steps),
        "level": problem.level,
        "skill": problem.skill,
    }
    return Row(**{**values, **changes})  # type: ignore[arg-type]


def ngrams(text: str, n: int) -> set[tuple[str, ...]]:
    """Word n-grams of a text, case and punctuation aside; the whole text where it is shorter than n words."""
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + n]) for i in range(max(1, len(words) - n + 1))}


def similarity(one: str, other: str) -> float:
    """Jaccard similarity of word trigrams, the lower of counting punctuation as part of a word and leaving it out."""
    similarities = []
    for left, right in (
        (ngrams(one, 3), ngrams(other, 3)),
        (ngrams(re.sub(r"[^\w\s]", "_", one), 3), ngrams(re.sub(r"[^\w\s]", "_", other), 3)),
    ):
        similarities.append(len(left & right) / len(left | right))
    return min(similarities)


def coverage(item: str, text: str, n: int = 13) -> float:
    """Share of `item`'s word n-grams that `text` holds."""
    grams = ngrams(item, n)
    return len(grams & ngrams(text, n)) / len(grams)


_OPENINGS = ("Now", "Solve:", "Question:", "Please answer.", "Here is a problem.", "Read this carefully.")
_CLOSINGS = ("Explain.", "Show your work.", "Give a number.", "Work it out.", "Think step by step.")


def exact_copy(rng: random.Random, text: str) -> str:
    """The same words: untouched, in other case, or with other white space."""
    return rng.choice((str, str, str.upper, lambda t: t.replace(". ", ".  "), lambda t: f" {t}\n"))(text)


def rewordings(rng: random.Random, text: str) -> Iterator[str]:
    """Light rewordings with the same numbers, at random, without end."""
    while True:
        changed = text
        if rng.random() < 0.4:
            changed = changed.replace("How many", "So how many").replace("Which number", "So which number")
        if rng.random() < 0.4:
            changed = f"{rng.choice(_OPENINGS)} {changed}"
        if rng.random() < 0.6 or changed == text:
            changed = f"{changed} {rng.choice(_CLOSINGS)}"
        yield changed


def near_copy(rng: random.Random, text: str) -> str:
    """A light rewording whose similarity to `text` is `NEAR_SIMILARITY` or more."""
    return next(changed for changed in rewordings(rng, text) if similarity(text, changed) >= NEAR_SIMILARITY)


def benchmark_variant(rng: random.Random, text: str) -> str:
    """A light rewording of a benchmark item that still holds most of its 13-grams."""
    return next(changed for changed in rewordings(rng, text) if coverage(text, changed) >= VARIANT_COVERAGE)


def _link(rng: random.Random, problem: Problem) -> tuple[str, str]:
    number = rng.randint(100, 999)
    form = rng.choice(
        (
            "{text} (Source: https://forum.example.org/t/{n})",
            "See http://www.example.com/tasks/{n}.html for the story. {text}",
            "{text} [Discussion](https://example.net/p/{n})",
        )
    )
    return form.format(text=problem.text, n=number), str(problem.answer)


def _image(rng: random.Random, problem: Problem) -> tuple[str, str]:
    number = rng.randint(100, 999)
    form = rng.choice(
        (
            "![](https://cdn.example.org/cropped/{n}.jpg?height=200) {text}",
            "{text} ![picture](images/{n}.png)",
            '<img src="figures/{n}.gif" alt=""> {text}',
        )
    )
    return form.format(text=problem.text, n=number), str(problem.answer)


def _proof(rng: random.Random, problem: Problem) -> tuple[str, str]:
    demand = rng.choice(
        (
            "Prove that the last number of this story is a positive integer.",
            "Show that the order of these changes matters, and prove your claim.",
            "Prove that no other result is possible.",
        )
    )
    return " ".join((*problem.words[:-1], demand)), str(problem.answer)


def _multiple_choice(rng: random.Random, problem: Problem) -> tuple[str, str]:
    others = rng.sample([value for value in range(1, 31) if value != problem.answer], 3)
    options = sorted([problem.answer, *others])
    letter = "ABCD"[options.index(problem.answer)]
    form = rng.choice(("({l}) {v}", "{l}) {v}", "{l}. {v}"))
    listed = rng.choice((" ", "\n")).join(form.format(l=name, v=v) for name, v in zip("ABCD", options, strict=True))
    return f"{problem.text}\n{listed}", letter


def _unreadable(rng: random.Random, problem: Problem) -> tuple[str, str]:
    # Braces balance, so that the answer is found whole inside \boxed{} and it is the verifier that cannot read it.
    form = rng.choice(("\\frac{{{n}}}{{}}", "{n} +", "\\sqrt{{}} {n}", "= {n} / / =", "{n} \\times \\times", "(({n}"))
    return problem.text, form.format(n=problem.answer)


DEFECTS = (
    Defect("link", "denoise", NoiseReason.LINK, _link),
    Defect("image", "denoise", NoiseReason.IMAGE, _image),
    Defect("proof", "denoise", NoiseReason.PROOF, _proof),
    Defect("multiple_choice", "denoise", NoiseReason.MULTIPLE_CHOICE, _multiple_choice),
    Defect("unreadable_gold", "verify", Reason.UNREADABLE_GOLD, _unreadable),
)
"""Defects of a row by itself; each is planted on a problem that occurs nowhere else."""


def plant_defects(rng: random.Random, problems: Sequence[Problem], per_kind: int) -> list[Row]:
    """`per_kind` rows of each of `DEFECTS`, using up `per_kind * len(DEFECTS)` fresh problems."""
    rows = []
    for number, defect in enumerate(DEFECTS):
        for problem in problems[number * per_kind : (number + 1) * per_kind]:
            text, answer = defect.spoil(rng, problem)
            rows.append(
                row_of(
                    problem, text=text, answer=answer, kind=defect.kind, stage=defect.stage, reason=str(defect.reason)
                )
            )
    return rows


def plant_benchmark_items(rng: random.Random, items: Sequence[tuple[str, str, Problem]], per_kind: int) -> list[Row]:
    """Benchmark items among the training rows, first untouched, then lightly reworded.

    Args:
        rng: chooses items and rewordings.
        items: (benchmark, item id, problem).
        per_kind: rows of each of the two kinds; at most as many as there are items.
    """
    chosen = rng.sample(list(items), min(2 * per_kind, len(items)))
    rows = []
    for number, (benchmark, item, problem) in enumerate(chosen):
        exact = number < (len(chosen) + 1) // 2
        rows.append(
            row_of(
                problem,
                text=problem.text if exact else benchmark_variant(rng, problem.text),
                kind="benchmark_item" if exact else "benchmark_variant",
                stage="denoise",
                reason=str(Reason.CONTAMINATED),
                twin=(benchmark, item),
            )
        )
    return rows


def plant_duplicates(rng: random.Random, originals: Sequence[tuple[str, str, Row]], per_kind: int) -> list[Row]:
    """Copies of published rows: exact, near, and exact with another answer.

    Args:
        rng: chooses rewordings and wrong answers.
        originals: (source, source id, row), at least `3 * per_kind`; each is copied once.
        per_kind: rows of each of the three kinds.
    """
    rows = []
    for number, (source, source_id, row) in enumerate(originals[: 3 * per_kind]):
        kind = ("exact_duplicate", "near_duplicate", "answer_conflict")[number // per_kind]
        text, answer = exact_copy(rng, row.text), row.answer
        if kind == "near_duplicate":
            text = near_copy(rng, row.text)
        if kind == "answer_conflict":
            answer = str(int(row.answer) + rng.choice((-1, 1, 2, 10)))
        rows.append(Row(text, answer, row.equations, kind, "dedup", kind, (source, source_id), row.level, row.skill))
    return rows
