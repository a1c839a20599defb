"""Matching braces in LaTeX."""

from __future__ import annotations

import re

_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def closing_brace(text: str, start: int, end: int | None = None) -> int | None:
    """The place after the brace that closes the one at `start`; None where none does before `end`.

    A backslash takes the sign after it along: `\\}` closes nothing.
    """
    depth = 0
    for match in _BRACE.finditer(text, start, len(text) if end is None else end):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if not depth:
                return match.end()
    return None
