r"""Which signs of a formula belong together: TeX's braces read as brackets, and the brackets that decide a problem.

TeX groups by braces what an exam prints without them: the bar of a root, the line of a fraction, a raised exponent. As
text without braces `\sqrt{9+16}` and `\sqrt{9}+16` would be the same words. So braces around the argument of such a
command become brackets where they hold more than one sign: `2^{n+1}` and `2^(n+1)` are the same, `2^{3}` and `2^3` too.
All other braces are layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from compass.curation.lexemes import is_word, read

_ONE_ARGUMENT = r"^ _ \sqrt \overline \bar \hat \widehat \tilde \widetilde \vec \overrightarrow \dot \ddot"
_TWO_ARGUMENTS = r"\frac \dfrac \tfrac \cfrac \binom \dbinom \tbinom"
_ARGUMENTS = {**dict.fromkeys(_ONE_ARGUMENT.split(" "), 1), **dict.fromkeys(_TWO_ARGUMENTS.split(" "), 2)}
"""How many arguments follow a sign."""

_OPEN = {"(": ")", "[": "]"}
_WHOLE = {"frac": 3, "binom": 3, "sqrt": 2}  # tokens of one sign, as in x^{\frac12}; others are one token
_STRUCTURE = frozenset("{}_^-[]")
_CLOSE = frozenset(_OPEN.values())
_BRACKETS = _CLOSE.union(_OPEN)
_OPEN_LEVEL = frozenset("([{")
_CLOSE_LEVEL = frozenset(")]}")
_MOST_BARS = 12
_ARITHMETIC = frozenset("+-*/^!")
_DIGITS = frozenset("0123456789")


class _Plain(dict[str, tuple[str, ...]]):
    """What each lexeme stands for that neither groups nor takes an argument: most of a text. Empty for any other."""

    def __missing__(self, lexeme: str) -> tuple[str, ...]:
        special = lexeme in _STRUCTURE or _awaited(lexeme)
        if len(self) >= _REMEMBERED:  # bounds memory: numbers never end
            self.clear()
        return self.setdefault(lexeme, () if special else read(lexeme))


_plain = _Plain()
_REMEMBERED = 1 << 16


def grouped(lexemes: Iterable[str]) -> list[str]:
    """The tokens of a text, braces of arguments as brackets.

    Args:
        lexemes: what `lexemes.lexemes` found.
    """
    out: list[str] = []
    braces: list[tuple[int, int]] = []  # arguments awaited before each open brace, and the tokens before it
    roots: list[int] = []  # tokens before each open \sqrt[
    before, awaited = "", 0
    for lexeme in lexemes:
        if not awaited and (stands_for := _plain[lexeme]):
            out += stands_for
            before = lexeme
        elif lexeme == "{":
            braces.append((awaited, len(out)))
            awaited = 0
        elif lexeme == "}":
            if braces:
                awaited, begin = braces.pop()
                if awaited:
                    awaited -= 1
                    _bracket(out, begin)
        elif lexeme == "_":
            awaited = 1
        elif lexeme == "-" and is_word(before):  # "the sides are - in this order -": a dash
            continue
        elif stands_for := read(lexeme):
            if lexeme[0] == "\\" or lexeme == "^":
                awaited = _awaited(lexeme)
            elif lexeme == "[" and before == "\\sqrt":
                roots.append(len(out))
                awaited = 0
            elif lexeme == "]" and roots:
                roots.pop()
                awaited = 1
            elif awaited and lexeme != "-":
                if is_word(lexeme) and (awaited == 2 or (len(lexeme) == 2 and lexeme.isalpha())):
                    stands_for = tuple(letter for letter in lexeme if letter.isalpha())  # \frac ab, x_iy
                awaited = max(0, awaited - len(stands_for))
            out += stands_for
            before = lexeme
    return _without_brackets_of_mod(out) if "mod" in out else out


def deciding_brackets(tokens: Sequence[str]) -> dict[int, str]:
    """The brackets that make another problem of the same words, by their places: those that group an operation, and the
    ends of intervals. Brackets of calls, pairs and remarks decide nothing.
    """
    found: dict[int, str] = {}
    opened: list[int] = []
    for place in [place for place, token in enumerate(tokens) if token in _BRACKETS]:
        token = tokens[place]
        if token in _OPEN:
            opened.append(place)
        elif opened:
            begin = opened.pop()
            inside = tokens[begin + 1 : place]
            if _groups(tokens, begin, place, inside):
                found[begin], found[place] = "(", ")"
            elif _OPEN[tokens[begin]] != token or _ends_interval(tokens[begin], inside):
                found[begin], found[place] = tokens[begin], token
    return found


def deciding_bars(tokens: Sequence[str]) -> set[int]:
    """The places of bars that stand around something, as in `|x-1|+2`: where they stand decides as brackets do.

    A bar alone in its brackets is the "such that" of a set, "given", or "divides", for which others write a colon or a word;
    many bars are a table's.
    """
    if not 1 < tokens.count("|") <= _MOST_BARS:
        return set()
    found: set[int] = set()
    levels: list[list[int]] = [[]]  # bars in each open bracket
    for place, token in enumerate(tokens):
        if token == "|":
            levels[-1].append(place)
        elif token in _OPEN_LEVEL:
            levels.append([])
        elif token in _CLOSE_LEVEL and len(levels) > 1:
            found |= _in_pairs(levels.pop())
    for bars in levels:
        found |= _in_pairs(bars)
    return found


def _in_pairs(bars: list[int]) -> set[int]:
    return set() if len(bars) % 2 else set(bars)


def _awaited(lexeme: str) -> int:
    """The arguments that a command still awaits: `\\frac1` has one of its two."""
    name = lexeme.rstrip("0123456789")
    return max(0, _ARGUMENTS.get(name.rstrip(), 0) - (len(lexeme) - len(name)))


def _bracket(out: list[str], begin: int) -> None:
    """Put brackets around the tokens from `begin`, unless they are one sign or stand in brackets already."""
    size = len(out) - begin
    if (
        not size
        or size == _WHOLE.get(out[begin], 1)
        or (size == 2 and (out[begin] in "+-" or out[-1] == "'"))
        or _is_bracketed(out, begin)
    ):
        return
    out.insert(begin, "(")
    out.append(")")


def _is_bracketed(out: Sequence[str], begin: int) -> bool:
    return out[begin] == "(" and out[-1] == ")" and _closing(out, begin) == len(out) - 1


def _closing(tokens: Sequence[str], begin: int) -> int:
    """The place of the bracket that closes the one at `begin`; the number of tokens where none does."""
    depth = 0
    for place in range(begin, len(tokens)):
        depth += (tokens[place] in _OPEN) - (tokens[place] in _CLOSE)
        if not depth:
            return place
    return len(tokens)


def _without_brackets_of_mod(out: list[str]) -> list[str]:
    """`(mod 6)` without its brackets, as `\\bmod 6` stands without them."""
    dropped: set[int] = set()
    for place in range(len(out) - 1):
        if out[place] == "(" and out[place + 1] == "mod":
            dropped |= {place, _closing(out, place)}
    return [token for place, token in enumerate(out) if place not in dropped]


def _groups(tokens: Sequence[str], begin: int, end: int, inside: Sequence[str]) -> bool:
    """Whether brackets group an operation: one is in them, or acts on them as a whole."""
    if any(token in _ARITHMETIC for token in inside):
        return True
    if any(before.isalpha() and token == "(" for before, token in pairwise(inside)):
        return True  # a call in a call
    is_product = len(inside) > 1 and inside[0][0] in _DIGITS and inside[1].isalpha()
    acted_on = tokens[end + 1 : end + 2] in (["^"], ["!"]) or tokens[begin - 1 : begin] in (["/"], ["^"], ["sqrt"])
    return is_product or (acted_on and len("".join(inside)) > 1)


def _ends_interval(opening: str, inside: Sequence[str]) -> bool:
    return opening == "[" and 1 < len(inside) <= 4
