"""Find the final answer in a response: its box, what a phrase announces, what its last sentence states.

`final_answer` does so for a text that may be an answer or a whole solution, as golds of some data sets are.
"""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from compass.verifier.answer_type import answer_type
from compass.verifier.extracting.announcements import (
    ANNOUNCED,
    CORRECTED,
    TAIL,
    Announced,
    find_announced,
    find_later_value,
    has_announcement,
)
from compass.verifier.extracting.boxes import (
    Box,
    drop_placeholders,
    find_boxes,
    last_group,
    offers_several,
    read_box_answer,
    read_whole_formula,
)
from compass.verifier.extracting.denials import is_denied, same_answer
from compass.verifier.extracting.languages import VERBS
from compass.verifier.extracting.sentences import (
    FORMULA,
    YES_OR_NO,
    drop_announcement,
    drop_asked_side,
    find_last_value,
    find_numbers,
    find_readable_part,
    read_question,
)
from compass.verifier.extracting.statements import concludes_otherwise, drop_footnotes, find_stated_answer, is_cut_off
from compass.verifier.extracting.turns import keep_own_turn
from compass.verifier.options import find_option_by_text
from compass.verifier.reading.numbers import write_digits
from compass.verifier.verdict import Outcome, Verdict
from compass.verifier.verify import verify

MAX_RESPONSE = 1_000_000
"""Characters at a response's end that are read."""

LONGEST_GAP = 20
"""Blanks in a row that are read, line breaks included: rules that look for what stands on both sides of a gap try each of them."""
_GAP = re.compile(rf"\s{{{LONGEST_GAP},}}")

_GIVEN_UP = re.compile(
    r"\bsorry,?\sbut\sI\b|\b(?:cannot|can't|could not|couldn't|unable to|(?:don't|do not) know how to|am not able to)\s(?:solve|answer|find|determine)\b",
    re.IGNORECASE,
)

_FOREIGN_COUNT = re.compile(
    r"[\u0400-\u04ff\u0600-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af][^\d]*\d"
)

A_NAME = 3
"""Words of a name with a number, such as `Player 2`, at most; with more it is a sentence."""

A_STEP = 10
"""Words between a box and "final answer" from which the box counts as a step on the way there."""

_NAME = re.compile(r"([A-Za-z](?:_\{?\w\}?)?)\s*=\s*[-+]?\s*(?:\$|\\\(|\\\[)?\s*$")


class Mode(StrEnum):
    """How strictly a response is read and judged."""

    STRICT = "strict"
    """A box or an announced value, in its final form, not copied from the question: for rewards and grades."""
    LENIENT = "lenient"
    """The last sentence may state the answer, in any form: for scoring what others wrote."""
    ANY = "any"
    """Also the last value of the kind that the problem asks for: for models that were never told a form."""


class Reading(NamedTuple):
    """What a response gives as its answer, and by what."""

    answer: str | None
    """The answer, as text for `verify`; None where the response gives none."""
    evidence: str
    """What gives it: `box`, `announcement`, `sentence`, or `last value`; else why there is none: one of `UNANSWERED`."""


ENDS_INSIDE = "cut off"
"""Why a response has no answer: it ends inside one."""

EMPTY = "empty"
"""Why a response has no answer: it is blank."""

UNANSWERED = (ENDS_INSIDE, "several that disagree", "taken back", EMPTY, "not found")
"""Why a response has no answer: it ends inside one; it announces several; it denies, bounds, supposes or withdraws the only one; it is
blank; it announces and states none."""


def extract_answer(response: str, mode: Mode = Mode.LENIENT, question: str | None = None) -> str | None:
    """The final answer of a response, as text for `verify`; None where it gives none. `read_answer` says by what it is found.

    Raises:
        TypeError: a response that is no text.
    """
    return read_answer(response, mode, question).answer


