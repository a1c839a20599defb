"""Answers in words: names, "no solution", yes and no, choices and their letters, times of day, dates."""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

import re
from typing import NamedTuple

from compass.verifier.verdict import Leniency, lean

_TEXT_COMMAND = re.compile(
    r"\\(?:text|textbf|textit|textrm|textnormal|mathrm|mathbf|mbox|hbox|operatorname|emph)\s*(?=\{)"
)
_NOT_WORDS = re.compile(r"[\W_]+")
_ARTICLES = re.compile(r"\b(?:the|an?)\b(?= )", re.IGNORECASE)
_SUBJECT = re.compile(
    r"^(?:(?:it|this|that|they|there|answer)(?: (?:is|s|are|was|were|would be|will be)(?! not\b)| (?=cannot|can|does|do|has|will)))\s*(?=\w)"
)
"""How a sentence that gives an answer begins: "it is Thursday"."""
_KIND = re.compile(
    r"(?:(?:any|every|all|each) |[a-z] (?:is )?)?(odd|even|prime|composite)(?: (?:[a-z]|(?:whole )?(?:numbers?|integers?)(?: of [a-z]+)?))?"
)
KINDS = frozenset(["odd", "even", "prime", "composite"])
"""Kinds of whole numbers, which may be named in full."""
_SAID = re.compile(r"(?:(?:The|This|That|Its|A|An)\s|[A-Z]\w+\s).{0,200}?\s?(?:is|are)\s((?:[A-Za-z]+\s?){1,4})\.?")
_UNSAID = re.compile(
    r"\b(?:is|are)\b.*\b(?:is|are)\b|\b(?:not?|never|neither|if|whether|that|which|false|untrue|or|than|only|when|unless)\b|n't",
    re.IGNORECASE,
)
_INITIAL = re.compile(r"(?<=\w )A\b(?! [a-z])")
"""A capital that is a name, as in "Team A"."""
_BEFORE_A_DAY = re.compile(
    r"^(?:on|in) (?=(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:january|february|march|april|may|june|july|august|september|october|november|december)\b)"
)
_WRAPPED_CHOICE = re.compile(r"\(\s*([A-Ha-h])\s*\)\.?|([A-H])\)?\.?|([a-h])\)")
_EXCLUDED = re.compile(r"(?<=[A-H])[)\s.,;。，]*(?:(?:而?不是)|(?:,|\s)(?:and\s)?not)\s?\(?[A-H]\)?\.?$")
"""What follows a choice and rules out another: "B, not A"."""

_SAME = {
    "no solution": "no solutions;there is no solution;there are no solutions;no solution exists;no solutions exist;none exist;"
    "has no solution;no real solution;no real solutions;there are no real solutions;there is no real solution;"
    "there are no such numbers;no such numbers exist;no solution set;does not have solution;none;empty set;emptyset;varnothing;oslash;empty",
    "does not exist": "dne;doesn t exist;do not exist;it does not exist;limit does not exist;not exist",
    "infinitely many": "infinitely many solutions;infinite number of solutions;infinite;infinite solutions;infinitely many;"
    "there are infinitely many solutions;infinite many;infinite many solutions;infinitely many pairs",
    "none of above": "none of these;none of them",
    "yes": "yes it is;yes it does;yes they are", "no": "no it is not;no it does not;no they are not",
    "all real numbers": "all reals;all real x;for all real numbers;any real number;all real numbers x;real numbers;every real number;mathbb r;all of mathbb r;set of real numbers;set of all real numbers",
    "converges": "convergent;converge;it converges;series converges", "diverges": "divergent;diverge;it diverges;series diverges",
    "true": "it is true", "false": "it is false", "undefined": "is undefined;not defined;undefined expression",
    **{f"{day}day": short for day, short in (("mon", "mon"), ("tues", "tue;tues"), ("wednes", "wed"), ("thurs", "thu;thur;thurs"), ("fri", "fri"))},
    "impossible": "it is impossible;not possible",
}  # fmt: skip
SYNONYMS = {other: name for name, others in _SAME.items() for other in (name, *others.split(";"))}


