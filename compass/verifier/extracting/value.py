"""A value in running text: what a phrase or a sentence gives as its answer."""

from __future__ import annotations

import re

from compass.verifier.extracting import languages
from compass.verifier.reading.normalise import CHINESE

FORMULA = re.compile(r"\$\$(.{1,600}?)\$\$|\$(.{1,600}?)\$|\\\((.{1,600}?)\\\)|\\\[(.{1,600}?)\\\]", re.DOTALL)
NUMBER = re.compile(
    r"(?<![A-Za-z0-9_\u00c0-\u04ff.,/])[-+−]?(?:\\?[$€£¥])?\d[\d,]*(?:[.:]\d+)?(?:\s?/\s?\d+)?(?:\s?\\?%|°)?"
)
PRICE = re.compile(r"\$(?=\d[\d,.]*(?:\s|$))|(?<=\d)\s?\$(?=[\s.,;!?]|$)")
DENIED = re.compile(
    r"\b(?:not|never|neither|nor|cannot|can't|isn't|doesn't|aren't|wasn't|won't|fail(?:s|ed)?|wrong|incorrect|impossible that|suppose|assume|if|unless|whatever)\b|"
    + languages.DENIED,
    re.IGNORECASE,
)
HEDGED = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|probably|might|could be|may be|not sure|unsure|uncertain|guess|between\s+[-−$\\\d]|somewhere"
    r"|(?:less|greater|more|fewer|larger|smaller|higher|lower) than|at (?:most|least)|up to|one of|any of|whatever|something like)\b|"
    + languages.HEDGED,
    re.IGNORECASE,
)
_LETTER = re.compile(r"^\W{0,4}\(?([A-J])\)?(?:[.:)]|\W*$|\)\s)")
_OPTION = re.compile(
    r"\b(?:answer|option|choice|correct)\b.{0,40}?(?<![A-Za-z])(?:\(([A-J])\)|(?<![-+*/^_=(){}\\,])\b([B-J])\b(?!\s?[-+*/^_=(\[{\\<>!]))",
    re.IGNORECASE,
)
_CONJUNCTION = re.compile(
    r"^(?:(?:so|thus|hence|therefore|then|and|we\s(?:get|have|find|know)|that|indeed|exactly|simply|just|equal to|really|now|therefore,|given by|donc|alors|de|égale? à|por lo tanto|entonces|igual a|also|gleich|综上|所以|因此|故)(?![a-z])[\s,:，：]*|=\s*)+",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_SAID = re.compile(rf"(?<!\w)(?:{languages.VERBS}|be)(?!\w)|=|:\s|[是为]", re.IGNORECASE)
_SAYS = re.compile(rf"(?<!\w)(?:{languages.VERBS})(?!\w):?")
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
_POSSIBLE_SUBJECT = re.compile(
    r"\b(?:maximum|minimum|most|least|largest|smallest|greatest|fewest|highest|lowest)\b[^.;,]{1,120}?\b(?:that|which|who)\s(?:could|might|may)\sbe\b(?=[^.;,]*\bis\b)",
    re.IGNORECASE,
)
"""A subject that speaks of what is possible: "the most points that could be chosen is 19" is sure of its 19."""
_NAMED = re.compile(r"([A-Za-z](?:_\{?\w+\}?)?)\s*=[^=]+")
_CONCLUDED = re.compile(
    r"[,;:]\s{1,3}(?:so|hence|thus|therefore)[\s,:]{1,3}(?:(?:I|we)\s(?:think|believe|conclude|choose|pick)\s(?:that\s)?)?(?:it\sis\s|it's\s)?(\$[^$]{1,200}\$|[-−]?\d[\d,./]{0,20}|[A-J](?![A-Za-z]))[.\s]{0,3}$",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[\u4e00-\u9fff]|(?<![A-Za-z\\])(?!(?:and|or)\b)[A-Za-z]{2,}")
_QUOTED = re.compile(r'(?:\\"|["“])([^"“”]*?)(?:\\"|["”])')
_SO = re.compile(r"(?:所以|因此|综上所述|综上)[，,]?")
_BRACKETED_CHAIN = re.compile(r"\(([^()]*\d\s?=[^()=<>]*)\)")
_SUBJECT = re.compile(
    r"(?!.*\b(?:minus|negative|plus|times|base)\b)(?:(?:[^\W\d_]+\s){2,8}|[\u4e00-\u9fff]{2,20})(?=\\?[$€£¥]?\d[\d.,/]*[^\d]*$)"
)
_FOREIGN_UNIT = re.compile(r"(?<=\d)\s?(?:[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+\s?){1,4}\.?$")
"""Words for what is counted, in a script that the verifier reads few units of."""
_JOINED = re.compile(r"(?:[,;]|\b(?:and|or|et|ou|y|o|und|oder)\b|[和或、])\s*$", re.IGNORECASE)
_UNIT_WORDS = re.compile(
    r"\s{0,3}(?:[\u4e00-\u9fff]{1,12}|(?:[^\W\d_]+|[°%/²³^$€£¥]+){1,3}(?:[\s.]{1,3}[^\W\d_]+){0,3}[\s.]{0,3})?$"
)
_INTRODUCED = re.compile(r"(?:^|[.!?]\s)[^:$\d=]{3,80}:\s{0,3}(?:\*\*)?$")
_CURRENCY = re.compile("[$€£¥]")
_CURRENCY_AFTER = re.compile(r"\s?\\?(?:[$€£¥]|(?:euro|dollar|pound)s?\b)", re.IGNORECASE)
_TIME_WORD = re.compile(
    r"\s?-?(?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|minutos?|horas?|días?|semanas?|mes(?:es)?|años?"
    r"|secondes?|heures?|jours?|semaines?|mois|an(?:s|nées?)?|Sekunden?|Minuten?|Stunden?|Tagen?|Wochen?|Monaten?|Jahren?)\b"
)


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
        said = list(_SAID.finditer(sentence)) if _SAYS.search(plain) or re.search("[是为]", plain) else []
        rest = (sentence[said[-1].end() :] if said else sentence).strip().rstrip(".").strip("*")
        return _bare(_CONJUNCTION.sub("", rest)) or None
    if option is not None:
        return (option.group(1) or option.group(2)).upper()
    return None


def _bare(rest: str) -> str:
    """A value without brackets around a whole chain, `(2 + 3 = 5)`, and without a subject before its only number, `She has 5 apples`."""
    if (quoted := _QUOTED.fullmatch(rest)) is not None:
        rest = quoted[1]
    if (chain := _BRACKETED_CHAIN.fullmatch(rest)) is not None:
        return chain[1].rpartition("=")[2].strip()
    if (subject := _SUBJECT.match(rest)) is not None:
        rest = rest[subject.end() :]
    return _FOREIGN_UNIT.sub("", rest) if subject is not None or not CHINESE.search(rest) else rest


def stated(sentence: str) -> str | None:
    """The value that a sentence states: the only one in it, or the one straight after its last verb or equals sign."""
    sentence = _SO.split(sentence)[-1]
    concluded = _CONCLUDED.search(sentence)
    if concluded is not None:
        return concluded[1].strip("$") or None
    if is_hedged(sentence) or DENIED.search(sentence) or sentence.rstrip().endswith("?") or _RELATIVE.search(sentence):
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
        said = list(_SAYS.finditer(sentence))
        return sentence[said[-1].end() :].strip() or None if said else None
    (start, end), last = places[-1]
    if end == len(sentence) and sentence[start] in "$\\" and _INTRODUCED.search(blank[:start]):
        return last
    said = list(re.finditer(rf"(?<!\w)(?:{languages.VERBS})(?!\w):?|(?<=\w)[是为]", blank))
    if said and said[-1].end() <= places[-1][0][0] and not _PROSE.search(blank[said[-1].end() :]):
        return _REASON.sub("", _CONJUNCTION.sub("", sentence[said[-1].end() :].strip())).strip() or None
    if len(places) == 1:
        return places[0][1] or None
    if (amount := _only_amount(sentence, places)) is not None:
        return amount
    named = [_NAMED.fullmatch(sentence[a:b].strip("$ ")) for (a, b), _ in places]
    if all(named) and len({name[1] for name in named if name}) == len(named):
        return ", ".join(name[0] for name in named if name)
    if (named[-1] or _LEADS.search(blank[:start])) and _UNIT_WORDS.fullmatch(blank[end:]):
        return last
    return None


def is_hedged(sentence: str) -> bool:
    """Whether a sentence is unsure of what it says."""
    return HEDGED.search(_POSSIBLE_SUBJECT.sub("", sentence)) is not None


def _only_amount(sentence: str, places: list[tuple[tuple[int, int], str]]) -> str | None:
    """The only amount of money in a sentence whose other numbers count time: "she will owe 220 $ in 12 months"."""
    money = [value for (_, end), value in places if _CURRENCY.search(value) or _CURRENCY_AFTER.match(sentence, end)]
    time = [value for (_, end), value in places if _TIME_WORD.match(sentence, end)]
    return money[0] if len(money) == 1 and len(time) == len(places) - 1 else None


def last_formula(sentence: str) -> str | None:
    """The last side of the formula in which a sentence ends; None where it holds none, adds to other values or denies it."""
    if DENIED.search(sentence) or _RELATIVE.search(sentence):
        return None
    last = next(reversed(list(FORMULA.finditer(sentence))), None)
    if last is None or sentence[last.end() :].strip(" .!。*") or _JOINED.search(sentence[: last.start()]):
        return None
    return last_side(inside(last)) or None


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
