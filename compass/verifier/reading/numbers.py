"""Numbers on their own, in digits (`1,250`, `2/3`, `1.5e3`) or in words (`twenty-three`, `two thirds`, `3rd`), read without a parser.

A plain number settles a third of all comparisons.
"""

# ruff: noqa: SIM905 - a word list reads better as words
from __future__ import annotations

import re
from typing import NamedTuple

from flint import fmpq

from compass.verifier.tree import Number, OverBudget

MAX_DIGITS = 1000
MAX_DECIMAL_EXPONENT = 400

_INTEGER = re.compile(r"[+-]?\d{1,300}")
_NUMBER = re.compile(
    r"(?P<sign>[+-]?)"
    r"(?:(?P<whole>[1-9]\d{0,2}(?:(?:,\d{3})+|(?:[ ']\d{3})+|(?:\.\d{3}){2,})|\d{1,300})?(?:\.(?P<decimals>\d{0,300}))?)"
    r"(?:(?:e(?P<exponent>[+-]?\d{1,3})|(?:\\times|\\cdot)\s?10\^\{?(?P<power>[+-]?\d{1,3})\}?))?"
    r"(?P<mark>\\?%|\^\{?\\circ\}?)?"
)
_FRACTION = re.compile(
    r"(?P<sign>-?)(?:(?P<whole>\d{1,100})(?:\s?(?=\\frac)|\s(?=\d{1,100}/\d)))?"
    r"(?:\\frac(?:\{(?P<top>-?\d{1,100})\}|\s?(?P<top1>\d))\s?(?:\{(?P<bottom>-?\d{1,100})\}|(?P<bottom1>\d))"
    r"|(?P<top2>\d{1,100})/(?P<bottom2>\d{1,100}))"
)


_ARC = re.compile(
    r"(?P<degrees>\d{1,3})\^\{?\\circ\}?\s?(?P<minutes>\d{1,2})(?:'|\^\{?\\prime\}?)"
    r"(?:\s?(?P<seconds>\d{1,2}(?:\.\d{1,9})?)(?:''|\"|\^\{\\prime\s?\\prime\}))?"
)


_SEPARATORS = re.compile(r"[,.' ]")


class PlainNumber(NamedTuple):
    """A number as read: its exact value, `%` or `°` after it, and its decimal text where it was written as one."""

    value: fmpq
    mark: str = ""
    literal: str | None = None


def read_plain_number(text: str) -> PlainNumber | None:
    """The number that normalised text is, or None where it is anything more."""
    if _INTEGER.fullmatch(text):
        return PlainNumber(fmpq(int(text)))
    match = _NUMBER.fullmatch(text)
    if match is not None:
        return _decimal(match)
    match = _FRACTION.fullmatch(text)
    if match is not None:
        return _fraction(match)
    match = _ARC.fullmatch(text) if "circ" in text else None
    return None if match is None else _arc(match)


def _decimal(match: re.Match[str]) -> PlainNumber | None:
    sign, whole, decimals, exponent, power, mark = match.groups()
    if not (whole or decimals):
        return None
    whole, decimals = _SEPARATORS.sub("", whole or ""), decimals or ""
    value = fmpq(int(sign + (whole + decimals)), 10 ** len(decimals))
    shift = int(exponent or power or 0)
    if shift:
        value = value * fmpq(10) ** shift
    literal = None
    if decimals or shift:
        literal = f"{sign}{whole}.{decimals}" + (f"e{shift}" if shift else "")
    return PlainNumber(value, "" if mark is None else "%" if "%" in mark else "°", literal)


def _arc(match: re.Match[str]) -> PlainNumber:
    """Degrees, minutes and seconds of arc, in degrees."""
    whole, _, decimals = (match.group("seconds") or "0").partition(".")
    seconds = fmpq(int(whole + decimals), 10 ** len(decimals))
    return PlainNumber(fmpq(int(match.group("degrees"))) + fmpq(int(match.group("minutes")), 60) + seconds / 3600, "°")


def _fraction(match: re.Match[str]) -> PlainNumber | None:
    sign, whole, top, top1, bottom, bottom1, top2, bottom2 = match.groups()
    below = int(bottom or bottom1 or bottom2)
    if below == 0:
        return None
    value = fmpq(int(top or top1 or top2), below)
    if whole is not None:
        if not 0 < value < 1 or below < 0:
            return None  # an improper fraction after a number is a product
        value += int(whole)
    return PlainNumber(-value if sign else value)


