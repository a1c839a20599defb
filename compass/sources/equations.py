"""A worked solution from the equation that a source publishes beside its problem, as word-problem sets do.

An equation is read as arithmetic alone: `+ number0 number1` (operators first, `numberN` the problem's Nth number, counted
from 0), `( 76.0 - 25.0 )`, `X = 70 - 27`, or a text with calculator notes (`48/2 = <<48/2=24>>24`), as GSM8K's. Each operation becomes one line with its result, the answer stands boxed on
the last. An equation that cannot be read so, or does not give the published answer, makes no solution.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

_TOKEN = re.compile(r"\s*(number\d+|\d+(?:\.\d+)?|[-+*/()])")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_NOTE = re.compile(r"<<([^<>=]*)=([^<>=]*)>>")
_UNKNOWN = re.compile(r"^\s*[A-Za-z]\s*=|=\s*[A-Za-z]\s*$")
_BINDING = {"+": 1, "-": 1, "*": 2, "/": 2}
LONGEST = 200
"""Characters of the longest equation that is read; nesting is bounded by it."""


class _UnreadableError(ValueError):
    """An equation that is no arithmetic, or has no exact value."""


def worked_solution(equation: str, problem: str, answer: str) -> str:
    r"""A solution of one operation per line, with the answer boxed on the last.

    Args:
        equation: as published; a single unknown that stands alone on one side of `=` is left away. Of a text with calculator notes the
            notes are read, and each has to give its result.
        problem: its text, whose numbers `number0`, `number1`, … refer to, in their order.
        answer: the published answer.

    Returns:
        The solution, such as `42+32=74`, `74-35=39`, `\boxed{39}` on three lines; empty where none can be made.
    """
    numbers = _NUMBER.findall(problem.replace(",", ""))
    try:
        lines = _noted_lines(equation) if "<<" in equation else _lines(_UNKNOWN.sub("", equation), numbers)
        agrees = lines and Fraction(lines[-1].rpartition("=")[2]) == Fraction(answer.replace(",", "").strip())
    except (_UnreadableError, ValueError, ZeroDivisionError):
        return ""  # no arithmetic, or an answer that is no number
    return "\n".join([*lines, f"\\boxed{{{answer.strip()}}}"]) if agrees else ""


def _lines(equation: str, numbers: list[str]) -> list[str]:
    """The operations of one equation, each with its result."""
    if len(equation) > LONGEST:
        raise _UnreadableError(equation[:LONGEST])
    return list(_Steps(_tokens(equation), numbers).lines())


def _noted_lines(text: str) -> list[str]:
    """The operations of calculator notes, in their order.

    Raises:
        _UnreadableError: a note is no arithmetic, or gives another result than it says.
    """
    lines = []
    for expression, result in _NOTE.findall(text):
        steps = _lines(expression, [])
        if not steps or Fraction(steps[-1].rpartition("=")[2]) != Fraction(result.strip()):
            raise _UnreadableError(expression)
        lines += steps
    return lines


def _tokens(equation: str) -> list[str]:
    tokens, position = [], 0
    equation = equation.rstrip()
    while position < len(equation):
        match = _TOKEN.match(equation, position)
        if not match:
            raise _UnreadableError(equation)
        tokens.append(match[1])
        position = match.end()
    return tokens


class _Steps:
    """Reads the tokens of one equation and keeps each operation in the order in which it is carried out."""

    def __init__(self, tokens: list[str], numbers: list[str]) -> None:
        self._left = tokens[::-1]
        self._numbers = numbers
        self._operators_first = bool(tokens) and tokens[0] in _BINDING
        self._lines: list[str] = []

    def lines(self) -> Iterator[str]:
        self._prefix() if self._operators_first else self._infix(0)
        if self._left:
            raise _UnreadableError(self._left)
        return iter(self._lines)

    def _prefix(self) -> Fraction:
        token = self._next()
        if token not in _BINDING:
            return self._value(token)
        first = self._prefix()
        return self._apply(token, first, self._prefix())

    def _infix(self, least: int) -> Fraction:
        token = self._next()
        if token == "(":
            value = self._infix(0)
            if self._next() != ")":
                raise _UnreadableError(token)
        else:
            value = self._value(token)
        while self._left and _BINDING.get(self._left[-1], 0) > least:
            operator = self._next()
            value = self._apply(operator, value, self._infix(_BINDING[operator]))
        return value

    def _next(self) -> str:
        if not self._left:
            raise _UnreadableError("it ends too early")
        return self._left.pop()

    def _value(self, token: str) -> Fraction:
        if token.startswith("number"):
            position = int(token.removeprefix("number"))
            if position >= len(self._numbers):
                raise _UnreadableError(token)
            token = self._numbers[position]
        return Fraction(token)  # a ValueError for an operator or a bracket

    def _apply(self, operator: str, first: Fraction, second: Fraction) -> Fraction:
        if operator == "+":
            result = first + second
        elif operator == "-":
            result = first - second
        else:
            result = first * second if operator == "*" else first / second
        self._lines.append(f"{_written(first)}{operator}{_written(second)}={_written(result)}")
        return result


def _written(value: Fraction) -> str:
    """A number as a decimal.

    Raises:
        _UnreadableError: it has none that ends.
    """
    if value.denominator == 1:
        return str(value.numerator)
    rest = value.denominator
    for factor in (2, 5):
        while rest % factor == 0:
            rest //= factor
    if rest != 1:
        raise _UnreadableError(value)
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    return f"{float(value):.{places}f}"
