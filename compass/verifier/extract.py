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
    read_box_answer,
    read_whole_formula,
)
from compass.verifier.extracting.languages import FOREIGN_THEREFORE, VERBS
from compass.verifier.extracting.sentences import (
    AMOUNT,
    CHOSEN,
    COMPOUND,
    DANGLING,
    DENIED,
    EVERY,
    FORMULA,
    LOOKED_AT,
    NAMED_LAST,
    NUMBER,
    PRICE,
    SENTENCE,
    YES_OR_NO,
    YES_OR_NO_FIRST,
    Asked,
    drop_asides,
    find_bold_value,
    find_last_value,
    find_numbers,
    find_part_labels,
    find_readable_part,
    find_stated_value,
    formula_text,
    is_hedged,
    join_letters,
    last_formula,
    last_side,
    read_question,
)
from compass.verifier.verdict import Outcome, Verdict
from compass.verifier.verify import verify

MAX_LINES = 100
"""Places of each word in `_SPEAKERS` and `_PROBLEMS` that are looked at."""

_SPEAKERS = ("Human", "User", "Instruction", "Assistant", "human", "user", "HUMAN", "USER")
_PROBLEMS = ("Question", "Problem", "Exercise", "Q", "QUESTION", "PROBLEM")
_THOUGHT = re.compile(r"<(/?)think(?:ing)?>")
_TOKEN = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end_of_text|begin_of_text|user|human|end)\|>|<(?:/s|end_of_turn|start_of_turn)>"
)
_CHANNELS = ("analysis", "<|channel|>", "<|start|>assistant<|channel|>")
"""What a response in the harmony format begins with, with and without its tokens."""
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final[^<]{0,40}<\|message\|>|assistantfinal")
_LABEL_END = re.compile(r"(?:\s?\d{1,3})?\*{0,2}(?::|(?<=\d)\.)")
_LINE_START = re.compile(r"(?:^|\n)[#* >]{0,6}\Z")
_ANSWERED = re.compile(r"\\boxed|answer|####|=|\d\s*\.?\s*$|\A\s*\S+(?:\s\S+){0,3}\s*\Z", re.IGNORECASE)


def keep_own_turn(text: str) -> str:
    """The part of a response in which its answer may stand; empty where there is none.

    Thinking that is never closed leaves nothing: no answer was given. What comes after another speaker's line, or after the
    line of another problem once this one has an answer, answers something else.
    """
    thought = _last_thought(text)
    if thought is not None and not thought[1]:
        return ""
    text = text[thought.end() :] if thought is not None else text
    if text.startswith(_CHANNELS):
        text = text[max((final.end() for final in _FINAL_CHANNEL.finditer(text)), default=0) :]
    start = 0
    for token in _TOKEN.finditer(text):
        if text[start : token.start()].strip():
            text = text[start : token.start()]
            break
        start = token.end()
    return _drop_cut_repeat(text[: _next_turn(text)])


def _drop_cut_repeat(text: str) -> str:
    """The text without a last line that only begins the line before it: a loop that the length limit cut off."""
    before, sign, last = text.rstrip().rpartition("\n")
    previous = before.rstrip().rpartition("\n")[2]
    return before if sign and last and previous.startswith(last) and previous != last else text


def _last_thought(text: str) -> re.Match[str] | None:
    """The last tag that opens or closes a thought, looked for from the end."""
    place = text.rfind("think")
    while place >= 0:
        found = _THOUGHT.match(text, max(0, place - 1)) or _THOUGHT.match(text, max(0, place - 2))
        if found is not None:
            return found
        place = text.rfind("think", 0, place)
    return None


def _next_turn(text: str) -> int:
    """Where another speaker's line or, after an answer, another problem begins; the text's end where none does."""
    places = [start for word in _SPEAKERS for start in _lines(text, word)]
    places += [
        start
        for word in _PROBLEMS
        for start in _lines(text, word)
        if _ANSWERED.search(text, max(0, start - 2_000), start)
    ]
    return min(places, default=len(text))


def _lines(text: str, word: str) -> list[int]:
    """Where lines that the word opens begin, as in `**Question 2:**`."""
    places, at = [], 0
    for _ in range(MAX_LINES):
        at = text.find(word, at)
        if at < 0:
            break
        before = text[max(0, at - 8) : at]
        if (at <= 8 or "\n" in before) and _LINE_START.search(before) and _LABEL_END.match(text, at + len(word)):
            places.append(text.rfind("\n", 0, at) + 1)
        at += len(word)
    return places