_FORMULA = re.compile(r"[\^=<>+*|\[\]&#]|\\(?!text|math|mbox|hbox|operatorname|emph)[A-Za-z{]")
_YES_OR_NO = re.compile(r"(yes|no)(?:[,.;:!]\s?(?!.*\b(?:yes|no|but|if|unless|or)\b)([^\W\d].*)|[.!])?")


def is_formula(text: str) -> bool:
    """Whether normalised text holds signs that no choice, time, date or prose has: a cheap look before the others."""
    return _FORMULA.search(text) is not None


def plain_words(text: str) -> str:
    """The words of an answer: lower case, no LaTeX, punctuation or articles; synonyms made one."""
    plain = _TEXT_COMMAND.sub("", text).replace("{", " ").replace("}", " ").replace("\\", " ")
    plain = _NOT_WORDS.sub(" ", plain).strip()
    if " " in plain:
        if " A" in plain:
            plain = _INITIAL.sub("a_", plain)
        plain = plain.lower()
        plain = _BEFORE_A_DAY.sub("", " ".join(_ARTICLES.sub(" ", plain).split()) or plain)
    else:
        plain = plain.lower()
    plain = plain.removesuffix(" only")
    known = SYNONYMS.get(plain)
    if known is None:
        plain = _SUBJECT.sub("", plain)
    return known or SYNONYMS.get(plain, plain)


def read_number_kind(text: str) -> str:
    """The words of an answer; of one that names a kind of whole numbers, "any odd number of players", the kind alone."""
    words = plain_words(text)
    match = _KIND.fullmatch(words)
    return words if match is None else match[1]


def read_predicate(text: str) -> str | None:
    """What a sentence says of its subject, "the function $f$ is odd": the words after its only verb; None for anything else."""
    match = _SAID.fullmatch(text)
    return None if match is None or _UNSAID.search(text) else plain_words(match[1])


def read_yes_or_no(text: str) -> tuple[str, bool] | None:
    """The yes or no that an answer is or begins with, "No, such a function does not exist", and whether it stands alone; None for anything
    else, and where what follows says yes or no again, or sets a condition."""
    match = _YES_OR_NO.fullmatch(_TEXT_COMMAND.sub("", text).replace("{", "").replace("}", "").strip().lower())
    return None if match is None else (match[1], match[2] is None)


def read_choice(text: str) -> str | None:
    """The letter of a multiple-choice answer: `(B)`, `\\text{B}`, `B.`, `b)`; None for anything else."""
    plain = _TEXT_COMMAND.sub("", text).replace("{", "").replace("}", "").strip()
    if len(plain) > 3:
        plain = _EXCLUDED.sub("", plain)
    match = _WRAPPED_CHOICE.fullmatch(plain)
    return None if match is None else (match.group(1) or match.group(2) or match.group(3)).upper()


_PROSE = re.compile(r"[^\W\d_]{2,}")
_MATHEMATICAL = frozenset(
    "pi sqrt sin cos tan cot sec csc log ln exp frac cdot times pm le ge leq geq infty cup cap or and inf mod gcd lcm".split()
)


def is_prose(text: str) -> bool:
    """Whether normalised text is words and punctuation alone, with at least one real word."""
    plain = _TEXT_COMMAND.sub("", text).replace("{", " ").replace("}", " ")
    if any(sign in plain for sign in "\\^_=<>+*/|[]&#") or plain.startswith("-"):
        return False
    words = _PROSE.findall(plain)
    return (
        bool(words)
        and any(len(word) > 2 and word.lower() not in _MATHEMATICAL for word in words)
        and not re.search(r"\d", plain)
    )


def is_sentence(text: str) -> bool:
    """Whether text that is no expression is a sentence: at least four words, numbers among them or not."""
    return (
        len([word for word in _PROSE.findall(_TEXT_COMMAND.sub("", text)) if len(word) > 2]) >= 4 and "\\" not in text
    )


