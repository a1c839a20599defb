"""Answers given away: the gold stands in the problem, as a formula, boxed or behind "Answer:", or a solution ends the text."""

from __future__ import annotations

import re

from compass.curation.noise.text import ASK, excerpt, holds_any
from compass.ledger import Drop, Reason
from compass.settings import Denoise
from compass.sources.gold import last_boxed
from compass.verifier.copied import gives_away

_ANSWER = re.compile(r"\b(?:answer|ans|result)\s*(?:is)?\s*[:：.=]\s*(.{1,200})", re.I | re.S)
_CONCLUSION = re.compile(r"(?:^|[.,\n])\s*(?:therefore|hence|thus|consequently)\b[^?]*\Z", re.I)
_CONCLUDED = re.compile(r"\b(?:therefore|hence|thus|so),? the answer (?:is|to)\b", re.I)
_SPACE = re.compile(r"[\s$]|\\[,;! ]|\\(?:text|mathrm|mathbf|boldsymbol|left|right|displaystyle)\b|[{}]")


def answer_given(record: dict, settings: Denoise) -> Drop | None:
    """A problem that already tells its gold."""
    text = record["problem"]
    gold = _bare(record.get("answer") or "")
    if not gold:
        return None
    if "\\boxed" in text and (box := last_boxed(text)) and _bare(box) == gold:
        return Drop(Reason.ANSWER_GIVEN, {"boxed": box[:120]})
    lowered = text.lower()
    if holds_any(lowered, ("ans", "result")):
        for match in _ANSWER.finditer(text):
            if _starts_with(match[1], gold):
                return Drop(Reason.ANSWER_GIVEN, {"text": excerpt(text, *match.span())})
    if holds_any(lowered, ("therefore", "hence", "thus", "so")):
        match = _CONCLUSION.search(text)
        if (match and gold in _bare(match[0])[-len(gold) - 12 :] and not ASK.search(match[0])) or (
            match := _CONCLUDED.search(text)
        ):
            return Drop(Reason.ANSWER_GIVEN, {"text": excerpt(text, *match.span())})
    if gives_away(record["answer"], text):  # the verifier cannot tell a copy from an answer
        return Drop(Reason.ANSWER_GIVEN, {"formula": record["answer"][:120]})
    return None


def _bare(text: str) -> str:
    return _SPACE.sub("", text)


def _starts_with(text: str, gold: str) -> bool:
    """Whether the text opens with the gold and not with a longer number or word."""
    head = _bare(text[: 4 * len(gold) + 40])
    after = head[len(gold) : len(gold) + 1]
    longer = (after.isdigit() and gold[-1].isdigit()) or (after.isalpha() and gold[-1].isalpha())
    return head.startswith(gold) and not longer
