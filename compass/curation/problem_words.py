"""A problem as words: the one normalised form that deduplication and decontamination compare, and their n-grams.

Two texts that a reader takes for the same problem should give the same tokens, whatever their markup: case, white
space, punctuation, `$`, braces, `\\left`, `\\,` and font commands vanish; `\\dfrac` is `frac`, `\\frac12` is
`\\frac{1}{2}`, `1,000` is `1000`, `two` is `2`, `\\cdot` and `×` are `*`. What changes the mathematics stays: words,
numbers and operators. Words and numbers are *words*; operators are tokens that no n-gram counts, so that `x + 1` and
`x - 1` are near each other and still two problems.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΔΣΩΓΛΠΦΨ"
_GREEK_NAMES = """
    alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi omega
    delta sigma omega gamma lambda pi phi psi
"""
_UNICODE = {
    **dict.fromkeys("−–—‐‑‒", "-"),
    **dict.fromkeys("×·⋅∙", r"\cdot "),
    **dict.fromkeys("‘’ʼ", "'"),
    **dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", (f"^{digit}" for digit in range(10)), strict=True)),
    "÷": r"\div ",
    "≤": r"\le ",
    "⩽": r"\le ",
    "≥": r"\ge ",
    "⩾": r"\ge ",
    "≠": "!=",
    "√": r"\sqrt ",
    "∞": r"\infty ",
    "°": r"\circ ",
    "∠": r"\angle ",
    "△": r"\triangle ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∈": r"\in ",
    **{letter: f"\\{name} " for letter, name in zip(_GREEK, _GREEK_NAMES.split(), strict=True)},
}
_TRANSLATION = str.maketrans(_UNICODE)

# Kept as text, one word after the other: a list of quoted words takes a line each.
_WITHOUT_MEANING = """
    left right big bigl bigr bigg biggl biggr bigm text textbf textit textrm textup mbox hbox mathrm mathbf mathit
    mathsf mathbb mathcal boldsymbol bm operatorname displaystyle textstyle scriptstyle limits nolimits quad qquad
    rm bf it emph underline ldots cdots dots dotsc dotsb dotsm dotso vdots hspace vspace noindent hfill newline par
    middle mathop hskip kern tag label nonumber enspace thinspace
"""
_COMMANDS_WITHOUT_MEANING = frozenset(_WITHOUT_MEANING.split())
_OPERATOR_COMMANDS = {
    **dict.fromkeys(("cdot", "times", "ast"), "*"),
    **dict.fromkeys(("le", "leq", "leqslant", "leqq", "lt"), "<"),
    **dict.fromkeys(("ge", "geq", "geqslant", "geqq", "gt"), ">"),
    "div": "/",
    "mid": "|",
    "vert": "|",
}
_NUMBER_WORDS = """
    two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty
"""
_TENS = """thirty forty fifty sixty seventy eighty ninety"""
_NUMBERS = {
    **{word: str(number) for number, word in enumerate(_NUMBER_WORDS.split(), start=2)},
    **{word: f"{tens}0" for tens, word in enumerate(_TENS.split(), start=3)},
}
# Words that make another problem of the same text, as a number does; the words of one line mean the same.
_DECIDING_WORDS = """
    minimum minimal minimize smallest least lowest
    maximum maximal maximize largest greatest highest
    even
    odd
    pentagon
    hexagon
    heptagon
    octagon
    nonagon
    decagon
    dodecagon
    sin sine
    cos cosine
    tan tangent
    cot cotangent
    sec secant
    csc cosecant
    arcsin
    arccos
    arctan
    third
    fourth
    fifth
    sixth
    median
    mean average
    mode
