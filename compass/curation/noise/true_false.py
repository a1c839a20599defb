"""True or false: a coin scores half of them."""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import excerpt, holds_any
from compass.ledger import Reason
from compass.settings import Denoise

_GOLD = re.compile(
    r"[\s$\\({]*(?:text(?:bf)?\s*\{\s*)?(?:true|false|correct|incorrect|right|wrong|√|×|✓|✗|\\times|\\checkmark|对|错|正确|错误)[\s.})$]*",
    re.I,
)
_ASKED = re.compile(
    r"\btrue or false\b\s*[:?)]|\((?:true|right)\s*(?:/|or)\s*(?:false|wrong)\)|^\s*(?:true|right) or (?:false|wrong)\b"
    r"|\bis (?:this|the following|that|the) (?:statement|claim|assertion)?.{0,40}\btrue or false\b"
    r"|\(judge (?:true|right)|\bwhether (?:the|this|each) (?:following )?(?:statement|proposition|claim|assertion)s? (?:is|are) (?:true|correct)",
    re.I,
)


def true_false(record: dict, settings: Denoise) -> Finding | None:
    """A problem that asks whether something is true."""
    answer = record.get("answer") or ""
    if len(answer) < 40 and _GOLD.fullmatch(answer):
        return Finding(Reason.TRUE_FALSE, Strength.LIKELY, {"answer": answer})
    text = record["problem"]
    lowered = text.lower()
    match = _ASKED.search(text) if holds_any(lowered, ("true", "right", "correct")) else None
    return match and Finding(Reason.TRUE_FALSE, Strength.LIKELY, {"text": excerpt(text, *match.span())})
