"""Encoding damage: lost or doubled decoding, control characters, and LaTeX commands that an escape has eaten.

`\\frac` read as an escape becomes a form feed and "rac", `\\times` a tab and "imes": the formula cannot be recovered
for certain.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import excerpt
from compass.ledger import Reason
from compass.settings import Denoise

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_EATEN = re.compile(r"\t(?:imes|ext|heta|an\b|ilde|riangle|frac|herefore)|\r(?:ight|ho\b|m\b)|\n(?:eq|abla|eg|otin)\b")
_DECODED_TWICE = re.compile(
    r"\ufffd|[\ue000-\uf8ff]|Ã[\u0080-\u00bf]|â(?:€[\u0080-\uffff]|\u0080)|Â[\u00a0-\u00bf]|ï»¿"
)


def encoding(record: dict, settings: Denoise) -> Finding | None:
    """Damaged characters in the problem or its answer."""
    for field in ("problem", "answer"):
        text = record.get(field) or ""
        # `isprintable` is false for line ends as well, and otherwise as fast as a comparison.
        if text.isprintable() and text.isascii():
            continue
        match = _CONTROL.search(text) or _EATEN.search(text)
        if not match and not text.isascii():
            match = _DECODED_TWICE.search(text)
        if match:
            return Finding(
                Reason.ENCODING,
                Strength.SURE,
                {"field": field, "found": ascii(match[0]), "text": excerpt(text, *match.span())},
            )
    return None