MAX_RESPONSE = 1_000_000

_CUT = re.compile(
    r"[-+*/=^_({\[,\\]$|(?<![\w$\\])(?:the|an?|and|or|of|is|are|to|in|with|for|then|so|that|by|from|as|we|if|but)$"
)
_BECAUSE = re.compile(r"\b(?:because|since)\b", re.IGNORECASE)
_CONCLUSION = re.compile(
    rf"^[\s*$-]{{0,6}}(?:so|thus|hence|therefore|consequently|in total|altogether|finally|in conclusion|overall|total|∴|\\therefore|{FOREIGN_THEREFORE})(?![a-z])"
    r"|\b(?:in total|altogether|in all)\b|\bso\s(?!(?:on|far|much|many)\b)(?:he|she|it|they|we|there|the|[A-Z]\w+)\b",
    re.IGNORECASE,
)
_THEREFORE = re.compile(
    rf"\b(?:so|thus|hence|therefore|consequently|in total|altogether|in conclusion)\b|{FOREIGN_THEREFORE}",
    re.IGNORECASE,
)
_ONE_VALUE = r"(?:\$[^$]{1,300}\$|\\\([^()]{1,300}\\\)|[-−$]?\d[\d,./]*)\s?%?"
_ENDS_WITH_VALUE = re.compile(
    rf"\b(?:is|are|equals)\s{_ONE_VALUE}(?:,?\s(?:or|that\sis(?:\sto\ssay)?),?\s{_ONE_VALUE}){{0,3}}\.?$"
)
_GIVEN_UP = re.compile(
    r"\bsorry,?\sbut\sI\b|\b(?:cannot|can't|could not|couldn't|unable to|(?:don't|do not) know how to|am not able to)\s(?:solve|answer|find|determine)\b",
    re.IGNORECASE,
)
_WITHDRAWN = re.compile(
    r"[\s$.,;:!)*\]]{0,6}(?:no\b|nope|not?\s(?:right|correct)|wrong|incorrect|wait|hmm|hold on)", re.IGNORECASE
)
_SECOND_THOUGHT = re.compile(
    r"[^A-Za-z\\]{0,6}(?:\\text\s?\{[^A-Za-z]{0,4})?(?:no,?\s)?(?:wait|hold on|hmm|sorry|oops|correction)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"\\[hv]?phantom\s?\{[^{}]{0,40}\\(?:boxed|fbox)|\\color\s?\{white\}")
_ONE_NAME = re.compile(r"[^\W\d_]{2,30}(?:[ -][^\W\d_]{1,30}){0,2}[.!]?")
"""A response that is a word or a name, such as `Canberra`: an answer as it stands."""

_ONE_CHOICE = re.compile(r"\**\(?[A-J]\)?\**[.!]?")
"""A last line that is the letter of a choice."""

_FOREIGN_COUNT = re.compile(
    r"[\u0400-\u04ff\u0600-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af][^\d]*\d"
)

A_NAME = 3
"""Words of a name with a number, such as `Player 2`, at most; with more it is a sentence."""

REASONED = 5
"""Words between a box that is taken back and the next: with fewer, no reason was given, and the boxes are guesses in a row."""

A_STEP = 10
"""Words between a box and "final answer" from which the box counts as a step on the way there."""

_OUTPUT = re.compile(
    r"(?:```(?:output|text)?\s{0,3}\n|<\|?(?:execution|output|result)\|?>\s{0,3})([^`<]{1,200}?)\s{0,9}(?:```|</?\|?\w{1,20}\|?>)\s{0,9}$"
)
"""What code printed last, in a fence or between tags."""
_VALUE = re.compile(rf"{FORMULA.pattern}|(?<![\w.,/:])\d[\d.,/:]*", re.DOTALL)
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


UNANSWERED = ("cut off", "several that disagree", "taken back", "not found")
"""Why a response has no answer: it ends inside one; it announces several; it denies, bounds, supposes or withdraws the only one; it
announces and states none."""


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
    3. `sentence`: the value that a last sentence states which concludes ("So ...") or is prose that ends the response, and beyond `Mode.STRICT` any last sentence, or what code
       printed last.
    4. `last value`, with `Mode.ANY` alone: the last choice, number, formula or yes and no, whichever `question` asks for.

    A response that hedges, withdraws or is cut off inside its answer gives none.

    Args:
        response: all that the model wrote.
        mode: how strictly it is read.
        question: the problem's text: of several numbers in a last sentence the only one that it does not give is the answer, and `Mode.ANY`
            looks for the kind of value that it asks for.

    Raises:
        TypeError: a response that is no text.
    """
    if not isinstance(response, str):
        raise TypeError(f"a response must be text, found {type(response).__name__}")
    reading = _read_own_turn(keep_own_turn(response[-MAX_RESPONSE:]), mode, question)
    if reading.answer is not None and _may_hold_value(reading.answer):
        part = find_readable_part(reading.answer, find_numbers(question or ""), boxed=reading.evidence == "box")
        return reading._replace(answer=part or reading.answer)
    return reading


def _may_hold_value(answer: str) -> bool:
    """Whether the verifier cannot read an answer, or reads it as a sentence or as words of a script in which it knows no units, with a number
    among them."""
    kind = answer_type(answer)
    if kind != "text":
        return kind == "unrecognised"
    is_sentence = len(answer.split()) > A_NAME or FORMULA.search(answer) is not None
    return _FOREIGN_COUNT.search(answer) is not None or (is_sentence and find_numbers(answer) != set())


def _read_own_turn(text: str, mode: Mode, question: str | None) -> Reading:
    boxes = find_boxes(text)
    if boxes:
        return _read_boxes(text, boxes, mode)
    tail = _drop_pictures(drop_placeholders(text[-TAIL:])).strip()
    if not tail or _GIVEN_UP.search(tail):
        return Reading(None, "not found" if tail or text else "cut off")
    reading = _read_words(_drop_footnotes(tail), mode, read_question(question))
    if mode is Mode.ANY and reading.answer is None and reading.evidence in ("not found", "several that disagree"):
        value = find_last_value(tail, question)
        return reading if value is None else Reading(value, "last value")
    return reading


def list_candidates(response: str, question: str | None = None) -> list[tuple[str, str]]:
    """Every value that could be a response's answer, as (evidence, value), in the order of the evidence: what a person looks at who
    wonders about a reading."""
    text = keep_own_turn(response[-MAX_RESPONSE:])
    tail = _drop_pictures(drop_placeholders(text[-TAIL:])).strip()
    found = [("box", box.content) for box in find_boxes(text) if box.content]
    found += [("announcement", one.value) for one in find_announced(tail)]
    others = (
        ("sentence", _find_stated(tail, Mode.LENIENT, read_question(question))),
        ("last value", find_last_value(tail, question)),
    )
    return found + [(evidence, value) for evidence, value in others if value]


def _read_words(tail: str, mode: Mode, asked: Asked) -> Reading:
    """What a response without a box announces, or else states in its last sentence."""
    values = find_announced(tail)
    if values:
        place, value = values[-1].place, values[-1].value
        after = tail[max(place, tail.find(value, place)) + len(value) :]
        if CORRECTED.search(after) and (corrected := _find_stated(after, mode, asked)) is not None:
            return Reading(corrected, "sentence")
        value = _choose_announced(values, tail)
        if value is None or _concludes_otherwise(after, value):
            return Reading(None, "several that disagree")
        return Reading(None, "taken back") if _takes_back(after, value) else Reading(value, "announcement")
    if has_announcement(tail):
        return Reading(None, "cut off" if _cut_off(tail) else "taken back")
    if _ENDS_IN_LABEL.search(tail):
        return Reading(None, "cut off")
    value = _find_stated(tail, mode, asked)
    return Reading(value, "sentence" if value is not None else "cut off" if _cut_off(tail) else "not found")


def _read_boxes(text: str, boxes: list[Box], mode: Mode) -> Reading:
    """The answer of the last box and its neighbours, unless what follows takes it back.

    Beyond `Mode.STRICT` a value that is called the final answer, after further reasoning, counts before a box: the box held a step.
    """
    if boxes[-1].content is None:
        return Reading(None, "cut off")
    group = last_group(text, boxes)
    answer = _answer_of_group(text, boxes, group)
    after = text[group[-1].end : group[-1].end + TAIL]
    corrected = CORRECTED.search(after) is not None
    later = find_later_value(after)
    if later is not None and (answer is None or not _same(answer, later)):
        if mode is not Mode.STRICT and _is_final_after_reasoning(after):
            return Reading(later, "announcement")
        if corrected or answer is None or _same(group[-1].content or "", later):
            return Reading(later, "announcement")
        return Reading(None, "several that disagree")
    if (later is None and answer and _takes_back(after, answer)) or _hedges(text, boxes, group) or answer is None:
        return Reading(None, "taken back")
    return Reading(None, "several that disagree") if _concludes_otherwise(after, answer) else Reading(answer, "box")


def _concludes_otherwise(after: str, answer: str) -> bool:
    """Whether the last sentence after an answer concludes with values of which none is that answer: "so there are 40 of them"."""
    sentences = [part for part in SENTENCE.split(drop_placeholders(after)) if part and part.strip()]
    last = next((sentence for sentence in reversed(sentences[-LOOKED_AT:]) if _may_state(sentence)), "")
    conclusions = list(_THEREFORE.finditer(last))
    if not conclusions or _BECAUSE.search(last, 0, conclusions[-1].start()):
        return False
    claim = last[conclusions[-1].end() :]
    values = [last_side(formula_text(formula)) for formula in FORMULA.finditer(claim)]
    values += [number.strip(" ,") for number in NUMBER.findall(FORMULA.sub(" ", claim))]
    return bool(values) and answer.strip("$ ") not in claim and not any(_same(answer, value) for value in values)


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
_ITS = r"(?:(?:that|this|it|which)|(?:that|this|the|my)\s(?:\w+\s)?(?:answer|result|value|total|solution|check|work|calculation|reasoning)(?:\s(?:above|before|I\sgave|there))?)"
_SECOND_LOOK = re.compile(
    r"(?:^|[.!?;:\n]\s{0,3})(?:but\s|no,?\s)?(?:wait|hold on|oops)(?=[,.!?…—–-]|\s(?:no|that|this|I|a (?:sec|moment|minute))\b)"
    r"|\b(?:let me|let's|I(?:'ll|\swill|\sneed to|\shave to|\sshould|\smust))\s(?:re-?(?:do|compute|calculate|think|start|consider|count)|(?:start|begin|try|think)\s(?:over|again))\b",
    re.IGNORECASE,
)
"""The writer looks again, or begins again."""

_REJECTION = re.compile(
    rf"\b{_ITS}(?:'s|\s(?:is|was|looks|seems|must be))\s(?:\w+\s)?(?:wrong|incorrect|impossible|mistaken|off|not\s(?:right|correct|possible|what)|a mistake)\b"
    rf"|\b{_ITS}\s(?:can'?t|cannot|could\s?n[o']t)\sbe\s(?:right|correct|true|the answer|possible|it)\b"
    rf"|\b{_ITS}\s(?:fails|contradicts|(?:does\s?n[o']t|did\s?n[o']t)\s(?:work|fit|hold|check|match|satisfy|add up|make sense))\b"
    r"|\bI(?:'ve|\shave)?\s(?:made\s(?:a|an|some|the)\b.{0,20}\b(?:mistake|error|slip)|mis\w+|forgot|dropped|overlooked|missed|mixed\s(?:\w+\s)?up|swapped)\b"
    r"|\b(?:disregard|ignore|scratch|forget)\s(?:that|this|it|(?:the|my)\s(?:above|previous|last|box|answer))\b",
    re.IGNORECASE,
)
"""What was said is wrong or fails, or the writer owns an error or withdraws it."""

_SUPPOSED = re.compile(r"\b(?:if|whether|hope|common|would|unless|in case)\b", re.IGNORECASE)


def _takes_back(after: str, answer: str) -> bool:
    """Whether the text after an answer withdraws it and does not come back to it."""
    for found in _REJECTION.finditer(after):
        low = max(after.rfind(mark, 0, found.start()) for mark in ".!?\n") + 1
        if not _SUPPOSED.search(after, low, found.end()):
            end = SENTENCE.search(after, found.end())
            return end is None or not _comes_back(after[end.end() :], answer)
    again = _SECOND_LOOK.search(after)
    return again is not None and not _comes_back(after[again.end() :], answer)


def _comes_back(text: str, answer: str) -> bool:
    """Whether a text states an answer again, or ends in it."""
    value = answer.strip("$ ")
    if value not in text:
        return False
    stated = [one.value for one in find_announced(text)] + [box.content or "" for box in find_boxes(text)]
    stated += [find_stated_value(sentence) or "" for sentence in SENTENCE.split(text) if sentence and value in sentence]
    return any(one and _same(answer, one) for one in stated)


def _hedges(text: str, boxes: list[Box], group: list[Box]) -> bool:
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


_UNSURE = re.compile(
    r"\b(?:either|maybe|perhaps|possibly|might be|could (?:also )?be|could also|may be|alternatively|not sure|unsure|guess(?:ing)?|or else)\b",
    re.IGNORECASE,
)
_UNSURE_ALONE = re.compile(
    r"\b(?:not sure which|might be|could also be|or (?:maybe|perhaps|possibly))\b", re.IGNORECASE
)


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
        if len(tail[rival.place : following.place].split()) < A_STEP and not _same(last.value, rival.value)
    ]
    if rivals and (len(rivals) > 1 or not CORRECTED.search(tail, rivals[0].place, last.place)):
        return None
    return last.value


def _same(one: str, other: str) -> bool:
    return one == other or verify(gold=one, answer=other).equal or verify(gold=other, answer=one).equal


def _find_stated(text: str, mode: Mode, asked: Asked) -> str | None:
    """The answer that a text's last sentence states, with `Mode.STRICT` only one that concludes; that of each part where the question has
    parts, and that of the first sentence where the rest explains it."""
    if asked.parts and (joined := _join_stated_parts(text, mode, asked)) is not None:
        return joined
    if (shorter := _drop_afterword(text)) != text and (value := _find_stated(shorter, mode, asked)) is not None:
        return value
    text = _PROVED.sub("", _RULE.sub("", text))
    output = _OUTPUT.search(text[-400:])
    if output is not None:
        return output[1].strip().splitlines()[-1] if mode is not Mode.STRICT else None
    if _cut_off(text):
        return None
    display = [match for match in FORMULA.finditer(text) if match.group(1) or match.group(4)]
    if display and not text[display[-1].end() :].strip(" .\n"):
        return last_side(formula_text(display[-1]))
    text = FORMULA.sub(_join_lines, text)
    sentences = [part for part in SENTENCE.split(text) if part and part.strip()]
    if not sentences:
        return None
    if len(sentences) > 1 and _EXPLAINS.match(sentences[1]) and not any(map(_THEREFORE.search, sentences[2:])):
        return find_stated_value(sentences[0].strip("* "), asked)
    last = _choose_sentence(sentences[-LOOKED_AT:]).strip()
    if _ONE_CHOICE.fullmatch(last):
        return last.strip("().!* ")
    if len(sentences) == 1 and _ONE_NAME.fullmatch(last) and (" " not in last or last.istitle()):
        return last.rstrip(".!")
    concludes = _concludes(last)
    last = last if last.count("**") > 2 or not last.startswith("**") else last.strip("*")
    if mode is Mode.STRICT and len(sentences) > 1 and not concludes and not _closes(sentences[-1], last):
        return None
    if is_hedged(last):
        return None if (every := EVERY.search(last)) is None else every[1]
    value = find_stated_value(last, asked)
    if asked.letters and value is not None and (joined := join_letters(text, asked.letters)) is not None:
        return joined
    return last_formula(last) if value is None and mode is not Mode.STRICT else value


def _choose_sentence(sentences: list[str]) -> str:
    """Of a text's last sentences the last that may state the answer; one that concludes with a value counts before remarks after it,
    which hold no value, choose nothing and take nothing back."""
    for at in reversed(range(len(sentences) - 1)):
        if _CONCLUSION.search(sentences[at]) and _VALUE.search(sentences[at]) and not _is_aside(sentences[at]):
            rest = sentences[at + 1 :]
            remarks = not any(_chooses(one) or is_hedged(one) for one in rest if not _is_aside(one))
            if remarks and not _takes_back(" ".join(rest), "\0"):
                return sentences[at]
            break
    return next((one for one in reversed(sentences) if _may_state(one)), sentences[-1])


def _chooses(sentence: str) -> bool:
    """Whether a sentence holds a value, or states a word: a name at its end, bold, a choice, yes or no, or what it concludes."""
    signs = (_VALUE, _THEREFORE, NAMED_LAST, CHOSEN, YES_OR_NO_FIRST)
    is_word = _ONE_CHOICE.fullmatch(sentence) or _ONE_NAME.fullmatch(sentence) or find_bold_value(sentence)
    return bool(is_word or any(sign.search(sentence) for sign in signs))


def _join_stated_parts(text: str, mode: Mode, asked: Asked) -> str | None:
    """What is stated after the label of each part, as `(a) 3, (b) 5`; None where a part has no label of its own, or states nothing."""
    labels = [label for label in find_part_labels(text) if label[0] in asked.parts]
    last = {letter: (start, end) for letter, start, end in labels}
    if "".join(sorted(last, key=lambda letter: last[letter])) != asked.parts:
        return None
    starts = [*(_sentence_start(text, last[letter][0]) for letter in asked.parts[1:]), len(text)]
    values = [
        _find_stated(text[last[letter][1] : end].strip(" *:,.\n"), mode, asked._replace(parts=""))
        for letter, end in zip(asked.parts, starts, strict=True)
    ]
    return (
        ", ".join(f"({letter}) {last_side(value)}" for letter, value in zip(asked.parts, values, strict=True) if value)
        if all(values)
        else None
    )


def _sentence_start(text: str, place: int) -> int:
    return max(text.rfind("\n", 0, place), text.rfind(". ", 0, place)) + 1


def _join_lines(formula: re.Match[str]) -> str:
    """A display formula on one line; any other as it stands, for two prices enclose a formula as well."""
    if not formula[0].startswith(("$$", "\\[")):
        return formula[0]
    return f"{formula[0][:2]}{' '.join(formula[0][2:-2].split())}{formula[0][-2:]}"


_AFTERWORD = re.compile(
    r"\n[#*_>\s-]{0,8}(?:(?:quick|sanity|double)[\s-])?(?:check|verification|verify|notes?|remarks?|footnotes?|references?|explanation|fun\sfact|bonus|tip|key\stakeaway|(?:you|we|one)\scan\salso|equivalently|alternative(?:ly)?|another\sway|(?:second\s)?method\s(?:2|two)|aside|p\.?\s?s)\b",
    re.IGNORECASE,
)
"""What opens a last section that adds to an answer: a check, notes, another way."""
_EXPLAINS = re.compile(
    r"\W*(?:why\b|how so\b|because\b|reason|explanation|proof\b|justification|derivation|details|here(?:'s|\sis)\s(?:how|why|the|my)|(?:let me|to)\s(?:explain|show|justify|see)\b)",
    re.IGNORECASE,
)
"""What comes after an answer that is explained."""
_FOOTNOTE = re.compile(r"\n[ \t]*(?:\[(\d{1,2})\]|\\\*|[¹²³⁴⁵⁶⁷⁸⁹](?=\s))[^\n]*")


def _drop_afterword(text: str) -> str:
    """The text without a last section that checks, notes or derives again what stands before it, unless that section concludes or finds fault."""
    for opening in _AFTERWORD.finditer(text):
        rest = text[opening.start() :]
        if not (
            any(sentence and _CONCLUSION.search(sentence) for sentence in SENTENCE.split(rest))
            or CORRECTED.search(rest)
            or _REJECTION.search(rest)
            or _SECOND_LOOK.search(rest)
        ):
            return text[: opening.start()]
    return text


def _drop_footnotes(text: str) -> str:
    """The text without footnotes and without the numbers in brackets that point to them."""
    notes = list(_FOOTNOTE.finditer(text))
    if not notes or not text[: notes[0].start()].strip():
        return text
    text = _FOOTNOTE.sub("", text)
    return (
        re.sub(rf"\s?\[(?:{'|'.join(note[1] for note in notes if note[1])})\]", "", text)
        if any(note[1] for note in notes)
        else text
    )


_ENDS_IN_LABEL = re.compile(
    r"(?:^|\n)[#* >]{0,8}(?:the\s)?(?:final\s)?(?:answer|result)s?[*: ]{0,8}\s*\Z|<((?:final[_ -]?)?answer)>\s*(?:</\1>)?\s*\Z",
    re.IGNORECASE,
)
"""A label or a heading with nothing after it: the response was cut off."""
_CLOSING = re.compile(r"(?![-*•+#>|]\s|\d+[.)]\s)[^:]*[^\W\d_]{2,}\s[^:]*[^\W\d_]{2,}\s.*[.!]\**\Z", re.DOTALL)
"""A sentence with words, which ends."""
_PROVED = re.compile(
    r"(?:\s*(?:\$?\\(?:blacksquare|square|qed|Box|diamond)\$?|[∎■□◇♦]|Q\.?\s?E\.?\s?D\.?|[\[(]\d{1,3}\s(?:marks?|points?|pts)[\])]))+[ \t]*(?=\n|\Z)"
)
"""What ends a proof, and the marks that it earns."""
_RULE = re.compile(r"(?:\s*\n\s*[-*_=#]{2,}\s*)+\Z")
"""Lines across the page at a text's end."""
_PICTURES = re.compile("[\u2600-\u27bf\U0001f000-\U0001faff\ufe0f]+(?P<ends>\\s{1,3}(?=[A-Z(]))?")


def _drop_pictures(text: str) -> str:
    """The text without emoji; one before a capital ends a sentence."""
    return _PICTURES.sub(lambda match: "\n" if match["ends"] else "", text)


_ASIDE = re.compile(
    r"\b(?:let me know|feel free|if you (?:have|need|want|would|like)|ask away|hope (?:this|that|it)|(?:happy|glad) to help|any (?:other |more )?questions)\b"
    r"|^\W*(?:note|tip|fun fact|bonus|reminder|explanation|reasoning|justification|remark|check|verification|verify|hint|p\.?\s?s\.?|probe|vérification|comprobación|verifica|проверка|检验|验证|検算|검산)\b"
    r"|^\W*(?:(?:as|for)\s(?:an?\s)?)?(?:[a-z']+[\s-]){0,2}(?:check|verification|verify|verif(?:y|ies)\sthat|confirms)\b(?!.*\b(?:so|thus|hence|therefore)\b)"
    r"|^\W*now\s(?:try|you)\b|^\s*\([^()]*\)[.\s]*$|^\W*$",
    re.IGNORECASE,
)


def _may_state(sentence: str) -> bool:
    """Whether a sentence may give the answer, or take it back: it is no aside and holds a value, a word that it states, or a doubt."""
    if _is_aside(sentence):
        return False
    speaks = (
        _VALUE.search(sentence)
        or YES_OR_NO.search(sentence)
        or CHOSEN.search(sentence)
        or _ONE_CHOICE.fullmatch(sentence)
    )
    doubts = is_hedged(sentence) or DENIED.search(sentence) or CORRECTED.search(sentence)
    return (
        bool(speaks or doubts) or find_stated_value(sentence) is not None or _ONE_NAME.fullmatch(sentence) is not None
    )


def _is_aside(sentence: str) -> bool:
    """Whether a sentence is a note, a check, a question, in brackets, speaks to the reader, or cheers: it states no answer."""
    cheers = sentence.rstrip().endswith("!") and not re.search(
        r"[\d$\\]|^(?:yes|no|true|false)\b", sentence, re.IGNORECASE
    )
    return cheers or sentence.rstrip().endswith("?") or _ASIDE.search(sentence) is not None


def _concludes(sentence: str) -> bool:
    """Whether a sentence presents its value as the result: it begins with "so", ends in "is 5", sets a value in bold, or holds no other."""
    sentence = drop_asides(sentence)
    marks = _CONCLUSION.search(sentence) or _ENDS_WITH_VALUE.search(sentence) or YES_OR_NO.fullmatch(sentence)
    return (
        marks is not None
        or CHOSEN.search(sentence) is not None
        or NAMED_LAST.search(sentence) is not None
        or find_bold_value(sentence) is not None
        or len(_VALUE.findall(COMPOUND.sub("0", sentence))) == 1
    )


def _closes(end: str, sentence: str) -> bool:
    """Whether a sentence of prose is the last thing said: no line of a list, and nothing after it."""
    return _CLOSING.match(end.strip()) is not None and sentence.strip("* ") in end


def _cut_off(text: str) -> bool:
    """Whether a response ends in the middle of a formula, or of a sentence."""
    rest = PRICE.sub("", FORMULA.sub(" 0", AMOUNT.sub("", text.replace(r"\$", ""))))
    return (
        rest.count("$") % 2 == 1
        or rest.count(r"\[") > rest.count(r"\]")
        or bool(_CUT.search(rest.rstrip().rstrip("*_")) or DANGLING.search(rest))
    )


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
