"""Answers given away: the gold stands in the problem, boxed, behind "Answer:", as a formula, or a solution ends the text."""

from __future__ import annotations

import re
from collections import Counter

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.guessable import multiple_choice
from compass.curation.noise.text import ASK, holds_any, without_figures
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason
from compass.sources.gold import last_boxed
from compass.verifier.form import find_formula_texts, gives_away

LEAST_SIGNS = 5
"""Digits, letters and commands in a gold from which a problem that holds the same formula hardly holds it by chance."""

_ANSWER = re.compile(
    r"\b(?:answer|ans|result)\s*(?:is)?\s*[:：.=]\s*(.{1,200})|\bthe answer is\s+(.{1,200})", re.I | re.S
)
_CONCLUSION = re.compile(r"(?:^|[.,\n])\s*(?:therefore|hence|thus|consequently)\b[^?]*\Z", re.I)
_SOLUTION = re.compile(r"(?:[.?!]|\n)\s*Solution\s*[:.][^?]*\Z")
_CONCLUDED = re.compile(r"\b(?:therefore|hence|thus|so),? the answer (?:is|to)\b", re.I)
_BOX = re.compile(r"\\boxed")
_OFFERED = re.compile(r"\b(?:larger|smaller|greater|bigger|less)\b[^.?]*\bor\b(?! equal\b)", re.I)
_SPACE = re.compile(r"[\s$]|\\[,;! ]|\\(?:text|mathrm|mathbf|boldsymbol|left|right|displaystyle)\b|[{}]")
_MARKS = re.compile(
    r"\\(?!(?:text|mathrm|mathbf|boldsymbol|left|right|displaystyle|quad|qquad)\b)[A-Za-z]+|[A-Za-z]|\d+"
)
_SIDES = re.compile(r"=|<|>|\\(?:leq?|geq?|leqslant|geqslant|neq?|approx)\b")


def answer_given(record: dict, settings: Denoise) -> Finding | None:
    """A problem that already tells its gold.

    A formula that equals the gold is `likely` where the gold is long enough not to stand there by chance, and `possible` for
    a short one such as \\sqrt{3}, which is often a given length.
    """
    text = record["problem"]
    gold = _bare(record.get("answer") or "")
    if not gold:
        return None
    if "\\boxed" in text and (match := _boxed(text, gold)):
        return found(NoiseReason.ANSWER_GIVEN, Strength.SURE, record, match, boxed=record["answer"][:120])
    lowered = text.lower()
    if holds_any(lowered, ("ans", "result")):
        for match in _ANSWER.finditer(text):
            if _starts_with(match[1] or match[2], gold):
                return found(NoiseReason.ANSWER_GIVEN, Strength.SURE, record, match)
    if holds_any(lowered, ("therefore", "hence", "thus", "so the", "so, the")) and (match := _concluded(text, gold)):
        return found(NoiseReason.ANSWER_GIVEN, Strength.LIKELY, record, match)
    if "Solution" in text and (match := _SOLUTION.search(text)) and _bare(match[0]).rstrip(".").endswith(gold):
        return found(NoiseReason.ANSWER_GIVEN, Strength.LIKELY, record, match)
    return _stated(record, settings)


def _boxed(text: str, gold: str) -> re.Match[str] | None:
    """The first box that holds the gold."""
    boxes = list(_BOX.finditer(text))
    ends = [*(box.start() for box in boxes[1:]), len(text)]
    for box, end in zip(boxes, ends, strict=True):
        content = last_boxed(text[box.start() : end])
        if content and _bare(content) == gold:
            return box
    return None


def _concluded(text: str, gold: str) -> re.Match[str] | None:
    """The end of a printed solution: it reaches the gold, or calculates on after the question was asked."""
    match = _CONCLUSION.search(text)
    if match and not ASK.search(match[0]):
        if gold in _bare(match[0])[-len(gold) - 12 :]:
            return match
        if "=" in match[0] and ASK.search(text, 0, match.start()):
            return match
    return _CONCLUDED.search(text)


def _stated(record: dict, settings: Denoise) -> Finding | None:
    """A formula of the text that is the gold: the verifier cannot tell a copy of it from an answer. An option does not tell which is right."""
    answer, text = record["answer"], without_figures(record["problem"])
    marks = Counter(_MARKS.findall(answer))
    if marks.total() < 2 or not _may_hold(text, marks) or not gives_away(answer, text, items=False):
        return None
    if multiple_choice(record, settings) is not None:
        return None
    by_chance = (
        marks.total() < LEAST_SIGNS or "matrix}" in answer
    )  # a power or a product of a matrix is often the matrix
    by_chance = by_chance and not _OFFERED.search(text)  # "Which is larger, a or b?"
    strength = Strength.POSSIBLE if by_chance else Strength.LIKELY
    return Finding(NoiseReason.ANSWER_GIVEN, strength, {"formula": answer[:120]})


def _may_hold(text: str, marks: Counter[str]) -> bool:
    """Whether a formula of the text, or a side of it, has the gold's digits, letters and commands: asked first, since reading
    every formula as a tree takes a hundred times as long."""
    if any(mark not in text for mark in marks):
        return False
    return any(
        Counter(_MARKS.findall(side)) == marks
        for formula in find_formula_texts(text)
        for side in (formula, *_SIDES.split(formula))
    )


def _bare(text: str) -> str:
    return _SPACE.sub("", text)


def _starts_with(text: str, gold: str) -> bool:
    """Whether the text opens with the gold and not with a longer number or word."""
    head = _bare(text[: 4 * len(gold) + 40])
    after = head[len(gold) : len(gold) + 1]
    longer = (after.isdigit() and gold[-1].isdigit()) or (after.isalpha() and gold[-1].isalpha())
    return head.startswith(gold) and not longer
