r"""Encoding damage that `compass.sources.repair` left: lost or doubled decoding, control characters, commands that an escape has eaten.

A tab before "rac" is `\frac` here and `\sqrt` there; a control character without a known command after it is anything. Tabs and line
ends before a word are no damage: `\tan` read as a tab and "an" counts only where it was repaired, in a formula.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import excerpt, holds_any
from compass.ledger import Reason
from compass.settings import Denoise

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_EATEN = re.compile(
    r"\t(?:imes\b|heta\b|herefore\b|riangle|ilde\b|ext(?:bf|it|rm)?(?=\{)|f?rac(?=\s?[{\d]))|\r(?:ight(?![a-z])|ho\b|(?<=\{\r)m\b)|\n(?:eq|abla|otin)\b"
)
_BEHEADED = re.compile(
    r"(?<![A-Za-z\\])(?:rac(?=\s?\{)|imes\b|heta\b|qrt(?=\s?[\[{])|ext(?=\{)|egin(?=\{)|oxed(?=\{)|ightarrow\b)"
)  # what is left of a command where the control character went as well; none of them begins a word
_DECODED_TWICE = re.compile(
    r"\ufffd|[\ue000-\uf8ff]|Ã[\u0080-\u00bf]|â(?:€[\u0080-\uffff]|\u0080)|Â[\u00a0-\u00bf]|ï»¿"
)
_BEHEADED_GUARDS = ("rac", "imes", "heta", "qrt", "ext{", "egin{", "oxed{", "ightarrow")


def encoding(record: dict, settings: Denoise) -> Finding | None:
    """Damaged characters in the problem or its answer."""
    for field in ("problem", "answer"):
        text = record.get(field) or ""
        match = None
        # `isprintable` is false for line ends as well, and otherwise as fast as a comparison.
        if not text.isprintable():
            match = _CONTROL.search(text) or _EATEN.search(text)
        if not match and not text.isascii():
            match = _DECODED_TWICE.search(text)
        if not match and holds_any(text, _BEHEADED_GUARDS):
            match = _BEHEADED.search(text)
        if match:
            return Finding(
                Reason.ENCODING,
                Strength.SURE,
                {"field": field, "found": ascii(match[0]), "text": excerpt(text, *match.span())},
            )
    return None