def read_answer(response: str, mode: Mode = Mode.LENIENT, question: str | None = None) -> Reading:
    """The final answer of a response and what gives it.

    A closed thought is left out, and what follows the response's own turn. Then, in order:

    1. `box`: the last `\\boxed{...}`, with what belongs to it: neighbouring boxes and boxes of several cases make one list, named
       where they have different names; a formula that holds more than the box is taken whole. A later announcement must
       agree; where the text says that it corrects the box, the later value counts, and beyond `Mode.STRICT` also where it is called
       final after further reasoning. Words around a box take it back only where they deny, bound, change or suppose its value.
    2. `announcement`: an `answer` field of JSON, a tag, a heading, `####`, "the answer is", 答案 and its like. What is called final
       counts before the rest, then the last one; announcements in a row that contradict each other are none.
    3. `sentence`: the value that a last sentence states which concludes ("So ...") or is prose that ends the response, and beyond
       `Mode.STRICT` any last sentence, or what code printed last.
    4. `last value`, with `Mode.ANY` alone: the last choice, number, formula or yes and no, whichever `question` asks for.

    A response that hedges, withdraws or is cut off inside its answer gives none.

    Args:
        response: all that the model wrote.
        mode: how strictly it is read.
        question: the problem's text: of several numbers in a last sentence the only one that it does not give is the answer, and `Mode.ANY`
            looks for the kind of value that it asks for.

    Raises:
        TypeError: a response that is no text.
        ValueError: a mode that there is not.
    """
    if not isinstance(response, str):
        raise TypeError(f"a response must be text, found {type(response).__name__}")
    mode = Mode(mode)  # callers also name it by its text
    if not response.strip():
        return Reading(None, EMPTY)
    reading = _read_own_turn(keep_own_turn(response[-MAX_RESPONSE:]), mode, question)
    if reading.answer is not None:
        answer = drop_announcement(reading.answer) if reading.evidence == "box" else reading.answer
        reading = reading._replace(answer=_write_as_asked(_write_letter_first(answer), question))
    if reading.answer is not None and _may_hold_value(reading.answer):
        part = find_readable_part(reading.answer, find_numbers(question or ""), boxed=reading.evidence == "box")
        return reading._replace(answer=part or reading.answer)
    return reading


_LETTER_LAST = re.compile(
    r"(?P<value>[^\n]*?[\w)}%$])(?:\s|\\[ ,;:!]|\\q?quad(?![a-z]))*"
    r"(?:(?<=[\s,;:!d ])\((?:\\(?:text|math)\w{0,4}\s?\{)?(?P<letter>[A-H])\}?\)|\\(?:text|math)\w{0,4}\s?\{\s*\((?P<set>[A-H])\)\s*\})[.\s]*"
)
"""A value before the letter of its choice: `5 \\text{ (D)}`."""


def _write_letter_first(answer: str) -> str:
    """An answer of a value and then its letter as the letter and then the value, `(D) 5`; any other as it is, a product such as `2(D)` among
    them."""
    last = _LETTER_LAST.fullmatch(answer)
    if last is None or not re.search(r"\d", last["value"]) or answer_type(last["value"]) in _PROSE:
        return answer
    return f"({last['letter'] or last['set']}) {last['value']}"


def _write_as_asked(answer: str, question: str | None) -> str:
    """An answer in the terms of its question: an option's text or small letter as its letter, an equation for what is asked as its value."""
    asked = read_question(question)
    if asked.is_lettered and (option := find_option_by_text(answer, question or "")) is not None:
        return option
    is_small = (
        asked.is_lettered and re.fullmatch("[a-h]", answer) and re.search(rf"\b{answer}\b", question or "") is None
    )
    return answer.upper() if is_small else drop_asked_side(answer, asked)


def _shorten_gaps(text: str) -> str:
    """A text with its long gaps as two line breaks, where they hold any, or as few blanks."""
    return _GAP.sub(lambda gap: "\n\n" if "\n" in gap[0] else " " * LONGEST_GAP, text)


def _may_hold_value(answer: str) -> bool:
    """Whether the verifier cannot read an answer, or reads it as a sentence or as words of a script in which it knows no units, with a number
    among them."""
    kind = answer_type(write_digits(answer))
    if kind != "text":
        return kind == "unrecognised"
    is_sentence = len(answer.split()) > A_NAME or FORMULA.search(answer) is not None
    return _FOREIGN_COUNT.search(answer) is not None or (is_sentence and find_numbers(answer) != set())


def _read_own_turn(text: str, mode: Mode, question: str | None) -> Reading:
    boxes = find_boxes(text)
    if boxes:
        return _read_boxes(text, boxes, mode, question)
    tail = _drop_decoration(drop_placeholders(_shorten_gaps(text[-TAIL:]))).strip()
    if not tail or _GIVEN_UP.search(tail):
        return Reading(None, "not found" if tail or text else ENDS_INSIDE)
    reading = _read_words(drop_footnotes(tail), mode, question)
    if mode == Mode.ANY and reading.answer is None and reading.evidence in ("not found", "several that disagree"):
        value = find_last_value(tail, question)
        return (
            reading if value is None or _is_denied_where_found(tail, value, question) else Reading(value, "last value")
        )
    return reading


def _is_denied_where_found(tail: str, value: str, question: str | None) -> bool:
    """Whether a text denies a value, as `is_denied`, where it gives it last."""
    found = list(re.finditer(rf"(?<![\w.]){re.escape(value.strip('$* '))}(?!\w)", tail))
    return bool(found) and is_denied(tail, found[-1].start(), found[-1].end(), value, question)


