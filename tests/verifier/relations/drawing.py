"""What the relations draw from: numbers, names and ways to write them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import gcd

from hypothesis import strategies as st

Pair = tuple[str, str]
Relation = st.SearchStrategy[Pair]

small = st.integers(2, 12)
digits = st.integers(1, 9)
whole = st.integers(-60, 60)
positive = st.integers(1, 400)
large = st.integers(1_001, 9_999_999)
letters = st.sampled_from(["x", "y", "z", "a", "b", "t", "n"])
indices = st.sampled_from(["k", "n", "m", "j"])


class Relations(dict[str, Relation]):
    """Relations by name: each draws a gold and an answer."""

    def add(self, drawn: Callable[[st.DrawFn], Pair]) -> Callable[[st.DrawFn], Pair]:
        """Register a function that draws a pair, under its own name."""
        self[drawn.__name__] = st.composite(drawn)()
        return drawn

    def one_of(self, name: str, ways: list[Callable[[int], str]], numbers: st.SearchStrategy[int]) -> None:
        """A relation between any two of several ways to write one number."""

        def drawn(draw: st.DrawFn) -> Pair:
            number = draw(numbers)
            first, second = draw(st.lists(st.sampled_from(ways), min_size=2, max_size=2, unique=True))
            return first(number), second(number)

        self[name] = st.composite(drawn)()


def frac(top: int, bottom: int, style: str = "frac") -> str:
    """A fraction as written."""
    return rf"\{style}{{{top}}}{{{bottom}}}"


def tex(value: Fraction) -> str:
    """A fraction in lowest terms, in LaTeX."""
    if value.denominator == 1:
        return str(value.numerator)
    return ("-" if value < 0 else "") + frac(abs(value.numerator), value.denominator)


@st.composite
def proper(draw: st.DrawFn) -> tuple[int, int]:
    """Top and bottom of a fraction in lowest terms, between 0 and 1."""
    bottom = draw(st.integers(2, 40))
    top = draw(st.integers(1, bottom - 1).filter(lambda top: gcd(top, bottom) == 1))
    return top, bottom


@st.composite
def distinct(draw: st.DrawFn, least: int = 2, most: int = 5, numbers: st.SearchStrategy[int] = whole) -> list[int]:
    """Different numbers in no particular order."""
    return draw(st.lists(numbers, min_size=least, max_size=most, unique=True))


@st.composite
def ends(draw: st.DrawFn) -> tuple[int, int]:
    """The ends of an interval, in order."""
    low = draw(whole)
    return low, low + draw(small)


def signed(number: int, after: str = "") -> str:
    """A term with its sign: `+3x`."""
    return f"{'-' if number < 0 else '+'}{abs(number)}{after}"


def squarefree(number: int) -> bool:
    """Whether no square above 1 divides the number."""
    return all(number % (root * root) for root in range(2, number))


radicands = st.integers(2, 40).filter(squarefree)
