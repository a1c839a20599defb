"""What phrases announce: "the answer is", "#### ", headings, tags, JSON, 答案."""

from __future__ import annotations

import json
import re

from compass.verifier.extracting import languages
from compass.verifier.extracting.value import FORMULA, inside, stated, value_of

TAIL = 4_000
"""Characters at a response's end in which an answer without a box is looked for."""

REACH = 700
"""Characters after a phrase in which what it announces stands."""

SENTENCE = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?]\$)|(?<=[.!?]\$\$)|(?<=[.!?]\\[\])]))\s{1,9}(?=[A-Z\\$(])|\n+|(?<=。)|\bI hope\b.*",
    re.DOTALL,
)
"""Where a sentence ends; its full stop may stand inside its last formula."""
CORRECTED = re.compile(
    r"\b(?:wait|hmm+|hold on|oops|actually|correction|corrected|sorry|instead|ignore|disregard|scratch that|mistake|error|really|no,)(?![a-z])"
    r"|\b(?:this|that|it|which|above|box|answer)\s(?:is|was|'s)\s(?:wrong|incorrect|not\s(?:right|correct)|mistaken)\b|更正|不对",
    re.IGNORECASE,
)
ANNOUNCED = re.compile(
    r"####(?!#)|(?:final\s+)?(?:answer|result)\**\s{0,3}(?:is|are|:|=|will\s+be|would\s+be|should\s+be)\**\s{0,3}:?"
    r"|(?:correct\s+)?(?:option|choice)\s+is|故\s?选\s?[:：]?|应选\s?[:：]?|选\s?[:：]|(?<![不可若])选\s?(?=[A-H](?![A-Za-z]))|it\sshould\sbe|"
    + languages.ANNOUNCED,
    re.IGNORECASE,
)
_FINAL = re.compile(r"(?:final|correct(?:ed)?)\s+(?:answer|result)", re.IGNORECASE)
_LATER = re.compile(
    r"(?:final\s+)?answer\**\s{0,3}(?:is|:|=|should\s+be)\**\s{0,3}:?|it\sshould\sbe|答案\s{0,3}(?:是|为|：|:)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^[#* ]{0,8}(?:the\s)?(?:final\s)?(?:answer|result)s?[*: ]{0,8}$", re.IGNORECASE | re.MULTILINE)
_TAG = re.compile(r"<answer>([^<]{0,2000}?)</answer>", re.IGNORECASE | re.DOTALL)
_JSON_ANSWER = re.compile(r"\{[^{}]{0,300}[\"'](?:final_)?answer[\"']\s{0,9}:[^{}]{0,400}\}", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:if|suppose|assume|when|whether|say|reference|expected)\b(?!.*\b(?:so|therefore|thus|hence)\b)", re.IGNORECASE
)
_LAST = 3


def announced(tail: str) -> list[tuple[str, bool]]:
    """The values that phrases announce, in their order, each with whether it is called final; a phrase that announces no value,
    such as "the final answer is correct", says nothing."""
    found = [(match.start(), match[1].strip(), True) for match in list(_TAG.finditer(tail))[-_LAST:]]
    found += [
        (match.start(), text, True)
        for match in list(_JSON_ANSWER.finditer(tail))[-_LAST:]
        if (text := _from_json(match[0]))
    ]
    taken = [(start, start + 1) for start, _, _ in found]
    for heading in list(_HEADING.finditer(tail))[-_LAST:]:
        rest = tail[heading.end() : heading.end() + REACH].strip()
        if value := _first(rest):
            found.append((heading.start(), value, True))
            taken.append((heading.start(), heading.end() + 1))
    for match in list(ANNOUNCED.finditer(tail))[-2 * _LAST :]:
        if any(start <= match.end() and match.start() < end for start, end in taken):
            continue
        if _refers_on(tail, match):
            continue
        rest = tail[match.end() : match.end() + REACH]
        if value := _first(rest) if match[0].rstrip("* ")[-1:] in (":", "：") else _after(rest):
            final = "#" in match[0] or _FINAL.search(tail, max(0, match.start() - 12), match.end()) is not None
            found.append((match.start(), value, final))
    return [(value, final) for _, value, final in sorted(found)[-2 * _LAST :] if value]


def denied(tail: str) -> bool:
    """Whether the last phrase that announces an answer gives none: "the answer is less than 5", "is the answer 5?"."""
    last = None
    for last in ANNOUNCED.finditer(tail):  # noqa: B007 - the last one is used
        pass
    return last is not None


def later_value(text: str) -> str | None:
    """The value that text after a box calls the answer; None where it announces none."""
    value = None
    for match in list(_LATER.finditer(text))[-_LAST:]:
        given = _after(text[match.end() : match.end() + REACH])
        if given and (re.search(r"[\d\\$]", given) or len(given) == 1):
            value = given
    return value


def _refers_on(tail: str, match: re.Match[str]) -> bool:
    """Whether the phrase stands under a condition: "if the answer is 5", "suppose the answer is 5"."""
    start = max(tail.rfind("\n", 0, match.start()), tail.rfind(". ", 0, match.start())) + 1
    return _CONDITION.search(tail, start, match.start()) is not None


def _after(rest: str) -> str | None:
    """The value straight after a phrase that announces it."""
    rest = rest.lstrip(" *:\n：")
    display = re.match(r"(\$\$|\\\[)", rest)
    formula = FORMULA.match(rest)
    if display is not None and formula is not None:
        return inside(formula)
    sentence = next((part for part in SENTENCE.split(rest) if part and part.strip()), "").strip().strip("*").strip()
    return value_of(sentence) if sentence else None


def _first(rest: str) -> str | None:
    """The value of the first sentence under a heading."""
    if value := _after(rest):
        return value
    sentence = next((part for part in SENTENCE.split(rest) if part and part.strip()), "").strip()
    return stated(sentence) if sentence else None


def _from_json(text: str) -> str | None:
    try:
        entry = json.loads(text)
    except ValueError:
        return None
    value = next((entry[key] for key in entry if key.lower() in ("answer", "final_answer")), None)
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None
