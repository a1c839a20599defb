"""Arithmetic that a text writes out: how many operations a worked solution or a response has."""

from __future__ import annotations

import re

_NOTE = re.compile(r"<<[^<>]*>>")
_NUMBER = r"[$£€]?\d++(?:[.,]\d++)*+%?"
_OPERATOR = r"(?:[-+*/×÷·−]|\\times|\\div|\\cdot|(?<=\s)x(?=\s))"
# No piece is tried twice, and no chain begins within a number: the time grows with the text's length alone.
_CHAIN = re.compile(rf"(?<!\d)(?<!\d[.,]){_NUMBER}(?:[\s)]*+{_OPERATOR}[\s(]*+{_NUMBER})++(?=[\s)]*+(=?))")
_OPERATION = re.compile(rf"(?<=[\d%)\s]){_OPERATOR}(?=[\s(\d$£€])")


def count_operations(text: str) -> int:
    """The operations between numbers in the equations of a text: 2 in `3*4=12. 12-5=7`, 2 in `3*4-5=7`, 0 in `the answer is 7`.

    An operation counts where its equation goes on with `=`: a range (`3-5 apples`) or a date is none. A step that is written twice counts
    twice, but for calculator notes (`48/2 = <<48/2=24>>24`).
    """
    chains = _CHAIN.finditer(_NOTE.sub("", text))
    return sum(len(_OPERATION.findall(chain[0])) for chain in chains if chain[1])
