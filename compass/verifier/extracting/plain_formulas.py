"""What a number in a sentence is part of: a formula in plain text, "x + 7", or words that change it, "half of 7"."""

from __future__ import annotations

import re
from itertools import islice

from compass.verifier.answer_type import answer_type
from compass.verifier.reading.numbers import FRACTIONS, MULTIPLES

FUNCTIONS = r"(?:sqrt|cbrt|log|ln|exp|(?:arc)?(?:sin|cos|tan))"
"""Names of functions in plain text, as a regular expression."""
CHANGING = r"twice|thrice|half|double|triple|times|plus|minus|negative|than|without|except|but"
"""Words that make another value of the number after them, or a bound, wherever they stand before it; parts of a regular expression."""
_TOKEN = re.compile(
    rf"(?P<tag></?[A-Za-z][^<>\n]{{0,80}}>)|(?P<function>(?<![A-Za-z]){FUNCTIONS}(?![A-Za-z])(?:_\{{?\w{{1,3}}\}}?)?|[√∛])"
    r"|(?P<letter>(?<![^\W\d_])(?<!\w['’])[A-Za-zα-ωΑ-Ω](?![^\W\d_]|['’]|\.[a-z]))|(?P<power>[⁰¹²³⁴-⁹⁻]+)|(?P<word>[^\W\d_]+)|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<gives>=>|->|[→⇒⟹]|(?<![<>!])=(?!/)|[≈~])|(?P<dash>[-−–])|(?P<sign>[<>!]=|=/=|[+*/^_<>≤≥≠±∓×·÷⋅∈≡])"
    r"|(?P<bracket>[()\[\]{}|])|(?P<other>\S)"
)
"""A part of a sentence, by what it can be in a formula. A sign that gives a value stands after a name in words as well: `Total = 7`."""
_TERMS = ("letter", "number", "function", "bracket", "power")
_SIGNS = ("gives", "dash", "sign")
_REACH = 80
"""Characters on each side of a number in which its formula is looked for."""
_OPERATION = re.compile(r"\s(?:plus|minus|times|over|choose|mod)\s(?=(?![aAI]\b)[A-Za-z]\b)")
"""An operation in words, before a letter."""
_SCALED = re.compile(
    rf"\s(?:{'|'.join([*MULTIPLES, *FRACTIONS])}|squared|cubed|factorial|percent|permille|ppm|ppb)\b(?!-)"
)
_CHANGED_AFTER = re.compile(
    r"\s(?:and\sa\s(?:half|third|quarter)|or\s(?!so\b)\w+|to\sthe\s(?:power|\w+th)|short\sof|(?:above|below|under)\s\w+)\b"
)
_CHANGED_BEFORE = re.compile(
    rf"\b(?:{CHANGING}|(?-i:over|under|below|above)|not|(?:divided|divisible|multiplied)\sby|choose|base|modulo|mod"
    rf"|(?:half|{'|'.join(FRACTIONS)}|{'|'.join(word[:-1] for word in FRACTIONS)}|root|square|cube|power|multiple|factor|divisor|reciprocal"
    r"|inverse|negative|opposite|double|triple|logarithm|sine|cosine|tangent|factorial)s?\sof)\s(?:the\s|an?\s)?$",
    re.IGNORECASE,
)
"""Words that make of what they stand before another value, or a bound."""
_GIVES = re.compile(
    r"\b(?:is|are|be|equals?|gives?|gets?|obtains?|has|have|finds?|leaves|yields?|makes|concludes?)\W*$", re.IGNORECASE
)
"""A verb straight before its value, after which a dash is a sign."""


def changes_next(text: str) -> bool:
    """Whether the words in which a text ends make another value of the number after them: "half of", "other than"."""
    return _CHANGED_BEFORE.search(text[-_REACH:]) is not None


def is_changed_after(text: str, end: int) -> bool:
    """Whether words after the place make another value of the number before it, or a bound: "and a half", "or more"."""
    return _CHANGED_AFTER.match(text, end) is not None


def find_scale(text: str, end: int) -> str:
    """The word after a place that scales the number before it, with the blank between them: " million"; empty where none does."""
    scaled = _SCALED.match(text, end)
    return "" if scaled is None else scaled[0]


