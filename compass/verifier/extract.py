"""Find the final answer in a response: the last box, then phrases that announce it, then the last sentence."""

from __future__ import annotations

import re

from compass.braces import closing_brace

MAX_RESPONSE = 1_000_000
TAIL = 4_000
MAX_BOXES = 40
MAX_GAP = 80
MAX_BOX = 8_000

_THOUGHT = re.compile(r"</think(?:ing)?>")
_TURN = re.compile(r"<\|(?:im_end|im_start|endoftext|eot_id|end_of_text)\|>|<(?:/s|end_of_turn)>")
_BOX = re.compile(r"\\(?:boxed|fbox)(?![a-zA-Z])\s{0,9}")
_JOINT = re.compile(
    r"(?:[\s$,;.]|\\[()\[\],;:!]|\\q?quad|\\+(?=\s)|\band\b|\bor\b|\\(?:text|mbox)\s*\{[^{}]{0,40}\}"
    r"|[A-Za-z](?:_\{?\w\}?)?\s*=(?=\s*(?:\\|$)))*"
)
_FINAL = re.compile(r"final\s+answer\s*(?:is|:)\s*:?", re.IGNORECASE)
_ANNOUNCED = re.compile(
    r"####|(?:final\s+)?(?:answer|result)\s*(?:is|are|:|=|will\s+be|would\s+be)\s*:?|(?:correct\s+)?(?:option|choice)\s+is|答案\s*(?:是|为|：|:)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s{1,9}(?=[A-Z\\$(])|\n+|(?<=。)|\bI hope\b.*", re.DOTALL)
_FORMULA = re.compile(r"\$\$(.{1,600}?)\$\$|\$(.{1,600}?)\$|\\\((.{1,600}?)\\\)|\\\[(.{1,600}?)\\\]", re.DOTALL)
_NUMBER = re.compile(r"(?<![\w.,])[-+−]?[$€£]?\d[\d,]*(?:\.\d+)?(?:\s?/\s?\d+)?\s?%?")
_LETTER = re.compile(r"^\W{0,4}\(?([A-J])\)?(?:[.:)]|\W*$|\)\s)")
_OPTION = re.compile(
    r"\b(?:answer|option|choice|correct)\b.{0,40}?(?<![A-Za-z])(?:\(([A-J])\)|\b([B-J])\b)", re.IGNORECASE
)
_PRICE = re.compile(r"\$(?=\d[\d,.]*(?:\s|$))")
_CONJUNCTION = re.compile(
    r"^(?:(?:so|thus|hence|therefore|then|and|we\s+(?:get|have|find|know)|that)\b[\s,:]*|=\s*)+", re.IGNORECASE
)
_CUT = re.compile(r"[-+*/=^_({\[,\\]$")
_PROSE = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_SAID = re.compile(r"\b(?:is|are|equals|be)\b|=|:\s", re.IGNORECASE)


def extract_answer(response: str) -> str | None:
    """The final answer of a response, as text for `verify`; None where it gives none.

    In order: what a "final answer is" after the last box announces; the last `\\boxed{...}` (neighbouring boxes, joined
    by nothing but commas, "and" or "or", make one list); what follows the last `####` or "answer is"; the last formula,
    number or option of the last sentence. A box that the end of the response cuts off is no answer, and then nothing
    before it is one either.

    Raises:
        TypeError: a response that is no text.
    """
    if not isinstance(response, str):
        raise TypeError(f"a response must be text, found {type(response).__name__}")
    text = response[-MAX_RESPONSE:]
    thoughts = [match.end() for match in _THOUGHT.finditer(text)]
    text = text[thoughts[-1] :] if thoughts else text
    turn = _TURN.search(text)
    text = text[: turn.start()] if turn and text[: turn.start()].strip() else text
    boxes = list(_BOX.finditer(text))[-MAX_BOXES:]
    if boxes:
        end, answer = _boxed(text, boxes)
        later = _FINAL.search(text, end) if end else None
        if later is not None and (announced := _announced(text[later.start() :])):
            return announced
        return answer
    tail = text[-TAIL:].strip()
    return _announced(tail) or _stated(tail)


