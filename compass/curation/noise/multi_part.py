"""Several numbered parts, of which one gold answers at most one.

Numbered conditions ("satisfies (1) … and (2) …") are no parts: parts ask for something.
"""

from __future__ import annotations

import re

from compass.curation.noise.text import ASK, excerpt, without_figures
from compass.records import Drop, Reason
from compass.settings import Denoise

_STYLES = (
    ("(1)", re.compile(r"[(（]\s*([1-9])\s*[)）]")),
    ("(a)", re.compile(r"(?:^|(?<=[\s.;:?>*]))\(([a-h])\)")),
    ("(i)", re.compile(r"[(（]\s*(i{1,3}|iv|v)\s*[)）]")),
    ("(I)", re.compile(r"[(（]\s*(I{1,3}|IV|V|[Ⅰ-Ⅴ])\s*[)）]")),
    ("1.", re.compile(r"(?:^|\n|<br ?/?>)\s*(?:\*\*)?([1-9])[.)、]\s")),
    ("a)", re.compile(r"(?:^|\n|(?<=[.;:?] ))\s*(?:\*\*)?([a-h])[.)]\s")),
    ("A.", re.compile(r"(?:^|\n)\s*(?:Part|Question|Problem|Task)\s+([A-D1-4])\b")),
    ("p1", re.compile(r"\*\*p(\d)\.\*\*|\bp(\d)\.")),
    ("①", re.compile(r"([①-⑥])")),
)
_STEM = re.compile(
    r"\b(?:calculate|compute|simplify|factor(?:ize|ise)?|factorization|solve|evaluate|find|convert|expand|express|determine|write)\b[^.?]{0,90}[:.：]?\s*$",
    re.I,
)
_CONDITIONS = re.compile(
    r"\b(?:satisf\w*|conditions?|such that|propert\w*|if|where|rules?|statements?|propositions?|given)\b[^.]{0,60}$",
    re.I,
)


def multi_part(record: dict, settings: Denoise) -> Drop | None:
    """Two or more numbered parts that each ask for something."""
    text = without_figures(record["problem"])
    for style, pattern in _STYLES:
        marks = _in_order(pattern, text)
        if len(marks) < 2:
            continue
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        parts = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
        asking = sum(bool(ASK.search(part)) for part in parts)
        stem = text[: marks[0].start()].rstrip(" $\n\\(")
        shared = _STEM.search(stem[-120:].strip()) and not _CONDITIONS.search(stem[-120:])
        if asking >= 2 or (shared and asking == 0):
            return Drop(
                Reason.MULTI_PART,
                {
                    "style": style,
                    "parts": len(parts),
                    "asking": asking,
                    "text": excerpt(text, marks[1].start(), marks[1].end()),
                },
            )
    return None


def _in_order(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """Marks that count up from the first: a second "(1)" is a reference, not a part."""
    marks: list[re.Match[str]] = []
    seen: set[str] = set()
    for match in pattern.finditer(text):
        name = next(group for group in match.groups() if group)
        if name not in seen:
            seen.add(name)
            marks.append(match)
    return marks