"""
_DECIDING = {
    **{word: line.split()[0] for line in _DECIDING_WORDS.strip().splitlines() for word in line.split()},
    **{sign: sign for sign in "+-^!<>"},
}
_OPERATORS = frozenset("+-*/^=<>|!%()[]{}'")
_ESCAPED_OPERATORS = frozenset("{}|%")
_DIGITS = frozenset("0123456789")

# Text is lower case here. Letters up to U+07FF make words (Latin, Greek, Cyrillic, Hebrew, Arabic); of the alphabets
# beyond, Chinese above all, each character is a word. Punctuation (U+2000, U+3000) and all other signs are no tokens.
_TOKEN = re.compile(
    r"""
      \\(?:[dtc]?frac|[dt]?binom)(?![a-z])(?:[ ]*[0-9]{1,2})?    # \frac12: an argument is one digit
    | \\[a-z]+
    | \\[{}|%]
    | \\.                                                        # spacing, such as \,
    | [a-z\u0080-\u07ff]+
    | [0-9](?:[0-9] | \.(?=[0-9]) | (?:,\\! | \{,\} | ,)(?=[0-9]{3}(?![0-9])))*    # 3.5  1,000  1{,}000  1,\!000
    | -(?![ ]*[a-z]{2})                                          # a minus; the hyphen of a word is no token
    | [+*/^=<>|!%()[\]]
    | (?<=[a-z])'(?![a-z])                                       # f', not the quotes and apostrophes of prose
    | [^\x00-\u07ff\u2000-\u207f\u3000-\u303f]
    """,
    re.VERBOSE | re.DOTALL,
)
_FRACTION = re.compile(r"\\[dtc]?(frac)[ ]*([0-9]*)|\\[dt]?(binom)[ ]*([0-9]*)")
_NOT_NUMBER = re.compile(r"[^0-9.]")


def tokens(text: str | None) -> list[str]:
    """The words, numbers and operators of a problem, in order; none of None."""
    read: list[str] = []
    before = ""
    for raw in _TOKEN.findall(_plain(text or "")):
        if raw == "-" and _is_word(before):  # "the sides are - in this order -": a dash
            continue
        if stands_for := _read(raw):
            read += stands_for
            before = raw
    return read


def words(tokens: Iterable[str]) -> list[str]:
    """The words and numbers among the tokens."""
    return [token for token in tokens if token not in _OPERATORS]


def numbers(tokens: Iterable[str]) -> list[str]:
    """What makes another problem of the same words: numbers, signs (`+ - ^ ! < >`) and words that decide as a number does
    (`smallest`, `odd`, `hexagon`, `sin`; synonyms as one word), in their order.
    """
    return [_DECIDING.get(token, token) for token in tokens if token in _DECIDING or token[0] in _DIGITS]


def ngrams(words: Sequence[str], n: int) -> list[str]:
    """The n-grams of a text, each as its words joined by blanks; a text shorter than n is one n-gram, no words are none."""
    if not words:
        return []
    return [" ".join(words[start : start + n]) for start in range(max(1, len(words) - n + 1))]


def jaccard(one: Set[str], other: Set[str]) -> float:
    """The Jaccard similarity of two sets; 0 for two empty ones."""
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def similarity(one: str, other: str, n: int) -> float:
    """The Jaccard similarity of two problems' n-grams."""
    return jaccard(*(set(ngrams(words(tokens(text)), n)) for text in (one, other)))


def _plain(text: str) -> str:
    """Lower case; other alphabets' digits, forms and symbols made plain."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_TRANSLATION)).translate(_TRANSLATION)
    return text.lower()


def _is_word(raw: str) -> bool:
    """Whether a match of `_TOKEN` is a word of two letters or more."""
    return len(raw) > 1 and raw[0] != "\\" and raw[0] not in _DIGITS


@lru_cache(maxsize=1 << 16)
def _read(raw: str) -> tuple[str, ...]:
    """The tokens that a match of `_TOKEN` stands for."""
    if raw[0] in _DIGITS:
        return (_NOT_NUMBER.sub("", raw),)
    if raw[0] != "\\":
        return (_NUMBERS.get(raw, raw),)
    if fraction := _FRACTION.fullmatch(raw):
        name, arguments = (group for group in fraction.groups() if group is not None)
        return (name, *arguments)
    name = raw[1:]
    if name in _COMMANDS_WITHOUT_MEANING or not ("a" <= name[0] <= "z" or name in _ESCAPED_OPERATORS):
        return ()
    return (_OPERATOR_COMMANDS.get(name, name),)