def _boxed(text: str, boxes: list[re.Match[str]]) -> tuple[int, str | None]:
    """Where the last box ends, and what it and its neighbours hold; the end is 0 where it was cut off."""
    spans: list[tuple[int, int, str | None]] = []
    for match in boxes:
        if spans and match.start() < spans[-1][1]:
            continue  # a box within a box
        spans.append((match.start(), *_content(text, match.end())))
    start, end, last = spans[-1]
    if last is None:
        return 0, None
    answers = [_sign(text, start) + last]
    for earlier, earlier_end, content in reversed(spans[:-1]):
        if content is None or start - earlier_end > MAX_GAP or not _JOINT.fullmatch(text[earlier_end:start]):
            break
        content = _sign(text, earlier) + content
        if content not in answers:
            answers.insert(0, content)
        start = earlier
    return end, ", ".join(answer for answer in answers if answer) or None


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
    formula_end = re.search(r"\$|\\\)|\\\]|\n", text[start:])  # a brace forgotten inside a formula that does end
    if formula_end is None or not text[start + formula_end.end() :].strip():
        return len(text), None
    return start + formula_end.end(), text[start + 1 : start + formula_end.start()].strip()


def _sign(text: str, start: int) -> str:
    """A minus straight before a box belongs to the answer: `x = -\\boxed{5}`."""
    before = text[max(0, start - 12) : start].rstrip()
    return "-" if before.endswith("-") and before[:-1].rstrip()[-1:] in ("", "=", "$", "(", "[", ":") else ""


def _announced(text: str) -> str | None:
    """What follows the last phrase that announces an answer."""
    ends = [match.end() for match in _ANNOUNCED.finditer(text)]
    for end in reversed(ends[-3:]):
        rest = text[end:].lstrip(" *:\n")
        display = re.match(r"(\$\$|\\\[)", rest)
        formula = _FORMULA.match(rest)
        if display is not None and formula is not None:
            return _inside(formula)
        sentence = (
            next((part for part in _SENTENCE.split(rest) if part and part.strip()), "").strip().strip("*").strip()
        )
        if sentence:
            return _value(sentence)
    return None


def _stated(text: str) -> str | None:
    """The answer that the last sentence states."""
    if _cut_off(text):
        return None
    display = [match for match in _FORMULA.finditer(text) if match.group(1) or match.group(4)]
    if display and not text[display[-1].end() :].strip(" .\n"):
        return _last_side(_inside(display[-1]))
    sentences = [part for part in _SENTENCE.split(text) if part and part.strip()]
    return _value(sentences[-1].strip().strip("*")) if sentences else None


def _cut_off(text: str) -> bool:
    """Whether a response ends in the middle of a formula."""
    rest = _PRICE.sub("", _FORMULA.sub(" ", text.replace(r"\$", "")))
    return rest.count("$") % 2 == 1 or rest.count(r"\[") > rest.count(r"\]") or bool(_CUT.search(rest.rstrip()))


def _value(sentence: str) -> str | None:
    """The answer in a sentence: the whole where it is no prose, else an option, or the last formula or number."""
    letter = _LETTER.match(sentence)
    if letter is not None:
        return letter.group(1)
    sentence = _CONJUNCTION.sub("", sentence).rstrip("。")
    formula = _FORMULA.fullmatch(sentence.rstrip("."))
    if formula is not None:
        return _last_side(_inside(formula)) or None
    plain = _FORMULA.sub(" ", sentence)
    if not _PROSE.search(plain):
        said = list(_SAID.finditer(sentence)) if re.search(r"\b(?:is|are|equals)\b", plain) else []
        return (sentence[said[-1].end() :] if said else sentence).strip().rstrip(".").strip("*") or None
    option = _OPTION.search(sentence)
    if option is not None:
        return (option.group(1) or option.group(2)).upper()
    said = list(re.finditer(r"\b(?:is|are|equals)\b:?", sentence))
    if said and not _PROSE.search(_FORMULA.sub(" ", rest := sentence[said[-1].end() :].strip().rstrip("."))):
        return rest.strip() or None
    places = [(match.start(), _last_side(_inside(match))) for match in _FORMULA.finditer(sentence)]
    blank = _FORMULA.sub(lambda match: " " * len(match.group()), sentence)
    places += [(match.start(), match.group().strip(" ,")) for match in _NUMBER.finditer(blank)]
    if places:
        return max(places)[1] or None
    return sentence[said[-1].end() :].strip().rstrip(".") or None if said else None


def _inside(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None).strip()


def _last_side(formula: str) -> str:
    """`f(2) = 3 + 4 = 7` ends in 7; `x + y = 3` is an equation and stays whole."""
    left, sign, right = formula.rpartition("=")
    if not sign or any(mark in formula for mark in ("<", ">", "\\le", "\\ge", "\\neq", ",", "\\begin")):
        return formula
    if (
        left.count("=")
        or re.fullmatch(r"\s*\\?[A-Za-z]+(?:_\{?\w+\}?)?(?:\([^()]*\))?\s*", left)
        or not re.search(r"[A-Za-z]", right + left)
    ):
        return right.strip()
    return formula if re.search(r"[a-z]", left) and not re.search(r"[a-z]", right) else right.strip()
