"""Whether a response takes its answer back or offers several."""

from __future__ import annotations

import re

from compass.verifier.extracting.announcements import find_announced
from compass.verifier.extracting.boxes import Box, find_boxes
from compass.verifier.extracting.languages import FOREIGN_REJECTED
from compass.verifier.extracting.sentences import SENTENCE, find_stated_value
from compass.verifier.verify import verify

REASONED = 5
"""Words between a box that is taken back and the next: with fewer, no reason was given, and the boxes are guesses in a row."""
_ITS = r"(?:(?:that|this|it|which)|(?:that|this|the|my)\s(?:\w+\s)?(?:answer|result|value|total|solution|check|work|calculation|reasoning)(?:\s(?:above|before|I\sgave|there))?)"
SECOND_LOOK = re.compile(
    r"(?:^|[.!?;:\n]\s{0,3})(?:but\s|no,?\s)?(?:wait|hold on|oops)(?=[,.!?…—–-]|\s(?:no|that|this|I|a (?:sec|moment|minute))\b)"
    r"|\b(?:let me|let's|I(?:'ll|\swill|\sneed to|\shave to|\sshould|\smust))\s(?:re-?(?:do|compute|calculate|think|start|consider|count)|(?:start|begin|try|think)\s(?:over|again))\b",
    re.IGNORECASE,
)
"""The writer looks again, or begins again."""
REJECTION = re.compile(
    rf"\b{_ITS}(?:'s|\s(?:is|was|looks|seems|must be))\s(?:\w+\s)?(?:wrong|incorrect|impossible|mistaken|off|not\s(?:right|correct|possible|what)|a mistake)\b"
    rf"|\b{_ITS}\s(?:can'?t|cannot|could\s?n[o']t)\sbe\s(?:right|correct|true|the answer|possible|it)\b"
    rf"|\b{_ITS}\s(?:fails|contradicts|(?:does\s?n[o']t|did\s?n[o']t)\s(?:work|fit|hold|check|match|satisfy|add up|make sense))\b"
    r"|\bI(?:'ve|\shave)?\s(?:made\s(?:a|an|some|the)\b.{0,20}\b(?:mistake|error|slip)|mis\w+|forgot|dropped|overlooked|missed|mixed\s(?:\w+\s)?up|swapped)\b"
    rf"|{FOREIGN_REJECTED}"
    r"|\b(?:disregard|ignore|scratch|forget)\s(?:that|this|it|(?:the|my)\s(?:above|previous|last|box|answer))\b",
    re.IGNORECASE,
)
"""What was said is wrong or fails, or the writer owns an error or withdraws it."""
_SUPPOSED = re.compile(r"\b(?:if|whether|hope|common|would|unless|in case)\b", re.IGNORECASE)
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


def takes_back(after: str, answer: str) -> bool:
    """Whether the text after an answer withdraws it and does not come back to it."""
    for found in REJECTION.finditer(after):
        low = max(after.rfind(mark, 0, found.start()) for mark in ".!?\n") + 1
        if not _SUPPOSED.search(after, low, found.end()):
            end = SENTENCE.search(after, found.end())
            return end is None or not _comes_back(after[end.end() :], answer)
    again = SECOND_LOOK.search(after)
    return again is not None and not _comes_back(after[again.end() :], answer)


def _comes_back(text: str, answer: str) -> bool:
    """Whether a text states an answer again, or ends in it."""
    value = answer.strip("$ ")
    if value not in text:
        return False
    stated = [one.value for one in find_announced(text)] + [box.content or "" for box in find_boxes(text)]
    stated += [find_stated_value(sentence) or "" for sentence in SENTENCE.split(text) if sentence and value in sentence]
    return any(one and same_answer(answer, one) for one in stated)


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


def same_answer(one: str, other: str) -> bool:
    """Whether two answers of one response are equal, whichever is taken for the gold."""
    return one == other or verify(gold=one, answer=other).equal or verify(gold=other, answer=one).equal