def move_point(side: PlainNumber, places: int) -> PlainNumber:
    """A number times a power of ten, 2 for a percentage; a decimal text keeps its digits."""
    text = side.literal
    if text is not None:
        mantissa, _, exponent = text.lower().partition("e")
        text = f"{mantissa}e{int(exponent or 0) + places}"
    return PlainNumber(side.value * 10**places, side.mark, text)


def read_literal(text: str) -> Number:
    """The number of a token, exactly: digits, perhaps with a point and an exponent.

    Raises:
        OverBudget: more than `MAX_DIGITS` digits, or an exponent beyond `MAX_DECIMAL_EXPONENT`.
    """
    if len(text) <= MAX_DIGITS and text.isdigit():
        return Number(fmpq(int(text)))
    mantissa, _, exponent = text.lower().partition("e")
    if len(mantissa) > MAX_DIGITS or (exponent and abs(int(exponent)) > MAX_DECIMAL_EXPONENT):
        raise OverBudget(f"a number of {len(text)} digits")
    whole, _, decimals = mantissa.partition(".")
    value = fmpq(int(whole + decimals or "0"), 10 ** len(decimals))
    if exponent:
        value *= fmpq(10) ** int(exponent)
    return Number(value, text if decimals or exponent else None)


_SMALL = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
    )
}
_TENS = {word: 10 * (at + 2) for at, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())}
COUNTS = {"dozen": 12, "score": 20}
"""Nouns for a number of things."""
SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "lakh": 10**5,
    "million": 10**6,
    "crore": 10**7,
    "billion": 10**9,
    "trillion": 10**12,
    "quadrillion": 10**15,
    "myriad": 10**4,
    **COUNTS,
}
"""Words that multiply the number before them."""
MULTIPLES = SCALES | {f"{word}s": value for word, value in SCALES.items()} | {"tens": 10}
"""The same with their plurals: `3 hundreds`."""
_IRREGULAR = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def _ordinal(word: str) -> str:
    return _IRREGULAR.get(word) or (f"{word[:-1]}ieth" if word.endswith("y") else f"{word}th")


_ORDINALS = {
    _ordinal(word): value for word, value in (*_SMALL.items(), *_TENS.items(), *SCALES.items()) if word not in COUNTS
}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    form: value for word, value in _ORDINALS.items() if value > 2 for form in (word, f"{word}s")
}
FRACTIONS = {word: value for word, value in _PARTS.items() if word.endswith("s")}
"""Words that divide the number before them: `halves`, `thirds`."""
_FIRST = frozenset([*_SMALL, *_TENS, *_ORDINALS, "half", "a", "an", "minus", "negative", "hundred"])
_WORD = re.compile(r"[A-Za-z]+")
_GAP = re.compile(r"\s+|-(?=[A-Za-z])")
_AFTER = re.compile(r"\s+[A-Za-z]|\s*(?:\\?%|\\text|\\mathrm)")
_SUFFIX = re.compile(
    r"(\d{1,9})\s?\^?\{?\s*(?:\\(?:text|textrm|textbf|mathrm|mbox|rm)\s*\{?)?\s*(?:st|nd|rd|th)\s*\}{0,2}"
)
_SENTENCE = re.compile(r"(?:it|that|this) is (?=-?\d|\\)", re.IGNORECASE)
_YEAR = re.compile(r"(?:in )?(?:the )?year (\d{4})", re.IGNORECASE)
MAX_WORDS = 20


def write_digits(text: str) -> str:
    """Normalised text with the number that it begins with in digits, where that is written in words or as an ordinal; else the same text."""
    if text[:1].isdigit():
        match = _SUFFIX.fullmatch(text) if text[-1] in "htd}" else None
        return text if match is None else match[1]
    match = _WORD.match(text)
    if match is not None and (sentence := _SENTENCE.match(text)) is not None:
        return text[sentence.end() :]
    if match is not None and (year := _YEAR.fullmatch(text)) is not None:
        return year[1]
    if match is None or match[0].lower() not in _FIRST:
        return text
    words, ends, at = [], [], 0
    while (word := _WORD.match(text, at)) is not None and len(words) < MAX_WORDS:
        words.append(word[0].lower())
        ends.append(word.end())
        gap = _GAP.match(text, word.end())
        if gap is None:
            break
        at = gap.end()
    negative = words[0] in ("minus", "negative")
    if negative and len(words) == 1 and _GAP.match(text, ends[0]):
        rest = text[ends[0] :].lstrip()
        return f"-{rest}" if rest[:1].isdigit() else text
    start = 1 if negative else 0
    for count in range(len(words), start, -1):
        rest = text[ends[count - 1] :]
        if rest and (not _AFTER.match(rest) or _continues(rest)):
            continue
        value = read_number_words(words[start:count], alone=not rest)
        if value is not None:
            sign = "-" if negative else ""
            return f"{sign}{value}{rest}"
    return text