_MONTHS = {
    month: number
    for number, names in enumerate(
        ["january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug", "september sept sep", "october oct", "november nov", "december dec"], 1
    )
    for month in names.split()
}  # fmt: skip
_MARKUP = re.compile(r"\\(?:text|textbf|textrm|mathrm|mbox)\s*(?=\{)|[{}\\]")
_TIME = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?\s*(?:(?P<half>[ap])\.?\s*m\.?)?|(?P<hour12>\d{1,2})\s*(?P<half12>[ap])\.?\s*m\.?|(?P<clock>\d{1,2})\s*o'?\s?clock|12(?::00)?\s?(?P<named>noon|midnight)",
    re.IGNORECASE,
)
_NAMED = {"noon": (12, 0, 0), "midnight": (0, 0, 0)}
_ISO = re.compile(r"(\d{4})([-/.])(0?[1-9]|1[0-2])\2(0?[1-9]|[12]\d|3[01])")
_LAST = frozenset("mM.}ktn")
"""What a time without a colon ends with: `9 am`, `8 o'clock`, `noon`."""
_SUFFIX = "stndrh"


class Time(NamedTuple):
    """A time of day; `half` is `a`, `p` or, where the text does not say, empty."""

    hour: int
    minute: int
    second: int
    half: str = ""


def read_time(text: str) -> Time | None:
    """The time of day that a text is, or None: `4:30 p.m.`, `16:30`, `9 am`, `noon`. Two digits stand after the colon."""
    if (":" not in text and text[-1:] not in _LAST) or (not text[:1].isdigit() and text[:1] not in "\\nNmM"):
        return None
    plain = _MARKUP.sub("", text).strip()
    named = _NAMED.get(plain.lower())
    if named is not None:
        return Time(*named, "p" if named[0] else "a")
    match = _TIME.fullmatch(plain)
    if match is None:
        return None
    if match["named"]:
        return read_time(match["named"])
    hour, minute, second = (
        int(match["hour"] or match["hour12"] or match["clock"]),
        int(match["minute"] or 0),
        int(match["second"] or 0),
    )
    half = (match["half"] or match["half12"] or "").lower()
    if hour > 24 or minute > 59 or second > 59 or (half and not 1 <= hour <= 12):
        return None
    return Time(hour % 12 + (12 if half == "p" else 0) if half else hour, minute, second, half)


def same_time(one: Time, two: Time) -> bool:
    """Whether two times are the same; one without `am` or `pm` up to 12 o'clock may be either."""
    if one[:3] == two[:3]:
        if one.half != two.half and min(one.hour, two.hour) <= 12:
            lean(Leniency.WORDING)
        return True
    bare = next((time for time in (one, two) if not time.half), None)
    if bare is None or one.half == two.half or not 1 <= bare.hour <= 12 or one[1:3] != two[1:3]:
        return False
    lean(Leniency.WORDING)
    return (one.hour - two.hour) % 12 == 0


class Date(NamedTuple):
    """A date, of which a part may be missing."""

    year: str
    month: int
    day: str


def is_iso_date(text: str) -> bool:
    """Whether text is a date in digits, the year first: `2021-03-05`."""
    return text[:1].isdigit() and _ISO.fullmatch(text) is not None


def read_date(text: str) -> Date | None:
    """The date that a text is, its month in words or the year first; None for any other text."""
    match = _ISO.fullmatch(text) if text[:1].isdigit() else None
    if match is not None:
        return Date(match[1], int(match[3]), match[4].lstrip("0"))
    parts = plain_words(text).split()
    months = [part for part in parts if part in _MONTHS]
    numbers = [part.rstrip(_SUFFIX) for part in parts if part not in _MONTHS and part != "of"]
    if len(months) != 1 or not 1 <= len(numbers) <= 2 or not all(part.isdigit() for part in numbers):
        return None
    years = [part for part in numbers if len(part) == 4]
    days = [part.lstrip("0") for part in numbers if len(part) < 3]
    if len(years) > 1 or len(days) > 1 or len(years) + len(days) != len(numbers):
        return None
    return Date(years[0] if years else "", _MONTHS[months[0]], days[0] if days else "")


