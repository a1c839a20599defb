"""Find the final answer in a response: the last box, then phrases that announce it, then the tail."""

from __future__ import annotations

import re

MAX_RESPONSE = 2_000_000
TAIL = 20_000
_BOX = re.compile(r"\\+(?:boxed|fbox)\s*(?=[{\s\d])")
_THINKING = re.compile(r"</think(?:ing)?>")
_BETWEEN = re.compile(
    r"(?:\s|\$|,|;|\\[()\[\],;:!]|\\q?quad|\\\\|\*|\\text\s*\{\s*(?:and|or|,)*\s*\}|\band\b|\bor\b|\\text\s*\{[^{}]{0,40}\b(?:and|or)\b\s*\}"
    r"|\.?\s*\\\(?|[A-Za-z]\w{0,3}(?:_\{?\w\}?)?\s*=\s*)*"
)
_ANNOUNCED = re.compile(
    r"(?:final\s+answer|answer|result|solution)\s*(?:is|are|:|=|will be|would be)\s*:?\s*|####\s*|(?:答案|因此|所以)\s*(?:是|为|：|:)\s*",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<!\bp)(?<!\ba)\.(?:\s|$)|\n|。|\bI hope\b")
_MATH = re.compile(r"\$\$?([^$]+)\$\$?|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_NUMBER = re.compile(r"-?\$?\d[\d,]*(?:\.\d+)?(?:/\d+)?%?")
_CHOICE = re.compile(r"(?:^|\s|\*)\(?([A-J])\)?[.:)]?(?=\s|$|\*)")


def extract_answer(response: str) -> str | None:
    """The final answer of a response, as text for `verify`; None where it gives none.

    In order: the last balanced `\\boxed{...}` (neighbouring boxes joined only by commas, "and" or "or" make one list);
    what follows the last `####`, "final answer is" or "answer is"; the last formula or number of the last line. A box that
    the end of the response cuts off is no answer, and nothing before it is one either.

    Raises:
        TypeError: a response that is no text.
    """
    if not isinstance(response, str):
        raise TypeError(f"a response must be text, found {type(response).__name__}")
    response = response[-MAX_RESPONSE:]
    thoughts = [match.end() for match in _THINKING.finditer(response)]
    if thoughts:
        response = response[thoughts[-1] :]
    if "boxed" in response or "fbox" in response:
        return _boxed(response)
    tail = response[-TAIL:].strip()
    return _announced(tail) or _tail(tail)


def _boxed(response: str) -> str | None:
    boxes = []
    for match in _BOX.finditer(response):
        if boxes and match.start() < boxes[-1][1]:
            continue  # a box within a box
        boxes.append((match.start(), *_content(response, match.end())))
    if not boxes:
        return None
    start, _, last = boxes[-1]
    if last is None:
        return None
    found = [last]
    for earlier_start, earlier_end, content in reversed(boxes[:-1]):
        if content is None or start - earlier_end > 80 or not _BETWEEN.fullmatch(response[earlier_end:start]):
            break
        if content not in found:
            found.insert(0, content)
        start = earlier_start
    answer = ", ".join(part for part in found if part)
    return answer or None


def _content(response: str, start: int) -> tuple[int, str | None]:
    """What a box holds, and where it ends; None where it is cut off."""
    while start < len(response) and response[start] in " \n":
        start += 1
    if start >= len(response):
        return start, None
    if response[start] != "{":
        return start + 1, response[start]
    depth, position = 0, start
    end = len(response)
    while position < end:
        sign = response[position]
        if sign == "\\":
            position += 2
            continue
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return position + 1, response[start + 1 : position].strip()
        position += 1
    return end, None


def _announced(text: str) -> str | None:
    ends = [match.end() for match in _ANNOUNCED.finditer(text)]
    if not ends:
        return None
    rest = text[ends[-1] :].lstrip(" *:\n")
    formula = _MATH.match(rest)
    if formula is not None:
        sentence = _SENTENCE_END.split(rest, maxsplit=1)[0]
        return sentence.strip(" *") if _MATH.sub("", sentence).strip(" .*,") else _first(formula)
    sentence = _SENTENCE_END.split(rest, maxsplit=1)[0].strip(" *.")
    return sentence or None


def _first(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None).strip()


def _tail(text: str) -> str | None:
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        return None
    line = lines[-1].strip().strip("*")
    if len(line) <= 40 and not re.search(r"[a-z]{2,} [a-z]{2,}", line):
        return line.rstrip(".").rpartition("= ")[2] if "= " in line and "$" not in line else line.rstrip(".")
    formulas = [_first(match) for match in _MATH.finditer(line)]
    if formulas:
        return formulas[-1].rpartition("=")[2].strip() if formulas[-1].count("=") == 1 else formulas[-1]
    numbers = _NUMBER.findall(line)
    if numbers:
        return numbers[-1].rstrip(",")
    letters = _CHOICE.findall(line)
    return letters[-1] if letters else None