def find_whole_value(sentence: str, start: int, end: int) -> str | None:
    """The value that the number between two places of a sentence is part of: the number itself, or the formula in plain text around it.

    None where that cannot be read, or words beside it change it.
    """
    low, is_named = find_beginning(sentence, start)
    high = _find_end(sentence, end, opened=sentence[low:start].count("(") - sentence[low:start].count(")"))
    if changes_next(sentence[:low]) or is_changed_after(sentence, high):
        return None
    number, whole = sentence[start:end].strip(" ,"), sentence[low:high].strip(" ,.")
    if number == whole or (is_named and high == end and _is_worked_out(sentence[low:start])):
        return number
    kind = answer_type(whole)
    if kind in ("unrecognised", "text"):
        return number if is_named and high == end else None
    is_assumed = kind == "inequality" and sentence[:low].rstrip().endswith(":")  # "Lower bound: x > 3"
    return None if is_assumed else whole


def _is_worked_out(left: str) -> bool:
    """Whether what stands before a number, up to the sign that gives it, is a calculation or a measure: "25 m/s = "."""
    return not re.search(r"[^\W\d_]", left) or answer_type(left.strip(" =≈~")) == "quantity"


def find_beginning(sentence: str, start: int) -> tuple[int, bool]:
    """Where the formula begins whose last number begins at `start`, and whether that number is all that follows a sign which gives a value."""
    tokens = list(_TOKEN.finditer(sentence, max(0, start - _REACH), start))
    begins, is_named, needs_term = start, False, False
    while tokens:
        token = tokens.pop()
        kind, before = token.lastgroup, tokens[-1] if tokens else None
        if kind in _SIGNS:
            if is_named and kind == "gives" and token[0] not in "=≈~":
                break  # an arrow before an equation leads from another step
            if (before is None or before.lastgroup not in _TERMS) and not _is_sign(sentence, token, before):
                break
            is_named = is_named or (token[0] in "=≈~" and begins == start)
            needs_term = before is not None and before.lastgroup in _TERMS
        elif token[0] == "(" and before is not None and before.lastgroup in ("function", "letter"):
            needs_term = before.end() == token.start()
            if not needs_term:
                break
        elif kind not in _TERMS or (kind != "function" and not needs_term):
            break
        begins = token.start()
    return begins, is_named


def _is_sign(sentence: str, token: re.Match[str], before: re.Match[str] | None) -> bool:
    """Whether a sign without a term before it belongs to the number after it, and marks no item, label or step."""
    if before is None or token.lastgroup == "gives":
        return False
    if token.lastgroup == "dash":
        is_word = before.lastgroup == "word"
        return not is_word or _GIVES.search(sentence, max(0, token.start() - _REACH), token.start()) is not None
    return token[0] not in "*_"


def _find_end(sentence: str, end: int, *, opened: int) -> int:
    """Where the formula ends whose first number ends at `end`, with so many brackets opened before it."""
    while (after := _find_end_of_term(sentence, end, opened=opened)) > end:
        opened -= sentence.count(")", end, after) - sentence.count("(", end, after)
        end = after
    return end


def _find_end_of_term(sentence: str, end: int, *, opened: int) -> int:
    """Where what follows a term of a formula ends: the next sign with its term, a letter, a bracket, a word that scales; `end` where the
    formula ends."""
    if scale := find_scale(sentence, end):
        return end + len(scale)
    operation = _OPERATION.match(sentence, end)
    tokens = list(islice(_TOKEN.finditer(sentence, operation.end() if operation else end), 3))
    if not tokens:
        return end
    token, following, third = (*tokens, None, None)[:3]
    touches = token.start() == end
    if token[0] == ")" and opened > 0:
        return token.end()
    if token[0] in "([{" and touches:
        return max((sentence.find(mark, end) for mark in ")]}"), default=-1) + 1 or end
    if (
        (token[0] == "!" and touches)
        or (token.lastgroup == "power" and touches)
        or (token.lastgroup == "letter" and (operation or _is_term(token, following, touches=touches)))
    ):
        return token.end()
    if token.lastgroup not in _SIGNS or following is None:
        return end
    if following.lastgroup == "letter":
        return following.end() if _is_term(following, third, touches=touches) else end
    return (
        len(sentence)
        if following.lastgroup == "function"
        else following.end()
        if following.lastgroup == "number"
        else end
    )


def _is_term(letter: re.Match[str], following: re.Match[str] | None, *, touches: bool) -> bool:
    """Whether a letter is a term of a formula, and neither an article nor a short word before another."""
    return touches or (letter[0] not in "aAI" and (following is None or following.lastgroup != "word"))