_STYLE = r"\\(?:text|textbf|textrm|mathrm|mathbf|mathsf|bf|rm)\s*\{"
_LETTERED = re.compile(
    rf"(?:{_STYLE})?(?P<open>\()?\s*(?:{_STYLE})?(?P<letter>[A-H])(?P<inner>\}})?\s*(?P<mark>[).:])(?P<outer>[.:]?\}}|[.:])?\s*(?P<value>[^*/^=<>_+,}}].*)",
    re.DOTALL,
)
_JOINED = re.compile(r"(?:\\text\w{0,2}\s?\{\s*)?(?:or|and)(?![a-z])")
"""What joins a choice with something else: `(C) or 600`."""
_OR_ANOTHER = re.compile(r"\bor\s?(?:\([A-H]\)|[A-H](?:[).:]|$))")
"""Another choice behind the value of the first: `B) 5 or D) 7`."""
_ONE = re.compile(r"[A-Za-z]")
_LISTED = re.compile(r"\s*(?:[,;]\s*(?:\\?and\b)?|\\?and|&|\s)\s*")


def split_choice(text: str) -> tuple[str, str] | None:
    """The letter of a choice and the value after it: `(B) 94`, `C. \\text{a cube}`; None for anything else, two choices among it."""
    match = _LETTERED.fullmatch(text)
    if match is None or (match["open"] and match["mark"] != ")"):
        return None
    value = match["value"].strip()
    if (
        _OR_ANOTHER.search(value)
        or _JOINED.match(value)
        or (match["mark"] == ":" and read_choice(value.strip("$")) is not None)
        or (match["mark"] == "." and len(value) < 3 and value.isalpha())
    ):
        return None  # "(B) or (D)"; "A: B", whose A may stand for "answer"; p.m. and its like
    return match["letter"], value


_BRACKETED = re.compile(r"(?:\\text\w{0,2}\s?\{)?\(([A-Z])\)\}?")


def read_letters(text: str) -> tuple[str, str] | None:
    """Single letters alone, and how they stand: `ACD` joined, `A, C, D` listed, `(A) and (C)` bracketed, `b a d c` spaced; None for
    anything else."""
    bare = _BRACKETED.sub(r" \1 ", text).strip() if "(" in text else text
    if bare != text:
        letters = read_letters(bare)
        return letters and (letters[0], "bracketed")
    if text.isalpha():
        return (text, "joined") if text.isascii() and text.isupper() and 1 < len(text) < 9 else None
    parts = _LISTED.split(text)
    if not 1 < len(parts) < 27 or not all(map(_ONE.fullmatch, parts)):
        return None
    return "".join(parts), "spaced" if set(text) <= set("".join(parts) + " ") else "listed"


def same_letters(gold: str, answer: str) -> bool | None:
    """Whether two answers of letters alone are equal; None where they are no such answers, or mathematics may say more.

    Letters that only spaces part are an order. A word of capitals names several choices, in any order, where the other side lists them.
    """
    one, two = read_letters(gold), read_letters(answer)
    if one is None or two is None:
        several, other = (one, answer) if one else (two, gold)
        return False if several and several[1] == "bracketed" and read_choice(other) else None
    styles = {one[1], two[1]}
    if "bracketed" in styles:
        return sorted(one[0]) == sorted(two[0])
    if "spaced" in styles:
        return one[0] == two[0] if len(one[0]) > 2 or styles != {"spaced"} else None
    if styles == {"joined", "listed"} and one[0].isupper() and two[0].isupper():
        return sorted(one[0]) == sorted(two[0])
    return None
