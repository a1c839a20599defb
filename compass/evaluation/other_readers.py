"""Responses read and compared as other evaluations do it, to see what the choice of a reader does to a score.

Each reader follows a published convention: where it looks for the answer, and what it calls equal. None reads as well as this
project's; what they differ in is what a score of theirs means.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from compass.errors import UserError, did_you_mean
from compass.verifier import verify
from compass.verifier.extracting.boxes import find_boxes

Verdict = bool | None
"""Whether a response is right; None where the reader finds no answer."""


class Reader(NamedTuple):
    """One convention: what it is, and its verdict on a gold and a response."""

    source: str
    grade: Callable[[str, str], Verdict]


_CHANGES = [
    (r"\\[!,;:> ]|\\\$|\$|\\left|\\right|\\%|%|\^\\circ|\^\{\\circ\}|\s|\.$", ""),
    (r"\\[td]frac", r"\\frac"),
    (r"\\(?:text|mathrm|mbox)\{[^{}]*\}$", ""),
    (r"^[A-Za-z]{1,2}=", ""),
    (r"\\sqrt(\w)", r"\\sqrt{\1}"),
    (r"\\frac(\d)(\d)", r"\\frac{\1}{\2}"),
    (r"^(-?\d+)/(\d+)$", r"\\frac{\1}{\2}"),
    (r"^(-?)\.(?=\d)", r"\g<1>0."),
    (r"^0\.5$", r"\\frac{1}{2}"),
]
_MATH_CHANGES = [(re.compile(pattern), new) for pattern, new in _CHANGES]
_MINERVA = re.compile(r"Final Answer: The final answer is(.*?)\. I hope it is correct", re.DOTALL)
_ANSWER_LINE = re.compile(r"Answer\s*:\s*([^\n]+)", re.IGNORECASE)
_GSM8K = re.compile(r"-?[$0-9.,]{2,}|-?[0-9]+")


def strip_math(text: str) -> str:
    """An answer as MATH's own grader compares it: without spaces, dollars, degrees, percents and a last unit; fractions in one form."""
    text = text.strip()
    for pattern, new in _MATH_CHANGES:
        text = pattern.sub(new, text)
    return text


def _same_text(gold: str, answer: str) -> bool:
    return strip_math(gold) == strip_math(answer)


def _boxed_text(gold: str, response: str) -> Verdict:
    boxes = find_boxes(response)
    return _same_text(gold, boxes[-1].content) if boxes and boxes[-1].content is not None else None


def _minerva_text(gold: str, response: str) -> Verdict:
    found = _MINERVA.search(response)
    return None if found is None else _same_text(gold, found[1].rpartition("=")[2])


def _answer_line(gold: str, response: str) -> Verdict:
    found = _ANSWER_LINE.search(response)
    return None if found is None else verify(gold=gold, answer=found[1].strip()).equal


def _last_number(gold: str, response: str) -> Verdict:
    found = _GSM8K.findall(response)
    return re.sub(r"[$,]|\.$", "", found[-1]) == re.sub(r"[$,]|\.$", "", gold.strip()) if found else None


def _math_verify(gold: str, response: str) -> Verdict:
    from math_verify import parse
    from math_verify import verify as equal

    answer = parse(response)
    return equal(parse(gold if "$" in gold else f"${gold}$"), answer) if answer else None


READERS = {
    "math-verify": Reader("Math-Verify's parse and verify, as its README calls them", _math_verify),
    "boxed-text": Reader("lm-evaluation-harness, hendrycks_math: the last box, equal as text", _boxed_text),
    "minerva-text": Reader("lm-evaluation-harness, minerva_math: the phrase of Minerva, equal as text", _minerva_text),
    "last-number": Reader("lm-evaluation-harness, gsm8k flexible-extract: the last number, equal as text", _last_number),
    "answer-line": Reader("simple-evals, math: the line `Answer:`; a model compares there, this verifier here", _answer_line),
}  # fmt: skip
"""The readers by name."""


def choose_readers(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The readers that names ask for, `all` for each, and what is to say about those that cannot run here.

    Raises:
        UserError: a name that is no reader, or one that is asked for by its name and is not installed.
    """
    chosen = list(READERS) if "all" in names else list(names)
    for name in chosen:
        if name not in READERS:
            hint = did_you_mean(name, READERS) or f"there are all, {', '.join(READERS)}"
            raise UserError(f"--readers {name}: there is no such reader; {hint.rstrip()}")
    if "math-verify" in chosen and importlib.util.find_spec("math_verify") is None:
        missing = "the reader math-verify needs its package: pip install 'math-verify[antlr4_9_3]'"
        if "all" not in names:
            raise UserError(missing)
        return [name for name in chosen if name != "math-verify"], [missing]
    return chosen, []
