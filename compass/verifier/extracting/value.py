"""A value in running text: what a phrase or a sentence gives as its answer."""

from __future__ import annotations

import re

FORMULA = re.compile(r"\$\$(.{1,600}?)\$\$|\$(.{1,600}?)\$|\\\((.{1,600}?)\\\)|\\\[(.{1,600}?)\\\]", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.,/])[-+−]?(?:\\?[$€£¥])?\d[\d,]*(?:[.:]\d+)?(?:\s?/\s?\d+)?(?:\s?\\?%|°)?")
PRICE = re.compile(r"\$(?=\d[\d,.]*(?:\s|$))")
DENIED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|can't|isn't|doesn't|aren't|wasn't|won't|fail(?:s|ed)?|wrong|incorrect|impossible that|suppose|assume|if|unless|whatever)\b|不是",
    re.IGNORECASE,
)
HEDGED = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|probably|might|could be|may be|not sure|unsure|uncertain|guess|between\s+[-−$\\\d]|somewhere"
    r"|(?:less|greater|more|fewer|larger|smaller|higher|lower) than|at (?:most|least)|up to|one of|any of|whatever|something like)\b",
    re.IGNORECASE,
)
_LETTER = re.compile(r"^\W{0,4}\(?([A-J])\)?(?:[.:)]|\W*$|\)\s)")
_OPTION = re.compile(
    r"\b(?:answer|option|choice|correct)\b.{0,40}?(?<![A-Za-z])(?:\(([A-J])\)|\b([B-J])\b)", re.IGNORECASE
)
_CONJUNCTION = re.compile(
    r"^(?:(?:so|thus|hence|therefore|then|and|we\s(?:get|have|find|know)|that|indeed|exactly|simply|just|equal to|really|now|therefore,|given by|综上|所以|因此|故)(?![a-z])[\s,:，：]*|=\s*)+",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_SAID = re.compile(r"\b(?:is|are|equals|be)\b|=|:\s|[是为]", re.IGNORECASE)
_VERB = re.compile(
    r"\b(?:is|are|equals?|be|was|were)\b:?\s*(?:exactly|indeed|simply|just|equal to|then|therefore|thus|about|approximately)?\s*",
    re.IGNORECASE,
)
_LEADS = re.compile(
    r"(?:\b(?:is|are|be|equals?|gives?|get|at|to|of|has|have|total(?:s|ing)?|needs?|makes?|was|costs?|takes?|only|exactly|value|answer|sum)|[=:≈])\s*$",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[,;]?\s+(?:because|since|as\s(?:we|it|the)|which|where|so that|for all|when|i\.e\.|that is)\b.*|[,;]\s+(?:and|so)\s+(?:we|it|this|that|the)\b.*|\s*[（(](?:since|because|as)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_RELATIVE = re.compile(
    r"(?<![\d,.])\d[\d,.]{0,30}\s{1,3}(?:\w{1,30}\s{1,3})?(?:more|less|fewer|greater|larger|smaller|higher|lower|times)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"([A-Za-z](?:_\{?\w+\}?)?)\s*=[^=]+")
_CONCLUDED = re.compile(
    r"[,;:]\s{1,3}(?:so|hence|thus|therefore)[\s,:]{1,3}(?:it\sis\s|it's\s)?(\$[^$]{1,200}\$|[-−]?\d[\d,./]{0,20}|[A-J](?![A-Za-z]))[.\s]{0,3}$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[\u4e00-\u9fff]|(?<![A-Za-z\\])(?!(?:and|or)\b)[A-Za-z]{2,}")
_UNIT_WORDS = re.compile(r"\s*(?:[A-Za-z°%/²³^]+[\s.]*){0,4}$")


def value_of(sentence: str) -> str | None:
    """What a sentence that announces an answer gives: the whole where it is no prose, else its option, formula or number; None
    where it hedges, denies or only relates the answer to something."""
    letter = _LETTER.match(sentence)
    if letter is not None:
        return letter.group(1)
    if HEDGED.search(sentence) or DENIED.search(sentence) or sentence.rstrip().endswith("?"):
        return None
    sentence = _REASON.sub("", _CONJUNCTION.sub("", sentence)).rstrip("。 ")
    plain = FORMULA.sub(" ", sentence)
    if _RELATIVE.search(sentence):
        return None
    formula = FORMULA.fullmatch(sentence.rstrip("."))
    if formula is not None and "$" not in inside(formula):
        return last_side(inside(formula)) or None
    option = _OPTION.search(sentence)
    if not _PROSE.search(plain):
        said = list(_SAID.finditer(sentence)) if re.search(r"\b(?:is|are|equals)\b", plain) else []
        rest = (sentence[said[-1].end() :] if said else sentence).strip().rstrip(".").strip("*")
        return _CONJUNCTION.sub("", rest) or None
    if option is not None:
        return (option.group(1) or option.group(2)).upper()
    return None


def stated(sentence: str) -> str | None:
    """The value that a sentence states: the only one in it, or the one straight after its last verb or equals sign."""
    concluded = _CONCLUDED.search(sentence)
    if concluded is not None:
        return concluded[1].strip("$") or None
    if (
        HEDGED.search(sentence)
        or DENIED.search(sentence)
        or sentence.rstrip().endswith("?")
        or _RELATIVE.search(sentence)
    ):
        return None
    sentence = _CONJUNCTION.sub("", sentence).rstrip("。 .")
    option = _OPTION.search(sentence)
    if option is not None:
        return (option.group(1) or option.group(2)).upper()
    if not _WORDS.search(FORMULA.sub(" ", sentence)):
        formula = FORMULA.fullmatch(sentence)
        return last_side(inside(formula)) if formula and "$" not in inside(formula) else sentence or None
    bold = [found[1].strip() for found in re.finditer(r"\*\*([^*\n]{1,120})\*\*", sentence)]
    if bold and re.search(r"\d|\$|\\", bold[-1]) and not _PROSE.search(bold[-1]):
        return value_of(bold[-1])
    blank = FORMULA.sub(lambda match: " " * len(match.group()), sentence)
    places = [(match.span(), last_side(inside(match))) for match in FORMULA.finditer(sentence)]
    places += [(match.span(), match.group().strip(" ,")) for match in NUMBER.finditer(blank)]
    places.sort()
    if not places:
        said = list(re.finditer(r"\b(?:is|are|equals)\b:?", sentence))
        return sentence[said[-1].end() :].strip() or None if said else None
    said = list(re.finditer(r"\b(?:is|are|equals)\b:?|(?<=\w)[是为]", blank))
    if said and said[-1].end() <= places[-1][0][0] and not _PROSE.search(blank[said[-1].end() :]):
        return _REASON.sub("", _CONJUNCTION.sub("", sentence[said[-1].end() :].strip())).strip() or None
    if len(places) == 1:
        return places[0][1] or None
    (start, end), last = places[-1]
    named = [_NAMED.fullmatch(sentence[a:b].strip("$ ")) for (a, b), _ in places]
    if all(named) and len({name[1] for name in named if name}) == len(named):
        return ", ".join(name[0] for name in named if name)
    if (named[-1] or _LEADS.search(blank[:start])) and _UNIT_WORDS.fullmatch(blank[end:]):
        return last
    return None


def inside(match: re.Match[str]) -> str:
    """What stands between the delimiters of a formula."""
    return next(group for group in match.groups() if group is not None).strip()


def last_side(formula: str) -> str:
    """`f(2) = 3 + 4 = 7` ends in 7; `x + y = 3` is an equation and stays whole."""
    left, sign, right = formula.rpartition("=")
    if not sign or any(mark in formula for mark in ("<", ">", "\\le", "\\ge", "\\neq", ",", "\\begin")):
        return formula
    if (
        left.count("=")
        or re.fullmatch(r"\s*\\?[A-Za-z]+(?:_\{?\w+\}?)?(?:\([^()]*\))?\s*", left)
        or not re.search(r"[A-Za-z]", right + left)
    ):
        return right.strip()
    return formula if re.search(r"[a-z]", left) and not re.search(r"[a-z]", right) else right.strip()
