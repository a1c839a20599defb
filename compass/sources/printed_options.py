"""Options that a text prints behind letters: `(A) 4 (B) 5`, `$\\textbf{(A)}\\ 4$`, `a) 4`, `A: 4`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WRAP = r"(?:\\?(?:t?extbf|text|mathrm|mathbf|textrm|rm|bf|mbox)\s*\{?\s*|\*\*|\\bullet\$?\s*|[-•]\s)?"
_LEAD = rf"(?:^|(?<=[\s$;,.?:：）)}}>])|(?<=quad))\$?\{{?{_WRAP}"
_UPPER = re.compile(
    rf"{_LEAD}(?:\(\s*(?:\\(?:mathrm|text|textbf|bf)\s*\{{?\s*)?([A-H])\s*\}}?\s*\)|[（]\s*([A-H])\s*[）]|([A-H])\s?[).．、]|([A-H])[:：]|([A-H])\}}?\)|\[(?:\\mathrm\{{)?([A-H])\}}?\]|^([A-H])(?=[ \t]+\S))",
    re.M,
)
_LOWER = re.compile(r"(?:^|(?<=[\s$.;,?:]))(?:\(([a-h])\)|([a-h])\s?\))(?=[\s$:.]|\\)", re.M)
_UPPER_GUARDS = ("B)", "B.", "B:", "B、", "B．", "B）", "B：", "B }", "B}", "B ", "[B]")
_LOWER_GUARDS = ("b) ", "b)\n", "b)$", "b):", "b).", "b)\\", "b ) ")


@dataclass(frozen=True)
class Options:
    """Printed options: the marks in order, and what stands before, between and after them."""

    marks: list[re.Match[str]]
    stem: str
    contents: list[str]


def list_options(text: str) -> tuple[Options | None, Options | None]:
    """The options that the text prints behind capital letters and behind small ones, at least two each; None without."""
    return _read(text, _UPPER, _UPPER_GUARDS), _read(text, _LOWER, _LOWER_GUARDS)


def _read(text: str, pattern: re.Pattern[str], guards: tuple[str, ...]) -> Options | None:
    """The longest run of marks A, B, C, …, the later of two equally long; None without two."""
    if not any(map(text.__contains__, guards)):  # a regular expression takes many times as long
        return None
    best: list[re.Match[str]] = []
    run: list[re.Match[str]] = []
    for mark in pattern.finditer(text):
        letter = next(filter(None, mark.groups())).upper()
        if letter == "A":
            run = [mark]
        elif run and letter == chr(ord("A") + len(run)) and not _inside(text, mark):
            run = [*run, mark]
        if len(run) >= max(2, len(best)):
            best = run
    if not best or _inside(text, best[0]):
        return None
    ends = [*(mark.start() for mark in best[1:]), len(text)]
    contents = [text[mark.end() : end] for mark, end in zip(best, ends, strict=True)]
    return Options(best, text[: best[0].start()], contents)


def _inside(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark without an opening bracket closes one that opened before it, as in $(b - a)$."""
    if not mark[0].rstrip().endswith((")", "）")) or "(" in mark[0] or "（" in mark[0]:
        return False
    before = text[max(0, mark.start() - 60) : mark.start()]
    return before.count("(") > before.count(")")
