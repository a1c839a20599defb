"""The boxes of a response, and which of them belong together."""

from __future__ import annotations

import re
from typing import NamedTuple

from compass.braces import closing_brace

MAX_BOXES = 40
MAX_GAP = 80
MAX_BOX = 8_000

_BOX = re.compile(r"\\{1,2}(?:(?:begin)?boxed|fbox)(?![a-zA-Z])\s{0,9}")
_JOINT = re.compile(
    r"(?:[\s$,;.]|\\[()\[\],;:!]|\\q?quad|\\+(?=\s)|\band\b|\bor\b|\\(?:text|mbox)\s*\{(?![^{}]{0,40}\b(?:wait|no|not|actually|sorry|wrong|instead)\b)[^{}]{0,40}\}|\(?[a-e1-9]\)(?=\s)"
    r"|(?:[A-Za-z](?:_\{?\w\}?)?|\((?:[A-Za-z]\s?,\s?){1,3}[A-Za-z]\))\s*=(?=\s*(?:[-+]?\s*\\|[-+]?\s*$)))*[-+]?\s*"
)
_CASE = re.compile(
    r"\b(?:case|option|scenario|possibility)\s*\(?(?:\d{1,2}|[A-Z]|[ivx]{1,4})\b|\bif\b|\bwhen\b|第.种情况",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(
    r"\\(?:boxed|fbox)\s{0,9}\{(?:\\text\w{0,6}\s?\{)?[\s.\\_*?]{0,9}(?:(?:the |your |final )*answers?|ans|value|result|x{3,}|\\(?:ldots|dots|cdots))?[\s.\\_*?]*\}?\s{0,9}\}",
    re.IGNORECASE,
)


class Box(NamedTuple):
    """A box: where it begins and ends, and what it holds; None where the response ends inside it."""

    start: int
    end: int
    content: str | None


def find_boxes(text: str) -> list[Box]:
    """The last boxes of a text in their order, without boxes inside boxes and without those that hold no value."""
    found: list[Box] = []
    for match in list(_BOX.finditer(text, _first_looked_at(text)))[-MAX_BOXES:]:
        if not found or match.start() >= found[-1].end:
            found.append(Box(match.start(), *_content(text, match.end())))
    return [
        box
        for box in found
        if box.content is None or not _PLACEHOLDER.fullmatch(text, box.start, min(box.end, box.start + 60))
    ]


def _first_looked_at(text: str) -> int:
    """Where the last boxes begin: a search from the end, because a response may be long and hold thousands."""
    place = len(text)
    names = [name for name in ("\\boxed", "\\fbox") if name in text]
    for _ in range(MAX_BOXES):
        earlier = max((text.rfind(name, 0, place) for name in names), default=-1)
        if earlier < 0:
            break
        place = earlier
    return max(0, place - 1)


def without_placeholders(text: str) -> str:
    """The text without boxes that hold no value: `\\boxed{}`, `\\boxed{answer}`."""
    return _PLACEHOLDER.sub("", text) if "\\boxed" in text or "\\fbox" in text else text


def last_group(text: str, boxes: list[Box]) -> list[Box]:
    """The last box and those before it that make one answer with it.

    Neighbours, with nothing but commas, "and", "or" and names between them, are one list. So are boxes of several cases
    ("Case 1 ... Case 2 ...", "if ... if ..."): who answers by cases answers with all of them.
    """
    group = [boxes[-1]]
    for earlier in reversed(boxes[:-1]):
        if earlier.content is None:
            break
        between = text[earlier.end : group[0].start]
        near = len(between) <= MAX_GAP and _JOINT.fullmatch(between) is not None
        if not near and not (len(between) <= 1_000 and _by_cases(text, earlier, group[0])):
            break
        group.insert(0, earlier)
    return group


def _by_cases(text: str, one: Box, two: Box) -> bool:
    """Whether each of two boxes stands under a case of its own."""
    before = text[max(0, one.start - 300) : one.start]
    labels = list(_CASE.finditer(before))
    here = _CASE.search(text, one.end, two.start)
    return bool(labels) and here is not None and labels[-1][0].split()[0].lower() == here[0].split()[0].lower()


def _content(text: str, start: int) -> tuple[int, str | None]:
    """Where a box ends and what it holds; None where the response ends inside it."""
    if start >= len(text):
        return start, None
    if text[start] != "{":
        return start + 1, text[start]
    end = min(len(text), start + MAX_BOX)
    closed = closing_brace(text, start, end)
    if closed is not None:
        return closed, text[start + 1 : closed - 1].strip()
    if end < len(text) and end == start + MAX_BOX:
        return end, text[start + 1 : end]  # too long to be read by `verify`
    formula_end = re.search(r"\$|\\\)|\\\]|\n", text[start:end])  # a brace forgotten inside a formula that does end
    if formula_end is None or not text[start + formula_end.end() :].strip():
        return len(text), None
    return start + formula_end.end(), text[start + 1 : start + formula_end.start()].strip()