def list_candidates(response: str, question: str | None = None) -> list[tuple[str, str]]:
    """Every value that could be a response's answer, as (evidence, value), in the order of the evidence: what a person looks at who
    wonders about a reading."""
    text = keep_own_turn(response[-MAX_RESPONSE:])
    tail = _drop_decoration(drop_placeholders(_shorten_gaps(text[-TAIL:]))).strip()
    found = [("box", box.content) for box in find_boxes(text) if box.content]
    found += [("announcement", one.value) for one in find_announced(tail)]
    others = (
        ("sentence", find_stated_answer(tail, read_question(question), must_conclude=False)),
        ("last value", find_last_value(tail, question)),
    )
    return found + [(evidence, value) for evidence, value in others if value]


def _read_words(tail: str, mode: Mode, question: str | None) -> Reading:
    """What a response without a box announces, or else states in its last sentence."""
    asked = read_question(question)
    values = find_announced(tail)
    if values:
        place, value = values[-1].place, values[-1].value
        after = tail[max(place, tail.find(value, place)) + len(value) :]
        if (
            CORRECTED.search(after)
            and (corrected := find_stated_answer(after, asked, must_conclude=mode == Mode.STRICT)) is not None
            and YES_OR_NO.fullmatch(corrected) is None
        ):
            return Reading(corrected, "sentence")
        value = _choose_announced(values, tail)
        if value is None or concludes_otherwise(after, value):
            return Reading(None, "several that disagree")
        end = len(tail) - len(after)
        return (
            Reading(None, "taken back")
            if is_denied(tail, place, end, value, question)
            else Reading(value, "announcement")
        )
    if has_announcement(tail):
        return Reading(None, ENDS_INSIDE if is_cut_off(tail) else "taken back")
    if _ENDS_IN_LABEL.search(tail):
        return Reading(None, ENDS_INSIDE)
    value = find_stated_answer(tail, asked, must_conclude=mode == Mode.STRICT)
    if value is not None and _is_denied_where_found(tail, value, question):
        return Reading(None, "taken back")
    return Reading(value, "sentence" if value is not None else ENDS_INSIDE if is_cut_off(tail) else "not found")


def _read_boxes(text: str, boxes: list[Box], mode: Mode, question: str | None) -> Reading:
    """The answer of the last box and its neighbours, unless what follows takes it back.

    Beyond `Mode.STRICT` a value that is called the final answer, after further reasoning, counts before a box: the box held a step.
    """
    if boxes[-1].content is None:
        return Reading(None, ENDS_INSIDE)
    group = last_group(text, boxes)
    answer = _answer_of_group(text, boxes, group)
    after = text[group[-1].end : group[-1].end + TAIL]
    later = find_later_value(after)
    if later is not None and (answer is None or not same_answer(answer, later)):
        replaces = CORRECTED.search(after) or answer is None or same_answer(group[-1].content or "", later)
        if replaces or (mode != Mode.STRICT and _is_final_after_reasoning(after)):
            return Reading(later, "announcement")
        return Reading(None, "several that disagree")
    if (
        answer is None
        or offers_several(text, boxes, group)
        or is_denied(text, group[0].start, group[-1].end, answer, question)
    ):
        return Reading(None, "taken back")
    return Reading(None, "several that disagree") if concludes_otherwise(after, answer) else Reading(answer, "box")


def _is_final_after_reasoning(after: str) -> bool:
    """Whether the last announcement after a box says "final answer", with enough words in between for further steps."""
    announcements = list(_CALLED_FINAL.finditer(after))
    return bool(announcements) and len(after[: announcements[-1].start()].split()) >= A_STEP


def _answer_of_group(text: str, boxes: list[Box], group: list[Box]) -> str | None:
    """What neighbouring boxes answer together."""
    if (whole := read_whole_formula(text, group)) is not None:
        return whole or None
    answers: list[tuple[str, str]] = []
    ends = [box.end for box in boxes if box.end <= group[0].start]
    first = ends[-1] if ends and not text[ends[-1] : group[0].start].strip() else 0
    for at, box in enumerate(group):
        low = group[at - 1].end if at else first
        high = group[at + 1].start if at + 1 < len(group) else len(text)
        answer = read_box_answer(text, box, low, high)
        if answer is None:
            return None
        name = _NAME.search(text, max(low, box.start - 20), box.start)
        if answer and answer not in (given for _, given in answers):
            answers.append((name[1] if name else "", answer))
    if len(answers) > 1 and len({name for name, _ in answers if name}) == len(answers):
        return ", ".join(f"{name} = {answer}" for name, answer in sorted(answers))
    return ", ".join(answer for _, answer in answers) or None


_CALLED_FINAL = re.compile(r"\bfinal\s+(?:answer|result)\b", re.IGNORECASE)


