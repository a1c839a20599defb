"""One demand for two things, such as "find the height and the volume of the cone", of which one value answers one.

Counted are things that have a value each, joined by "and" right behind the demand: "find the sum of the height and the
width" asks for one thing, "the triangle whose base is 4 and whose height is 5" for none. A demand that goes on to use what it found
("determine x and y and find xy", "and find the remainder when this number is divided by 10") asks for the last thing alone.
"""

from __future__ import annotations

import re

from compass.curation.noise.text import holds_any

_ASK = r"\b(?:find|determine|calculate|compute|state|what (?:is|are|was|were|will be)|work out)"
_THING = (
    r"(?:area|volume|perimeter|circumference|radius|radii|diameter|height|length|width|depth|angle|slope|gradient|intercept|equation"
    r"|axis|cent(?:er|re)|vertex|coordinates|speed|velocity|acceleration|distance|time|cost|price|profit|loss|tax|interest|mean|average"
    r"|median|mode|variance|standard deviation|maximum|minimum|extremum|extrema|period|amplitude|phase|domain|range|values?|number|magnitude|direction"
    r"|modulus|argument|eccentricity|foc(?:us|i)|directrix|common difference|common ratio|first term|remainder|quotient|probability|age|weight"
    r"|mass|force|temperature|percentage|stress|strain|elongation|frequency|wavelength|pressure|density|energy|power|current|voltage|rank"
    r"|determinant|trace|inverse|expectation|expected value|monotonicity|interval|solution|root|expression|coefficient|term)s?"
)
_LOOSE = r"(?:(?!of\b|and\b|that\b|which\b|if\b|with\b|for\b|between\b)[a-z-]+ ){0,3}"
_FORMULA = r"(?:\$[^$]{1,60}\$|\\\((?:(?!\\\)).){1,60}\\\))"
_OF = rf" (?:of|in|for) (?:{_FORMULA}|(?:the|this|that|its|each|line|triangle|point)\b(?:(?! and | if | when | with | that | such | given | whose | where | containing | passing | formed |[,.;?]).){{1,50}}|[a-z]+)"
_TWO = re.compile(
    rf"{_ASK} (?:at (?:the )?[^,.;?]{{1,50}} )?(?:the|its|their) {_LOOSE}{_THING}(?:{_OF})?,? (?:and|as well as) (?:the|its|their|his|her) {_LOOSE}{_THING}\b",
    re.I,
)
_EXTREMES = re.compile(
    rf"{_ASK} (?:the|its|their|both the) (?:(?:absolute|local|possible) )?(?:(?:maximum|largest|greatest|highest)(?: \w+)? and (?:the )?(?:\w+ )?(?:minimum|smallest|least|lowest)"
    r"|(?:minimum|smallest|least|lowest)(?: \w+)? and (?:the )?(?:\w+ )?(?:maximum|largest|greatest|highest)) (?:values?|points?|terms?|areas?|distances?)\b",
    re.I,
)
_COUNTS = re.compile(
    r"\bhow (?:many|much|old|long|far)\b[^.?!,;]{3,80}?,? and (?:how (?:many|much|old|long|far)|what (?:is|was|are|were) (?:the|its|their))\b",
    re.I,
)
_THEN = re.compile(
    rf"{_ASK} (?:the|its|their) {_LOOSE}{_THING}\b[^.?!]{{0,90}}?,? and (?:also )?(?:find|determine|calculate|compute|what (?:is|are|was|were)) (?:the|its|their) {_LOOSE}{_THING}\b[^.?!]{{0,90}}",
    re.I,
)
_PAIR = re.compile(
    rf"{_ASK} (?:the (?:exact )?values? of )?{_FORMULA},? and (?:the )?(?:values? of )?{_FORMULA}(?=\s*(?:[.?!]|\Z))",
    re.I,
)
_WHERE = re.compile(rf"{_ASK} the {_LOOSE}{_THING}\b[^?!]{{0,200}}?,? and the corresponding {_LOOSE}{_THING}", re.I)
_USES_IT = re.compile(
    r"\b(?:minimum|maximum|largest|smallest|remainder|quotient|divided by|sum of|product of|difference of|this|that|these|those|it|expressed|in the form|mod(?:ulo)?)\b|\\frac\{m\}|[a-z]\s*[+*-]\s*[a-z]\b",
    re.I,
)
_ONE_OF_TWO = re.compile(
    r"\b(?:sum|difference|product|ratio|quotient|between|bounded|enclosed|common|total|average of|mean of|midpoint|intersection|together|respectively equal)\b",
    re.I,
)
_GOES_ON = re.compile(
    r"\band (?:then |hence |also )?(?:find|determine|calculate|compute|express|give|state|what)\b", re.I
)
_LATER = re.compile(
    r"\?|\b(?:find|determine|calculate|compute|what|how|express|give|submit|answer|report|write|sum|product|state|then|round|enter)\b",
    re.I,
)
_SEVERAL = re.compile(r"[,;，；、]\s*(?!\d{3}\b)|\band\b|\bor\b|\\text\{\s*and|\\q?quad|\\\\|\n|&|=.*=|\\pm|:", re.S)
_END = re.compile(r"[.?!](?:\s|\Z)")
_OTHERS = (" and the ", " and its ", " and their ", " and his ", " and her ", " as well as ")
_PATTERNS = (
    (_TWO, _OTHERS),
    (_EXTREMES, ("imum and ", "est and ", "imum value and ", "est value and ")),
    (_COUNTS, (" and how ", " and what ")),
    (_THEN, (" and find ", " and determine ", " and calculate ", " and compute ", " and also ", " and what ")),
    (_PAIR, ("$ and ", "$, and ", ") and ", "), and ")),
    (_WHERE, (" and the corresponding ",)),
)
"""How two things are asked for, each with words of which one stands in every such demand."""

TAIL = 500
"""Characters at a text's end in which a demand is looked for."""


def is_one_value(answer: str) -> bool:
    """Whether a gold is one value."""
    return bool(answer.strip()) and not _SEVERAL.search(answer)


def two_demands(text: str) -> re.Match[str] | None:
    """Where the last demand of a text asks for two values.

    Args:
        text: the problem, with blanks for what is quoted, drawn or said in brackets.
    """
    begin = max(0, len(text) - TAIL)  # what is asked for stands at the end
    tail = text[begin:]
    for pattern, guards in _PATTERNS:
        for match in pattern.finditer(text, begin) if holds_any(tail, guards) else ():
            rest = text[match.end() :]
            end = _END.search(rest)
            clause, after = (rest[: end.start()], rest[end.end() :]) if end else (rest, "")
            if _ONE_OF_TWO.search(match[0]) or _GOES_ON.search(clause) or _LATER.search(after):
                continue
            if pattern is _THEN and _USES_IT.search(_GOES_ON.split(match[0] + clause)[-1]):
                continue
            return match
    return None
