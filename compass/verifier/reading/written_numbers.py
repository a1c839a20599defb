"""Ways to write a number that the grammar does not know, rewritten as those that it does: `5.2 x 10^3`, `4.2 E5`, `32 base 8`, `frac{1}{2}`."""

from __future__ import annotations

import re

from compass.verifier.reading.number_words import number_of

_TIMES_TEN = re.compile(r"(?<=[\d.])\s?[xX]\s?(?=10\^)")
_EXPONENT = re.compile(r"(?<=\d) E(?=[+-]?\d)")
_UPRIGHT_EXPONENT = re.compile(r"(?<=\d)\s?\\(?:text|mathrm|rm)\s?\{E\}\s?(?=[+-]?\d)")
_POINT = re.compile(r"(?<![\d.}])\.(?=\\(?:overline|bar|dot)(?![a-z]))")
_FRACTION = re.compile(r"(?<![\\A-Za-z])[dt]?frac(?=\s?[{\d])")
_BASE = re.compile(
    r"(?<=[0-9A-Fa-f])\}?\s*(?:\\(?:text|mathrm|textrm)\s*\{)?\s*\(?\s*(?:in )?base[\s-]*(?P<base>\d{1,2}|[a-z]+)\s*\)?\s*\}?$"
)
_COMPARED = re.compile(
    r"(?<=[\w})])\s?(?:\\text\s?\{\s*)?\bis\s(?:strictly\s)?(?P<word>greater|more|larger|less|smaller) than(?P<equal> or equal to)?\s*\}?\s*(?=[\w\\(.-])"
)
_UNION = re.compile(r"(?<=[)\]}])\s?U\s?(?=[(\[{])")
_WORDED_BASE = re.compile(r"(?<=[\d)])_\{(?P<base>[a-z]{3,8})\}")
_LETTERED = re.compile(
    r"(?P<before>(?:^|.*=)-?)(?:\\(?:text|mathrm|textrm)\s*\{(?P<upright>[0-9A-Fa-f]+)\}|(?P<digits>(?=\d*[A-Fa-f])(?:\d[0-9A-Fa-f]*|[A-F][0-9A-F]+)))"
    r"_\{?(?P<base>1[1-6])\}?",
    re.DOTALL,
)


def restated(text: str) -> str:
    """Normalised text with the notations of this module rewritten; any other text as it is."""
    if "10^" in text:
        text = _TIMES_TEN.sub(r"\\times ", text)
    if "{E}" in text:
        text = _UPRIGHT_EXPONENT.sub("e", text)
    if " E" in text:
        text = _EXPONENT.sub("e", text)
    if ".\\" in text:
        text = _POINT.sub("0.", text)
    if "frac" in text:
        text = _FRACTION.sub(r"\\frac", text)
    if "_{" in text:
        text = _WORDED_BASE.sub(_with_base, text)
    if " than" in text:
        text = _COMPARED.sub(_comparison, text)
    if "U" in text:
        text = _UNION.sub(r"\\cup ", text)
    if "base" in text:
        text = _BASE.sub(_with_base, text)
    if "_1" in text or "_{1" in text:
        match = _LETTERED.fullmatch(text)
        if match is not None:
            return f"{match['before']}\\based{{{(match['upright'] or match['digits']).upper()}}}{{{match['base']}}}"
    return text


def _comparison(match: re.Match[str]) -> str:
    sign = ">" if match["word"] in ("greater", "more", "larger") else "<"
    return f"{sign}=" if match["equal"] else sign


def _with_base(match: re.Match[str]) -> str:
    base = match["base"]
    value = base if base.isdigit() else number_of([base])
    return match[0] if value is None else f"_{{{value}}}"
