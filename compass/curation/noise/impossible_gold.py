"""Golds that no answer to their question can be, whatever the mathematics says.

A count of things is one number and not negative; of problems whose numbers were exchanged, and of systems whose unknowns were all put
down, some have other golds. A count of a measure can be negative: points, degrees, dollars on an account. And a spreadsheet makes a date
of a fraction: 5/23 is published as `23-May`, or with its year.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import sentences, without_figures
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason
from compass.verifier.reading.units import find_unit

_NUMBER = r"[-−]?\$?\d[\d,]*(?:\.\d+)?(?!\d)"
_NEGATIVE = re.compile(r"\s*\$?[-−]\s?\d[\d.,]*(?:\s?[^\W\d_]+){0,3}\$?\s*")
_SEVERAL = re.compile(rf"\s*(?:{_NUMBER}(?:,\s+(?!000\b)|\s+and\s+))+{_NUMBER}\s*")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DATE = re.compile(rf"\s*(?:\d{{1,2}}-{_MONTH}(?:-\d{{2,4}})?|{_MONTH}-\d{{2}}|\d{{4}}-\d\d-\d\d(?: 00:00:00)?)\s*")
_ASKS_WHEN = re.compile(
    r"^\W*when\b|\bwhen (?:will|did|does|do|is|was|were|are|should)\b|\b(?:dates?|\w*days?|months?|deadline|calendar|year|holiday)\b",
    re.I,
)
_HOW_MUCH = re.compile(r"\bhow (?:many|much(?! (?:are|were|do)\b)|(?:old|long) (?:is|was|will))\b", re.I)
_HOW_MANY = re.compile(
    r"\bhow many ((?:[^\W\d_]+ ){0,3}?[^\W\d_]+)(?=\s(?:is|are|was|were|do|does|did|will|would|can|has|have|had|should|must|in|of|per|left|remain)\b|[?,])",
    re.I,
)
_CAN_BE_NEGATIVE = re.compile(
    r"\b(?:points?|scores?|units?|deviations?|charges?|diopters|decibels|more|less|fewer|change\w*|difference)\b", re.I
)
_ASKS_FOR_SEVERAL = re.compile(
    r"\b(?:and|each|every|both|all|respectively|or|could|can|might|may|possible|possibly|different|kinds?|types?|values?|they)\b|[^\W\d_],",
    re.I,
)


def impossible_gold(record: dict, settings: Denoise) -> Finding | None:
    """A negative count of things, several values for one count, or a date where none is asked for."""
    answer = record.get("answer") or ""
    if len(answer) > 80:
        return None
    negative, several, date = (one.fullmatch(answer) for one in (_NEGATIVE, _SEVERAL, _DATE))
    if not (negative or several or date):
        return None
    parts = sentences(without_figures(record["problem"]))
    question = next((part for part in reversed(parts) if "?" in part), parts[-1] if parts else "")
    if date and not _ASKS_WHEN.search(question):
        return found(NoiseReason.IMPOSSIBLE_GOLD, Strength.SURE, record, date, "answer", kind="date")
    if len(_HOW_MUCH.findall(record["problem"])) != 1 or (asked := _HOW_MUCH.search(question)) is None:
        return None
    if negative and _counts_things(question):
        return found(NoiseReason.IMPOSSIBLE_GOLD, Strength.LIKELY, record, negative, "answer", kind="negative count")
    # The demand may go on in another sentence: "How many …? (Give all possible values.)"
    demand = " ".join([question[asked.end() :], *parts[parts.index(question) + 1 :]])
    if several and not _ASKS_FOR_SEVERAL.search(demand):
        return found(NoiseReason.IMPOSSIBLE_GOLD, Strength.LIKELY, record, several, "answer", kind="several values")
    return None


def _counts_things(question: str) -> bool:
    """Whether a question counts things, and no measure."""
    counted = _HOW_MANY.search(question)
    if counted is None or _CAN_BE_NEGATIVE.search(question):
        return False
    return not any(find_unit(word) for word in counted[1].split())
