"""Figures: drawing code, and problems that speak of a figure which the text does not hold."""

from __future__ import annotations

import re

from compass.curation.noise.text import excerpt, without_figures
from compass.records import Drop, Reason
from compass.settings import Denoise

_CODE = re.compile(r"\[/?asy\]|\\begin\{(?:asy|tikzpicture|pspicture|picture)\}|\\psset|\bdraw\(\(", re.I)
_NOUN = r"(?:figures?|diagrams?|pictures?|drawings?|illustrations?|images?|sketch(?:es)?|fig\.)"
_REFERENCE = re.compile(
    rf"\b(?:in|on|to|from|see|of|at|as\ in|with)\ (?:the|this|these|each|given)\ (?:\w+\ ){{0,2}}?(?:accompanying\ |adjoining\ |following\ )?{_NOUN}(?!\ ?(?:of\ speech|eights?))\b"
    rf"|\b(?:shown|pictured|depicted|illustrated|drawn|displayed|indicated)\ (?:\w+\ )?(?:in|on|by)\ (?:the\ |this\ )?(?:\w+\ ){{0,2}}?(?:{_NOUN}|graph|fig)"
    rf"|\b(?:the|this|these|following|adjoining|accompanying|adjacent)\ (?:\w+\ )?{_NOUN}\ (?:\w+\ )?(?:below|above|shows?|shown|at\ (?:the\ )?(?:right|left)|on\ the\ (?:right|left)|to\ the\ (?:right|left)|consists?|depicts?|represents?|illustrates?|is|are|has|gives)\b"
    rf"|\b(?:adjoining|accompanying)\ {_NOUN}"
    rf"|\bas\ (?:shown|pictured|illustrated|depicted|drawn|indicated)\b(?!\ in\ (?:the\ )?(?:table|equation|formula|example))"
    rf"|\b(?:graphs?|chart|plot|grid|board|maze|map|pie\ chart|histogram|net)\ (?:\w+\ )?(?:below|above|shown|shows)\b"
    rf"|\b(?:is|are)\ (?:shown|pictured|illustrated|depicted|drawn)\ (?:here|below|above|at|to\ the|on\ the)\b"
    rf"|\b(?:shown|pictured)\ (?:here|below|above)\b"
    rf"|\(?\bsee\ (?:the\ )?(?:fig|{_NOUN})|\b(?:fig(?:ure)?|diagram)\.?\ ?\(?\$?[1-9]\b"
    rf"|\b(?:the|of|are|is|unshaded|total)\ shaded\ (?:region|area|part|portion|figure|square|triangle|section|sector)",
    re.I,
)
_CHINESE = re.compile(r"如图|下图|图中|右图|左图|图所示|图形中")
_GUARD = re.compile(
    r"figure|diagram|picture|drawing|illustrat|image|sketch|fig|shown|shows|shaded|depicted|drawn|indicated|below|above",
    re.I,
)


def figure(record: dict, settings: Denoise) -> Drop | None:
    """Drawing code, or a reference to a figure."""
    text = record["problem"]
    if match := _CODE.search(text):
        return Drop(Reason.FIGURE, {"kind": "code", "text": excerpt(text, *match.span())})
    plain = without_figures(text)
    match = (_GUARD.search(plain) and _REFERENCE.search(plain)) or (not plain.isascii() and _CHINESE.search(plain))
    return Drop(Reason.FIGURE, {"kind": "reference", "text": excerpt(plain, *match.span())}) if match else None
