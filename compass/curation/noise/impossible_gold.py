"""Golds that no answer to their question can be, whatever the mathematics says.

A count is one number and not negative: of problems whose numbers were exchanged, and of systems whose unknowns were all put down, some
have such golds. And a spreadsheet makes a date of a fraction: 5/23 is published as `23-May`.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import sentences, without_figures
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

_NUMBER = r"[-−]?\$?\d[\d,]*(?:\.\d+)?(?!\d)"
_NEGATIVE = re.compile(r"\s*\$?[-−]\s?\d[\d.,]*(?:\s?[^\W\d_]+){0,3}\$?\s*")
_SEVERAL = re.compile(rf"\s*(?:{_NUMBER}(?:,\s+|\s+and\s+))+{_NUMBER}\s*")
_DATE = re.compile(
    r"\s*(?:\d{1,2}-(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)-\d{2})\s*"
)
_COUNT = re.compile(r"\bhow (?:many|much|old|long)\b", re.I)
_COUNTS_WHOLES = re.compile(r"\bhow many\b", re.I)
_CAN_FALL = re.compile(
    r"\b(?:chang\w*|differ\w*|more|less|fewer|rate|gain\w*|los[st]\w*|net|degrees|below|above|profit)\b", re.I
)
_ASKS_FOR_SEVERAL = re.compile(
    r"\b(?:and|each|every|both|all|respectively|or|could|can|might|may|possible|possibly|different|kinds?|types?|values?|are they)\b",
    re.I,
)
_ASKS_WHEN = re.compile(r"\b(?:when|date|day|month|birthday|calendar)\b", re.I)


def impossible_gold(record: dict, settings: Denoise) -> Finding | None:
    """A negative count, several values for one count, or a date where none is asked for."""
    answer = record.get("answer") or ""
    if len(answer) > 80:
        return None
    text = record["problem"]
    if (date := _DATE.fullmatch(answer)) is not None and not _ASKS_WHEN.search(text):
        return found(NoiseReason.IMPOSSIBLE_GOLD, Strength.SURE, record, date, "answer", kind="date")
    negative, several = _NEGATIVE.fullmatch(answer), _SEVERAL.fullmatch(answer)
    if negative is None and several is None:
        return None
    asking = [sentence for sentence in sentences(without_figures(text)) if "?" in sentence or _COUNT.search(sentence)]
    if len(asking) != 1 or len(_COUNT.findall(asking[0])) != 1:
        return None
    # The demand stands behind a condition, and may go on in another sentence: "If …, how many …? (Give all possible values.)".
    demand = text[next(_COUNT.finditer(text)).start() :]
    if negative is not None and _COUNTS_WHOLES.match(demand) and not _CAN_FALL.search(demand):
        return found(NoiseReason.IMPOSSIBLE_GOLD, Strength.LIKELY, record, negative, "answer", kind="negative count")
    if several is not None and not _ASKS_FOR_SEVERAL.search(demand):
        return found(NoiseReason.IMPOSSIBLE_GOLD, Strength.LIKELY, record, several, "answer", kind="several values")
    return None
