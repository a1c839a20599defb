"""Answers given away: the gold stands in the problem, boxed or behind "Answer:", or a solution is printed below it."""

from __future__ import annotations

import re

from compass.curation.noise.text import excerpt
from compass.records import Drop, Reason
from compass.settings import Denoise

_ANSWER = re.compile(r"\b(?:answer|ans|solution|result)\s*(?:is)?\s*[:：.=]\s*(.{1,200})", re.I | re.S)
_SPACE = re.compile(r"[\s$]|\\[,;! ]|\\(?:text|mathrm|left|right|displaystyle)\b|[{}]")


def answer_given(record: dict, settings: Denoise) -> Drop | None:
    """A problem that already tells its gold."""
    text = record["problem"]
    gold = _bare(record.get("answer") or "")
    if not gold:
        return None
    if "\\boxed" in text:
        start = text.rfind("\\boxed")
        if _starts_with(text[start + len("\\boxed") :], gold):
            return Drop(Reason.ANSWER_GIVEN, {"text": excerpt(text, start, start + len(gold) + 8)})
    lowered = text.lower()
    if "ans" in lowered or "solution" in lowered or "result" in lowered:
        for match in _ANSWER.finditer(text):
            if _starts_with(match[1], gold):
                return Drop(Reason.ANSWER_GIVEN, {"text": excerpt(text, *match.span())})
    return None


def _bare(text: str) -> str:
    return _SPACE.sub("", text)


def _starts_with(text: str, gold: str) -> bool:
    """Whether the text opens with the gold and not with a longer number or word."""
    head = _bare(text[: 4 * len(gold) + 40])
    after = head[len(gold) : len(gold) + 1]
    return head.startswith(gold) and not (after.isalnum() and gold[-1].isalnum())
