"""Figures: drawing code, and problems that speak of a figure which the text does not hold."""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import excerpt, holds_any, without_figures
from compass.ledger import Reason
from compass.settings import Denoise

_CODE = re.compile(r"\[/?asy\]|\\begin\{(?:asy|tikzpicture|pspicture|picture)\}|\\psset|\bdraw\(\(", re.I)
_CODE_GUARDS = ("asy", "\\begin{", "\\psset", "draw((")

_NOUN = r"(?:figures?|diagrams?|pictures?|drawings?|illustrations?|images?|sketch(?:es)?)\b"
_SHAPE = (
    r"(?:octagon|hexagon|pentagon|polygon|triangle|square|rectangle|circle|trapezoid|parallelogram|shape|star|grid|board|map|"
    r"clock|spinner|net|cube|solid|graph|dots|number line|track|maze|puzzle|pattern|tiling)"
)
_REFERENCE = re.compile(
    rf"\b(?:in|on|to|from|see|of|at|with|using) (?:the|this|these|each|given) (?:\w+ ){{0,2}}?{_NOUN}(?! of speech)"
    rf"|\b(?:shown|pictured|depicted|illustrated|drawn|displayed|indicated) (?:\w+ )?(?:in|on|by) (?:the |this )?(?:\w+ ){{0,2}}?(?:{_NOUN}|(?:graph|pie chart|bar chart|chart|fig)\b)"
    rf"|\b(?:the|this|these|following|adjoining|accompanying|adjacent|attached|both|two) (?:\w+ )?{_NOUN} (?:(?!points?\b)\w+ )?(?:below|above|show|at (?:the )?(?:right|left)|(?:on|to) the (?:right|left)|consist|depict|represent|illustrate|indicate|is\b|are\b|has\b|gives\b)"
    rf"|\b(?:adjoining|accompanying) {_NOUN}|\battached figure"
    rf"|\bas (?:shown|pictured|illustrated|depicted|drawn|indicated)\b(?! in (?:the )?(?:\w+ )?(?:tables?|equations?|formulas?|examples?)\b)"
    rf"|\b(?:graphs?|chart|plot|grid|board|maze|map|histogram|net) (?:\w+ )?(?:below|above|shown|shows)\b"
    rf"|\b(?:the|this) (?:\w+ and )?{_SHAPE}s? (?:below|pictured|at (?:the )?(?:right|left))\b|\bbelow (?:is|are) (?:pictured|shown|drawn|the graph|a (?:picture|diagram|graph|map|sketch))"
    rf"|\b(?:shown|pictured) (?:here|below|above|at (?:the )?(?:right|left)|on the (?:right|left)|to the (?:right|left))\b"
    rf"|\bsee (?:the )?(?:fig\b|{_NOUN})|\b(?:fig|figure|diagram)\.? ?\(?\$?[1-9]\b"
    rf"|\b(?:the|of|unshaded|total) (?:(?:two|three|four|five|six|eight|small|large|grey|gray) )?shaded (?:region|area|part|portion|figure|square|triangle|section|sector|cell|quadrilateral|rectangle)",
    re.I,
)
_GUARDS = (
    "figure", "diagram", "picture", "drawing", "illustrat", "image", "sketch", "fig.", "fig ", "shown", "shows", "shaded",
    "depicted", "drawn", "indicated", "below", "displayed", "at right", "at left", "at the",
)  # fmt: skip

# "the spinner shown", "… is shown." — but not "the number shown on a die", "it can be shown that", or a table in the text.
_SHOWN = re.compile(
    r"\b([\w$}\\]+,?) shown\b(?! (?:that|to be|to (?:him|her|them|it)|by|how|throughout|in (?:a|an|total|each|every|one)\b|in (?:the )?(?:\w+ )?table|on (?:the|each|its) (?:top|upper|die|dice|face|first|second)|when|each))",
    re.I,
)
_NOT_SHOWN_WORDS = (
    "number numbers value values point points time times gestures face faces outcomes result results order terms be been was "
    "were later digit digits side sides have has had movies films process steps work not answer"
)
_NOT_SHOWN = frozenset(_NOT_SHOWN_WORDS.split())
_TABLE = re.compile(r"\\begin\{(?:tabular|array|[a-zA-Z]*matrix|align)|\|\s*:?-{2,}|```|\btables?\b")

# Shading that is asked for and described nowhere.
_UNDEFINED_SHADE = re.compile(
    r"\b(?:area|fraction|percent\w*|part|portion|region)\b[^.?]*\b(?:is|are) shaded\b|\bthe shaded \w+", re.I
)
_CHINESE = re.compile(r"如图|下图|图中|右图|左图|图所示|图形中")


def figure(record: dict, settings: Denoise) -> Finding | None:
    """Drawing code, or a reference to a figure."""
    text = record["problem"]
    if holds_any(text, _CODE_GUARDS) and (match := _CODE.search(text)):
        return Finding(Reason.FIGURE, Strength.LIKELY, {"kind": "code", "text": excerpt(text, *match.span())})
    plain = without_figures(text)
    lowered = plain.lower()
    match = None
    if holds_any(lowered, _GUARDS):
        match = _REFERENCE.search(plain) or ("shown" in lowered and _shown(plain)) or None
        if match and match[0][:3].lower() == "as " and _TABLE.search(plain):  # "as shown below:", and a table follows
            match = None
    if not match and "shaded" in lowered and lowered.count("shad") == 1:
        match = _UNDEFINED_SHADE.search(plain)
    if not match and not plain.isascii():
        match = _CHINESE.search(plain)
    return (
        Finding(Reason.FIGURE, Strength.LIKELY, {"kind": "reference", "text": excerpt(plain, *match.span())})
        if match
        else None
    )


def _shown(text: str) -> re.Match[str] | None:
    if _TABLE.search(text):
        return None
    for match in _SHOWN.finditer(text):
        if match[1].rstrip(",").lower() not in _NOT_SHOWN:
            return match
    return None
