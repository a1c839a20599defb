"""Several numbered parts, of which one gold answers at most one.

Parts ask for something: each of them, or all through the demand before them ("Calculate: (1) … (2) …"). Numbers in brackets are
products, labels, rules, conditions or steps before they are parts.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import blank, holds_any, sentences, without_figures
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

_START = r"(?:^|\n)\s*(?:[-*]\s+)?(?:\*\*)?"
# Each style with a piece of text that its second mark holds, as a cheap guard.
_STYLES = (
    ("(1)", ("2)", "2）", "2 )", "2  )"), re.compile(r"(?<![\w\]}])[(（]\s*([1-9])\s*[)）]")),
    ("(a)", ("(b)",), re.compile(r"(?:^|(?<=[\s.;:?>*\]]))\(([a-h])\)(?!\s*[(^=+*/])")),
    ("(i)", ("ii)", "ii）"), re.compile(r"[(（]\s*(i{1,3}|iv|v)\s*[)）]")),
    ("(I)", ("II", "Ⅱ"), re.compile(r"[(（]\s*(I{1,3}|IV|V|[Ⅰ-Ⅴ])\s*[)）]")),
    ("1.", ("\n",), re.compile(_START + r"(\d{1,2})[.)、]\s")),
    ("1)", (" 2) ",), re.compile(r"(?:^|(?<=[.;:?!] ))([1-9])\)\s")),
    ("a)", ("b)", "b."), re.compile(r"(?:" + _START + r"|(?<=[.;:?] ))([a-h])[.)]\s")),
    ("Part", ("Part ", "Question ", "Problem ", "Task "), re.compile(_START + r"(?:Part|Question|Problem|Task)\s+([A-D1-4])\b")),
    ("p1", ("**p", "**P"), re.compile(r"\*\*[pP](\d+(?:\.\d+)?)\.?\*\*")),
    ("①", ("②",), re.compile(r"([①-⑥])")),
)  # fmt: skip
_VERBS = (
    r"(?:find|determine|calculate|compute|evaluate|solve|simplify|prove|show that|write|express|state|discuss|identify|factor(?:ize)?|"
    r"compare|estimate|judge|verify|explain|draw|sketch|describe|list|design|complete|fill in|convert|provide|give|guess|"
    r"investigate|construct|expand|specify|rewrite|indicate|try to|use\b[^.;]{0,60}\bto (?:find|calculate|compute|evaluate|solve|determine))"
)
# An ask stands at the start of a clause: "which" inside one only describes.
_ASKS = re.compile(
    rf"\?|？|_{{2,}}|\bplease\b|\\_\\_|(?:^|[.;:：,，!\n)*$]\s*|\b(?:then|and|please|also|hence|otherwise|,) )\W{{0,4}}(?:please )?{_VERBS}\b"
    r"|(?:^|[.;:,，\n)]\s*|\bthen )\W{0,4}(?:(?:for |at |in |on |to |with |by )?(?:what|(?<!, )which)\b(?! (?:is|are|has|have|was|were|can|when|do|does)\b)|what|how (?:many|much|long|far|old|often)|when does)\b",
    re.I,
)
_STARTS_QUESTION = re.compile(r"^[\s$*]*(?:is|are|can|does|do|will|has|show|identify|how|what|who)\b", re.I)
_CHINESE_ASK = re.compile(r"求|多少|是＿|为＿|判断|说明理由")
_NAMED = re.compile(
    r"\b(?:equation|condition|propert|relation|formula|system|case|step|rule|label|point|inequalit|statement|function)\w*\s*\$?$",
    re.I,
)
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
    r"\b(?:satisf\w*|meet\w*|such that|propert\w*|given that|where|with the|rules?|facts?|steps?|axioms?|information|clues?|hints?|definitions?|"
    r"statements?|built|kinds?|types?|moves?|operations?|(?:the |these |following )(?:two |three )?conditions)\b",
    re.I,
)
_STEPS = re.compile(
    r"\b(?:steps?|rules?|procedure|algorithm|process|instructions?|moves?|operations?|clues?)\b[^?]{0,80}[:.]?\s*$|\bas follows\W*$",
    re.I,
)
_ONLY_PROVES = re.compile(
    r"\W*(?:prove|show)\b(?!.*(?:\?|\b(?:find|determine|calculate|compute|evaluate)\b))", re.I | re.S
)
_LINE_START = re.compile(r"(?:\A|[\n>:;；.。])[\s$*\\(-]*\Z")
_OPEN_STEM = re.compile(
    r"^\W*(?:is|are|can|does|do|will|what|how|which|find|determine)\b|\b(?:find|determine|what|how many)\b", re.I
)


def multi_part(record: dict, settings: Denoise) -> Finding | None:
    """Two or more numbered parts that ask for something."""
    text = without_figures(record["problem"])
    if "<br" in text:
        text = re.sub(r"<br ?/?>", lambda match: "\n".rjust(len(match[0])), text)
    if "\\(" in text:
        text = re.sub(r"\\+[()]", blank, text)  # `\((\)I\()\)` is (I)
    for style, guards, pattern in _STYLES:
        if not holds_any(text, guards):
            continue
        marks = _in_order(pattern, text)
        if len(marks) < 2:
            continue
        ends = [*(mark.start() for mark in marks[1:]), len(text)]
        parts = [text[mark.end() : end] for mark, end in zip(marks, ends, strict=True)]
        asking = sum(map(_asks, parts))
        values = sum(_asks(part) and not _ONLY_PROVES.match(part) for part in parts)
        stem = text[: marks[0].start()]
        each = asking >= 2 and not _steps_of_one(stem, parts)
        if each or _stem_asks(stem, style, asking):
            strength = Strength.SURE if asking == len(parts) else Strength.LIKELY
            if each and values == 1 and record.get("answer"):  # "(a) Show that … (b) Find …": one value is asked for
                strength = Strength.POSSIBLE
            return found(
                NoiseReason.MULTI_PART, strength, record, marks[1], style=style, parts=len(parts), asking=asking
            )
    return None


def _asks(part: str) -> bool:
    return bool(
        _ASKS.search(part) or _STARTS_QUESTION.match(part) or (not part.isascii() and _CHINESE_ASK.search(part))
    )


def _steps_of_one(stem: str, parts: list[str]) -> bool:
    """Whether parts only give orders in a procedure, and one question about it follows: "1. Write a digit. 2. … How many codes …?"."""
    return bool(_STEPS.search(stem)) and not any("?" in part or "_" in part for part in parts[:-1]) and "?" in parts[-1]


def _stem_asks(stem: str, style: str, asking: int) -> bool:
    """Whether what stands before the first part asks for each of them."""
    stem = stem.rstrip(" $\n\\(*-")
    match = _STEM.search(stem[-160:])
    if match and not _CONDITIONS.search(match[0]) and (asking == 0 or match[0].rstrip().endswith((":", "："))):
        return True
    if asking == 0 and (
        _ARRANGEMENTS.search(stem[-260:])
        or re.search(r"\beach of the following (?:cases|situations)\b", stem[-160:], re.I)
    ):
        return True
    # Letters with a bare bracket, "a) … b) …", are seldom conditions.
    last = (sentences(stem) or [""])[-1]
    return style in ("a)", "(a)") and asking == 1 and bool(_OPEN_STEM.search(last)) and not _CONDITIONS.search(last)


def _in_order(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """The first mark of each number, in rising order: a second "(1)" is a reference, not a part."""
    marks: list[re.Match[str]] = []
    for match in pattern.finditer(text):
        if marks and _place(match[1]) <= _place(marks[-1][1]):
            continue
        if not (match[0][0] in "(（" and _is_label(text, match)):
            marks.append(match)
    return marks


def _place(number: str) -> tuple[int, str]:
    return (int(number), "") if number.isdecimal() else (0, number)


def _is_label(text: str, match: re.Match[str]) -> bool:
    """Whether a number in brackets is a factor, an argument or the name of a thing: (1)(2), f(1), condition (1)."""
    before = text[max(0, match.start() - 16) : match.start()]
    if _NAMED.search(before):
        return True
    if _LINE_START.search(before if match.start() > 16 else text[: match.start()]):
        return False
    last, after = before.rstrip()[-1:], text[match.end() : match.end() + 2].lstrip()[:1]
    return last in tuple(")）^=+*/-") or after in tuple("(^=+*/!<>")
