"""Hyperlinks: debris of a web page, or information that is somewhere else."""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import excerpt, holds_any
from compass.ledger import Reason
from compass.settings import Denoise

_LINK = re.compile(
    r"\b(?:https?|ftp)://|\bwww\.\w|\\(?:url|href)\s*\{|\[url\b|<a\s+href|\]\((?:/|mailto:|#)\w"
    r"|\b[\w-]+\.(?:com|org|net|edu|ru|cn|io)/\w",
    re.I,
)
_GUARDS = (
    "://",
    "www.",
    "\\url",
    "\\href",
    "[url",
    "href",
    "](",
    ".com/",
    ".org/",
    ".net/",
    ".edu/",
    ".ru/",
    ".cn/",
    ".io/",
)


def link(record: dict, settings: Denoise) -> Finding | None:
    """A hyperlink in any markup."""
    text = record["problem"]
    lowered = text.lower()
    if not holds_any(lowered, _GUARDS):
        return None
    match = _LINK.search(text)
    return match and Finding(Reason.LINK, Strength.SURE, {"text": excerpt(text, *match.span())})
