"""Boxes, and what is around a box and belongs to its answer: the whole formula counts, not the boxed part of it.

`$\\boxed{3}\\sqrt2$` answers 3√2, `$x > \\boxed{5}$` an inequality, "not \\boxed{5}" nothing. What names the value (`x =`), what
comes before a chain's last side, and what follows an `≈` is left out.
"""

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


def drop_placeholders(text: str) -> str:
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
    """Whether each of two boxes belongs to a case of its own."""
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


WINDOW = 600
"""Characters on each side in which the formula around a box is looked for."""

_DELIMITER = re.compile(
    r"\\\$|\$\$?|\\[()\[\]]|\\(?:begin|end)\s?\{(?:align|equation|gather|multline|eqnarray)\w{0,2}\*?\}|\n\s*\n"
)
_WORD = re.compile(
    r"(?<![A-Za-z\\])[A-Za-z]{2,}(?![A-Za-z])|[^\W\d_A-Za-z\u0370-\u03ff\U0001d400-\U0001d7ff]|[\u220e\u2234\u2235\u25a0-\u25ff\u2600-\u27bf\U0001f000-\U0001faff]"
)
"""What is no mathematics: two Latin letters, one letter of another script but Greek, marks of a proof's end, ticks, pictures."""
_GROUPED_WORDS = re.compile(
    r"\\(?:text|mbox|mathrm|textbf|mathbf|operatorname|mathit|textrm)\w{0,6}\s?\{[^{}]{0,200}\}|\\[A-Za-z]+"
)
_BOUNDARY = re.compile(
    r"[=,;≈≡⇒→&]|\\{1,2}(?:approx|equiv|simeq|implies|Rightarrow|Longrightarrow|Leftrightarrow|iff|to|rightarrow|therefore|quad|qquad|in|coloneqq)(?![A-Za-z])|\\\\"
    r"|\\text\s?\{\s*(?:and|or|so|thus|then|therefore|hence|is|that|since|because|for|if|where|when|with)\b[^{}]{0,60}\}"
)
_DEPTH = {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1, "\\{": 1, "\\}": -1}
_TOKEN = re.compile(r"\\\\|\\[{}]|\\[A-Za-z]+|[{}()\[\]]")
_NOTHING = re.compile(
    r"(?:[\s.:*?~$]|\\[,;:! ]|\\(?:displaystyle|left|right|big|Big|blacksquare|square|Box|checkmark|qed|hspace\{[^{}]{0,12}\}|p?b?mod\b.*|text\s?\{[\s.,]*\}|label\{[^{}]{0,40}\})(?![A-Za-z])"
    r"|\(\s*\\?(?:text\{)?mod.*|\{\s*\\(?:color|bf)\{?\w*\}?|[{}])*"
)
_FREE_TEXT = re.compile(r"\s*\\(?:text|mbox|textrm|mathrm)\s?\{([^{}]{0,200})\}.*", re.DOTALL)
_SCALE = re.compile(
    r"(?:\\[,; ]|\\text\s?\{|[\s}$~)*]){0,6}(hundred|thousand|million|billion|trillion|quadrillion|myriad|dozen|score|gross|percent|permille|ppm|ppb|squared|cubed|halves|thirds|quarters)s?\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"((?:^|[\s{])[A-Za-z]*[a-z])\s\((?=[^()]*[A-Za-z]{3})[^(){}\\]*\)(?=[\s.]*\}?$)")
"""Words in brackets after a word, at the end of a box's text: `6 \\text{ balls (5 red ones and 1 green one)}`; not the interval in `\\cup (1, \\infty)`."""
_LABEL = re.compile(r"\(?[A-Za-z0-9]\)")
_OPENING = r"[\s$*({\[\\]{0,6}$"
_FILLERS = r"(?:\s+(?:be|is|are|equals?|to|the|an?|any|as|just|simply|only|out|answer|option|choice|value|result|solution|candidate|number|root)\b){0,5}"
DENIES_NEXT = re.compile(
    rf"(?:\b(?:not|never|neither|nor|cannot|except|reject(?:s|ed|ing)?|exclud(?:e|es|ed|ing)|discard(?:s|ed|ing)?|disregard(?:s|ed|ing)?|ignor(?:e|es|ed|ing)|forget|distrust|eliminat(?:e|es|ed|ing)|rul(?:e|es|ed|ing)\sout)|n't|n’t|不是|不等于|不能是)"
    rf"{_FILLERS}{_OPENING}|\b(?:rather|other|else|different|differs?)\s(?:than|from)\s(?:the\s)?{_OPENING}|\b(?:(?:all|any|every|no)(?:thing|\s\w+)?|none)\sbut\s(?:the\s)?{_OPENING}|\binstead\sof\s(?:the\s)?{_OPENING}"
    rf"|\b(?:not|false|untrue|wrong|incorrect|impossible)\s(?:\w+\s)?that\b[^.;,\n]*{_OPENING}",
    re.IGNORECASE,
)
"""A negation that rules over the box: nothing between them but what belongs to the denied noun."""
_BOUNDED = re.compile(
    rf"\b(?:(?:greater|larger|bigger|higher|more|less|smaller|lower|fewer)\sthan|(?:is|are|be|was)\s(?:\w+ly\s)?(?:at\s(?:least|most)|up\sto|above|below|under|over|between|one\sof))\s{{0,3}}{_OPENING}",
    re.IGNORECASE,
)
"""A box that only bounds the value; "we need at least 7" states the 7 that is sought."""
_CHANGED = re.compile(
    rf"\b(?:twice|thrice|double|triple|half|(?:a|one|two)\s(?:half|third|quarter|thirds|quarters)|times|plus|minus|(?:square|cube|reciprocal|inverse|negative|opposite|root|multiple|remainder|logarithm))\s{{0,3}}(?:of\s{{0,3}})?{_OPENING}",
    re.IGNORECASE,
)
"""A box that is what the value is made of, not the value."""
_SUPPOSED = re.compile(
    r"\b(?:if|suppose|supposing|assume|assuming|had|were)\b(?:[^.;\n]|\.\d)*(?:\bwould|\bwere|\bhad|['’]d)\s(?:\w+\s){0,3}?[\s$*({\[\\]{0,6}$"
    rf"|\b(?:if|suppose|supposing|assume|assuming|say)\s(?:that\s)?(?:the\s)?(?:(?:final|correct)\s)?(?:answer|result|value|it)\s(?:is|was|were|equals)\s{_OPENING}",
    re.IGNORECASE,
)
"""A box that is only supposed: "if the answer were", "if the radius were 2, it would be"."""
_REFUTED = re.compile(
    r"(?:[\s)*}\]]|\.?\$){0,4}(?:(?:which|that|this|it|but\s(?:this|that|it))\s)?"
    r"(?:(?:is|was|are|were|does|do|did|can|could|would|will|has|have|must)(?:\s+(?:not|never)\b|n['’]t\b)(?!\s(?:only|just))|cannot\b|fails?\b"
    r"|(?:is|was|would\sbe|would\shave\sbeen)\s(?:\w+ly\s|also\s)?(?:wrong|incorrect|false|impossible|invalid|extraneous|rejected|excluded|discarded|too\s\w+))",
    re.IGNORECASE,
)
"""What declares a box wrong: an auxiliary with a negation, or a word for wrong, straight after it."""
_ESTIMATED = re.compile(
    r"[\s$)*}]{0,4}(?:is|as)\s(?:only\s|just\s|merely\s)?(?:an?|the|my)\s(?:(?:lower|upper)\sbound|guess|estimate|first\sstep)\b",
    re.IGNORECASE,
)
_QUESTIONED = re.compile(r"(?:[^\n$.?!]{0,30}\$)?[\s$)*}]{0,4}\?")


def read_box_answer(text: str, box: Box, low: int, high: int) -> str | None:
    """What a box answers with what is next to it; None where the text denies it or makes it relative to something.

    Args:
        box: a box with content.
        low, high: the text before and after these places belongs to other boxes.
    """
    before, after = _sides_of(text, box, low, high)
    if _is_taken_back(text, box, low):
        return None
    if len(box.content or "") > WINDOW:
        return box.content
    content = _ASIDE.sub(r"\1", box.content or "")
    left, right = _last_side(before), _first_side(after, _depth(before))
    if left[:1] in ("(", "[") and _depth(left + right) > 0:
        left = left[1:]  # a bracket that does not close next to the box
    if _NOTHING.fullmatch(left):
        left = ""
    if _NOTHING.fullmatch(right) or _is_prose(right):
        right = ""
    if "\\boxed" in left:
        left = ""
    scale = _SCALE.match(text, box.end, min(high, box.end + 40))
    if scale is not None and not right:
        right = f" {scale[1]}"
    if not left and not right:
        return content
    return _joined(left, content, right)


def _is_taken_back(text: str, box: Box, low: int) -> bool:
    """Whether the words around a box deny, bound, change, suppose or question its value.

    Words elsewhere in the sentence do not: "5 more than Ann has" and "the number that does not divide 12 is" state their box.
    """
    before, near = text[max(0, box.start - 200) : box.start], text[max(low, box.start - 60) : box.start]
    return bool(
        any(pattern.search(near) for pattern in (DENIES_NEXT, _BOUNDED, _CHANGED))
        or _SUPPOSED.search(before)
        or any(pattern.match(text, box.end, box.end + 60) for pattern in (_QUESTIONED, _REFUTED, _ESTIMATED))
    )


def read_whole_formula(text: str, group: list[Box]) -> str | None:
    """The formula around several boxes that stand inside brackets together, `(\\boxed{1}, \\boxed{2})`; None where they do not."""
    last = group[-1]
    start, end = _formula(text, last)
    if group[0].start < start:
        return None
    before = text[start : group[0].start]
    if not _depth(before) or _depth(before) + _depth(text[last.end : end]):
        return None
    body, at = "", group[0].start
    for box in group:
        body += text[at : box.start] + (box.content or "")
        at = box.end
    return (_last_side(before) + body + _first_side(text[at:end], _depth(before))).strip()


def _joined(left: str, content: str, right: str) -> str:
    """A box's content in the place of the box; in brackets where it could run into what is next to it."""
    before, after = left.rstrip(), right.lstrip()
    if before in ("-", "+") and not right and re.fullmatch(r"[\w.]+|\\[dt]?frac\{\w+\}\{\w+\}", content):
        return before.replace("+", "") + content
    open_left = (
        not before or before[-1] in "{([,=<>|" or before.endswith(("\\le", "\\ge", "\\neq", "\\ne", "\\leq", "\\geq"))
    )
    open_right = (
        not after
        or after[0] in "})],=<>|^%"
        or after.startswith(("\\text", "\\%", "\\circ", "\\mathrm"))
        or after[0].isalpha()
    )
    simple = re.fullmatch(r"-?[\w.,]+", content) is not None
    inner = content if open_left and (open_right or simple) else f"({content})"
    return f"{before}{' ' if before[-1:].isalnum() else ''}{inner}{right}".strip().rstrip(".")


def _sides_of(text: str, box: Box, low: int, high: int) -> tuple[str, str]:
    """The parts of the formula before and after a box."""
    start, end = _formula(text, box)
    return text[max(start, low) : box.start], text[box.end : min(end, high)]


def _formula(text: str, box: Box) -> tuple[int, int]:
    """Where the formula around a box begins and ends: between delimiters, or as far as no words come."""
    low, high = max(0, box.start - WINDOW), min(len(text), box.end + WINDOW)
    opening = None
    for opening in _DELIMITER.finditer(text, low, box.start):
        if opening[0] == "\\$":
            opening = None
    closing = next((found for found in _DELIMITER.finditer(text, box.end, high) if found[0] != "\\$"), None)
    start, end = opening.end() if opening else low, closing.start() if closing else high
    inside = opening is not None and closing is not None and "\n" not in opening[0] + closing[0]
    if inside and not _WORD.search(_GROUPED_WORDS.sub(" ", text[start : box.start] + " " + text[box.end : end])):
        return start, end
    return _bare_start(text, start, box.start), _bare_end(text, box.end, end)


_MARKDOWN = re.compile(r"\s{0,3}(?:#{1,6}\s|>\s?|[-+*]\s|\|)+")


def _bare_start(text: str, low: int, start: int) -> int:
    """Where a formula without delimiters begins: after the last word, sentence or line before the box."""
    low = max(low, text.rfind("\n", low, start) + 1)
    mark = _MARKDOWN.match(text, low, start) if not low or text[low - 1] == "\n" else None
    low = max(low, text.rfind("|", low, start) + 1) if mark and "|" in mark[0] else mark.end() if mark else low
    place = start
    for piece in reversed(list(re.finditer(r"\S+", text[low:start]))[-12:]):
        bullet = piece[0] in "-–—•" and low + piece.end() < start and not piece.start()
        if (
            bullet
            or _LABEL.fullmatch(piece[0])
            or piece[0][-1] in ".:;!?*,—`’'\""
            or _WORD.search(_GROUPED_WORDS.sub(" ", piece[0]))
        ):
            break
        place = low + piece.start()
    return place


def _bare_end(text: str, end: int, high: int) -> int:
    """Where a formula without delimiters ends: before the next word, sentence or line after the box."""
    line = text.find("\n", end, high)
    high = high if line < 0 else line
    if text[text.rfind("\n", 0, end) + 1 : end].lstrip()[:1] == "|":
        high = min(high, max(end, text.find("|", end, high)))  # a cell of a table
    if end < high and text[end] in ".,;:!?*)]}'\"`—":
        return end
    place = end
    for piece in list(re.finditer(r"\S+", text[end:high]))[:12]:
        if (
            _WORD.search(_GROUPED_WORDS.sub(" ", piece[0]))
            or piece[0][0] in "(—–*"
            or (piece[0][0] in "-" and len(piece[0]) == 1 and place == end and _WORD.match(text, end + piece.end() + 1))
        ):
            break
        place = end + piece.end()
        if piece[0][-1] in ".,;:!?":
            break
    return place


def _boundaries(part: str, outer: int) -> list[tuple[int, int]]:
    """Places of the relations and separators that stand outside all brackets."""
    places, depth, at = [], 0, 0
    for match in _BOUNDARY.finditer(part):
        depth += _depth(part[at : match.start()])
        at = match.start()
        if depth == outer:
            places.append(match.span())
    return places


def _last_side(before: str) -> str:
    places = _boundaries(before, 0)
    side = before[places[-1][1] :] if places else before
    return side.strip(" \n\t.:*~")


def _first_side(after: str, depth: int = 0) -> str:
    places = _boundaries(after, -depth)
    side = after[: places[0][0]] if places else after
    return side.rstrip(" \n\t.:;*~")


def _depth(part: str) -> int:
    return sum(_DEPTH.get(token, 0) for token in _TOKEN.findall(part))


def _is_prose(right: str) -> bool:
    """Whether the words after a box explain it, as in `\\text{ (since n > 0)}`; a unit does not."""
    match = _FREE_TEXT.fullmatch(right)
    return match is not None and len(match[1].split()) > 3


REASONED = 5
"""Words between a box that is taken back and the next: with fewer, no reason was given, and the boxes are guesses in a row."""
_WITHDRAWN = re.compile(
    r"[\s$.,;:!)*\]]{0,6}(?:no\b|nope|not?\s(?:right|correct)|wrong|incorrect|wait|hmm|hold on)", re.IGNORECASE
)
_SECOND_THOUGHT = re.compile(
    r"[^A-Za-z\\]{0,6}(?:\\text\s?\{[^A-Za-z]{0,4})?(?:no,?\s)?(?:wait|hold on|hmm|sorry|oops|correction)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"\\[hv]?phantom\s?\{[^{}]{0,40}\\(?:boxed|fbox)|\\color\s?\{white\}")
_UNSURE = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|might be|could (?:also )?be|could also|may be|alternatively|not sure|unsure|guess(?:ing)?|or else)\b",
    re.IGNORECASE,
)
_UNSURE_ALONE = re.compile(
    r"\b(?:not sure which|might be|could also be|or (?:maybe|perhaps|possibly))\b", re.IGNORECASE
)


def offers_several(text: str, boxes: list[Box], group: list[Box]) -> bool:
    """Whether a response offers several answers, one after the other, so that one of them may be right."""
    if _HIDDEN.search(text, boxes[0].start - 12 if boxes[0].start > 12 else 0):
        return True
    others = [box for box in boxes if box.start < group[0].start and box.content is not None]
    withdrawn = [box for box in others if _WITHDRAWN.match(text, box.end, box.end + 40)]
    if len(withdrawn) >= 2:
        return True
    if withdrawn and not _SECOND_THOUGHT.match(text, withdrawn[0].end, withdrawn[0].end + 60):
        following = next(box for box in boxes if box.start >= withdrawn[0].end)
        if len(text[withdrawn[0].end : following.start].split()) < REASONED:
            return True
    low = max(text.rfind("\n", 0, group[0].start), text.rfind(". ", 0, group[0].start)) + 1
    near = (
        text[max(low, group[0].start - 200) : group[0].start]
        + " "
        + text[group[-1].end : group[-1].end + 120].split("\n")[0]
    )
    return _UNSURE.search(near) is not None and (
        bool(others) or len(group) > 1 or _UNSURE_ALONE.search(near) is not None
    )
