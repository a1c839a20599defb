"""Several numbered parts, of which one gold answers at most one.

Numbered conditions ("satisfies (1) … and (2) …") are no parts: parts ask for something, each or through their stem
("Calculate: (1) … (2) …").
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import ASK, excerpt, holds_any, sentences, without_figures
from compass.ledger import Reason
from compass.settings import Denoise

_START = r"(?:^|\n)\s*(?:[-*]\s+)?(?:\*\*)?"
# Each style with a piece of text that its second mark holds, as a cheap guard.
_STYLES = (
    ("(1)", ("2)", "2）", "2 )"), re.compile(r"(?<![\w\]}])[(（]\s*([1-9])\s*[)）]")),
    ("(a)", ("(b)",), re.compile(r"(?:^|(?<=[\s.;:?>*\]]))\(([a-h])\)")),
    ("(i)", ("ii)", "ii）"), re.compile(r"[(（]\s*(i{1,3}|iv|v)\s*[)）]")),
    ("(I)", ("II", "Ⅱ"), re.compile(r"[(（]\s*(I{1,3}|IV|V|[Ⅰ-Ⅴ])\s*[)）]")),
    ("1.", ("\n",), re.compile(_START + r"(\d{1,2})[.)、]\s")),
    ("a)", ("b)", "b."), re.compile(r"(?:" + _START + r"|(?<=[.;:?] ))([a-h])[.)]\s")),
    ("Part", ("Part ", "Question ", "Problem ", "Task "), re.compile(_START + r"(?:Part|Question|Problem|Task)\s+([A-D1-4])\b")),
    ("p1", ("**p", "**P"), re.compile(r"\*\*[pP](\d+(?:\.\d+)?)\.?\*\*")),
    ("①", ("②",), re.compile(r"([①-⑥])")),
)  # fmt: skip
_STEM = re.compile(
    r"\b(?:calculate|compute|simplify|factor(?:ize|ise)?|factorization|solve|evaluate|find|convert|expand|express|determine|write"
    r")\b[^.]{0,110}[:.：?)]?\s*$",
    re.I,
)
# "How many arrangements are there under the following conditions? (1) … (2) …" asks once for each.
_ARRANGEMENTS = re.compile(
    r"\bhow many (?:different |possible |distinct )?(?:\w+ )?(?:arrangements|ways|methods|permutations|line-?ups|schemes|numbers)\b"
    r"[^.?]*\b(?:following|requirements?|conditions|cases|situations|there)\b[^.?]*[?:.]?(?:\s*\([^()]*\))?\s*$",
    re.I,
)
_CONDITIONS = re.compile(
    r"\b(?:satisf\w*|meet\w*|such that|propert\w*|(?:the |these |following )(?:two |three )?conditions)\b", re.I
)
_OPEN_STEM = re.compile(
    r"^\W*(?:is|are|can|does|do|will|what|how|which|find|determine)\b|\b(?:find|determine|what|how many)\b", re.I
)
_STARTS_QUESTION = re.compile(r"^[\s$*]*(?:is|are|can|does|do|will|has|show|identify|how)\b", re.I)
_CHINESE_ASK = re.compile(r"求|多少|是＿|为＿|判断|说明理由")


def multi_part(record: dict, settings: Denoise) -> Finding | None:
    """Two or more numbered parts that ask for something."""
    text = without_figures(record["problem"])
    if "<br" in text:
        text = re.sub(r"<br ?/?>", "\n", text)
    if "\\(" in text:
        text = re.sub(r"\\+[()]", "", text)  # `\((\)I\()\)` is (I)
    for style, guards, pattern in _STYLES:
        if not holds_any(text, guards):
            continue
        marks = _in_order(pattern, text)
        if len(marks) < 2:
            continue
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        parts = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
        asking = sum(map(_asks, parts))
        if asking >= 2 or _stem_asks(text[: marks[0].start()], style, asking):
            evidence = excerpt(text, marks[1].start(), marks[1].end())
            return Finding(
                Reason.MULTI_PART,
                Strength.LIKELY,
                {"style": style, "parts": len(parts), "asking": asking, "text": evidence},
            )
    return None


def _asks(part: str) -> bool:
    return bool(ASK.search(part) or _STARTS_QUESTION.match(part) or (not part.isascii() and _CHINESE_ASK.search(part)))


def _stem_asks(stem: str, style: str, asking: int) -> bool:
    """Whether what stands before the first part asks for each of them."""
    stem = stem.rstrip(" $\n\\(*-")
    match = _STEM.search(stem[-160:])
    if match and not _CONDITIONS.search(match[0]) and (asking == 0 or match[0].rstrip().endswith((":", "："))):
        return True
    if asking == 0 and _ARRANGEMENTS.search(stem[-260:]):
        return True
    # Letters with a bare bracket, "a) … b) …", are seldom conditions.
    last = (sentences(stem) or [""])[-1]
    return style in ("a)", "(a)") and asking == 1 and bool(_OPEN_STEM.search(last)) and not _CONDITIONS.search(last)


def _in_order(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The first mark of each number: a second "(1)" is a reference, not a part."""
    marks: list[re.Match[str]] = []
    seen: set[str] = set()
    for match in pattern.finditer(text):
        if match[1] not in seen:
            seen.add(match[1])
            marks.append(match)
    return marks