def _choose_announced(values: list[Announced], tail: str) -> str | None:
    """The value that announcements agree on: the last one called final, else the last.

    One that contradicts it must come well before it, with reasoning in between, or be corrected: several in a row are guesses.
    """
    final = [value for value in values if value.is_final]
    candidates = final or values
    last = candidates[-1]
    rivals = [
        rival
        for rival, following in pairwise(candidates)
        if len(tail[rival.place : following.place].split()) < A_STEP and not same_answer(last.value, rival.value)
    ]
    if rivals and (len(rivals) > 1 or not CORRECTED.search(tail, rivals[0].place, last.place)):
        return None
    return last.value


_ENDS_IN_LABEL = re.compile(
    r"(?:^|\n)[#* >]{0,8}(?:the\s)?(?:final\s)?(?:answer|result)s?[*: ]{0,8}\s*\Z|<((?:final[_ -]?)?answer)>\s*(?:</\1>)?\s*\Z",
    re.IGNORECASE,
)
"""A label or a heading with nothing after it: the response was cut off."""


_PICTURES = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f]+(?P<ends>\\s{1,3}(?=[A-Z(]))?")


_MARKUP = re.compile(
    r"</?(?:(p|div|h[1-6]|li|[uo]l|br|tr|table|tbody)|(t[dh])|strong|b|em|i|u|span)(?:\s[^<>]{0,200})?/?>"
)
"""Tags of HTML that set text; those of a block end a line, those of a cell part words."""


_PROOF_END = re.compile(r"(?<=[\w)}\]$%.!*])\s{0,3}[∎■□](?=\s*(?:\n|\Z))")
"""The mark of a proof's end, behind a value or a sentence."""
_CALCULATION = re.compile(r"<<[^<>\n]{1,200}>>")
"""A calculator's note: `3 + 4 = <<3+4=7>>7`."""
_FLAG = re.compile(
    r"""([{,]\s{0,9}["'](?:is|has|needs|requires|uses)_(?!\w*(?:correct|right|valid|true|final|sure|confident))\w{1,40}["']\s{0,3}:\s{0,3})(?:true|false)\b""",
    re.IGNORECASE,
)
"""A field that says something of the problem, and denies no answer: `"is_multiple_choice": false`."""


def _drop_decoration(text: str) -> str:
    """The text without what only sets or annotates it: emoji, HTML's tags, a calculator's notes, flags of an object, the mark of a
    proof's end. An emoji before a capital
    ends a sentence."""
    text = _PROOF_END.sub("", _FLAG.sub(r"\g<1>0", _CALCULATION.sub("", text)))
    if "</" in text:
        text = _MARKUP.sub(lambda tag: "\n" if tag[1] else " | " if tag[2] else "", re.sub(r"(?<=\d)(?=<)", " ", text))
    return _PICTURES.sub(lambda match: "\n" if match["ends"] else "", text)


_PROSE = ("text", "unrecognised")


_LEADS_UP = re.compile(
    rf"[^$\d=\\]{{3,200}}(?:\bthat|:|\W(?:{VERBS}))\s{{0,3}}\$"
    r"|(?:We|Thus|So|Therefore|Hence|Then|Finally|Consequently|This|Simplifying|Solving|Substituting|Adding|Dividing)\s[^$]{3,200}\$"
)


_NONE = Verdict(Outcome.UNRECOGNISED, "text", "a text gives no final answer")


def final_answer(text: str) -> str | None:
    """The answer in a text: the text itself where it is an answer, else the final answer of the solution that it is.

    Words that state no value are an answer in words. None where nothing can be read.

    Raises:
        TypeError: what is no text.
    """
    if not _is_solution(text) and answer_type(text) not in _PROSE:
        return text
    answer = extract_answer(text)
    if answer is not None:
        return answer
    return text if answer_type(text) == "text" else None


def _is_solution(text: str) -> bool:
    """Whether text gives its answer in a box, announces it or leads up to a formula: "we find that $x > 3$", "a matrix: $...$"."""
    if "\\boxed" in text or "\\fbox" in text:
        return True
    return ("$" in text and _LEADS_UP.match(text) is not None) or ANNOUNCED.search(text) is not None


def same_final_answer(*, gold: str, answer: str) -> Verdict:
    """Decide whether two texts give the same final answer.

    Args:
        gold: a reference answer or a whole solution.
        answer: an answer or a whole response.

    Returns:
        The verdict on the texts as they stand where those are equal, else the one on their final answers.

    Raises:
        TypeError: an argument that is no text.
    """
    verdict = verify(gold=gold, answer=answer)
    if verdict.equal:
        return verdict
    one, two = final_answer(gold), final_answer(answer)
    if one is None or two is None:
        return _NONE
    return verdict if (one, two) == (gold, answer) else verify(gold=one, answer=two)