_SCALE_WORDS = "hundred|thousand|million|billion"
_NUMBER_WORDS = "|".join(sorted([*_SMALL, *_TENS], key=len, reverse=True)) + f"|{_SCALE_WORDS}"
_RUN = re.compile(
    rf"(?<![\w-])(?<!\bthe\s)(?<!\bthese\s)(?<!\bthose\s)(?:(?:minus|negative)\s)?(?:an?\s(?={_SCALE_WORDS}))?(?:{_NUMBER_WORDS})(?!\w)"
    rf"(?:(?:\s|-|(?<=hundred)\sand\s|(?<=thousand)\sand\s|(?<=million)\sand\s)(?:{_NUMBER_WORDS})(?!\w))*"
    rf"(?:[\s-](?:{'|'.join(FRACTIONS)})(?=\sof\b)|\sand\sa\s(?:half|quarter|third)(?!\w))?(?!-\w)",
    re.IGNORECASE,
)
"""A number in words, but for "the two", which stands for things."""


def write_numbers(sentence: str) -> str:
    """A sentence without digits and formulas with the numbers that it writes in words in digits: "there are 35 diagonals"; any other as it
    is. A lone "one" or "zero" stays: it may stand for a thing, or begin a term."""
    if re.search(r"[\d$\\]", sentence):
        return sentence
    return _RUN.sub(_write_run, sentence)


def _write_run(run: re.Match[str]) -> str:
    words = run[0].lower().replace("-", " ").split()
    negative = words[0] in ("minus", "negative")
    value = read_number_words(words[1:] if negative else words)
    return run[0] if value is None or words in (["one"], ["zero"]) else f"{'-' if negative else ''}{value}"


def _continues(rest: str) -> bool:
    """Whether what follows begins with another word of a number."""
    word = _WORD.match(rest.lstrip())
    return word is not None and (word[0].lower() in _FIRST - {"a", "an"} or word[0].lower() in ("and", *_PARTS))


def read_number_words(words: list[str], *, alone: bool = True) -> fmpq | None:
    """The number that lower-case words say, or None.

    Args:
        words: all of them; each has to be part of the number.
        alone: whether nothing follows; else an ordinal is no number, because `third day` names a day.
    """
    if words in (["half"], ["a", "half"]):
        return fmpq(1, 2)
    if words[:1] == ["a"] and words[1:] in ([word] for word in COUNTS):
        return None
    if words and words[-1] in _PARTS and len(words) > 1:
        return _fraction_in_words(words)
    if alone and words and words[-1] in _ORDINALS:
        before = _cardinal(words[:-1]) if len(words) > 1 else 0
        last = _ORDINALS[words[-1]]
        if before is None or (len(words) > 1 and (last >= 10 or before % 10)):
            return None
        return fmpq(before + last)
    value = _cardinal(words)
    return None if value is None else fmpq(value)


def _fraction_in_words(words: list[str]) -> fmpq | None:
    """`two thirds`, `a quarter`, `three and a half`."""
    below = _PARTS[words[-1]]
    *before, top = words[:-1]
    above = 1 if top in ("a", "an") else _cardinal([top])
    if above is None or (words[-1] in _ORDINALS and above != 1):  # twenty-tenth
        return None
    if not before:
        return fmpq(above, below)
    whole = _cardinal(before[:-1]) if before[-1] == "and" else None
    return None if whole is None or above >= below else whole + fmpq(above, below)


def _cardinal(words: list[str]) -> int | None:
    """`two thousand one hundred and five`; None for anything else."""
    total, group, last = 0, 0, ""
    for at, word in enumerate(words):
        if word == "and":
            if last not in SCALES or at + 1 == len(words):
                return None
            continue
        if word in ("a", "an"):
            if at or len(words) < 2 or words[1] not in SCALES:
                return None
            group = 1
        elif word in _SMALL:
            if last in _SMALL or (last in _TENS and not 0 < _SMALL[word] < 10):
                return None
            group += _SMALL[word]
        elif word in _TENS:
            if last in _TENS or last in _SMALL:
                return None
            group += _TENS[word]
        elif word in SCALES:
            if not group and word != "hundred":
                return None
            scale = SCALES[word]
            if scale == 100:
                group = max(group, 1) * 100
            else:
                total, group = total + group * scale, 0
        else:
            return None
        last = word
    return total + group if last else None
