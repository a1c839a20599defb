"""Which part of a response is its own turn: what follows thinking, chat tokens and other speakers is left out."""

from __future__ import annotations

import re

MAX_LINES = 100
"""Places of each word in `_SPEAKERS` and `_PROBLEMS` that are looked at."""
_SPEAKERS = ("Human", "User", "Instruction", "Assistant", "human", "user", "HUMAN", "USER")
_PROBLEMS = ("Question", "Problem", "Exercise", "Q", "QUESTION", "PROBLEM", "Example")
_THOUGHT = re.compile(r"<(/?)think(?:ing)?>")
_TOKEN = re.compile(
    r"<\|(?:im_end|im_start|endoftext|eot_id|end_of_text|begin_of_text|user|human|end)\|>|<(?:/s|end_of_turn|start_of_turn)>"
)
_CHANNELS = ("analysis", "<|channel|>", "<|start|>assistant<|channel|>")
"""What a response in the harmony format begins with, with and without its tokens."""
_FINAL_CHANNEL = re.compile(r"<\|channel\|>final[^<]{0,40}<\|message\|>|assistantfinal")
_LABEL_END = re.compile(r"(?:\s?\d{1,3})?\*{0,2}(?::|(?<=\d)\.)")
_LINE_START = re.compile(r"(?:^|\n)[#* >]{0,6}\Z")
_OWN_LABEL = re.compile(r"\A\s*[#*> ]{0,6}(?:Assistant|assistant|ASSISTANT)\*{0,2}:\*{0,2}\s*")
"""The name of the response's own speaker, which some models write first."""
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
    text = _OWN_LABEL.sub("", text)
    start = 0
    for token in _TOKEN.finditer(text):
        if text[start : token.start()].strip():
            text = text[start : token.start()]
            break
        start = token.end()
    return _drop_cut_repeat(text[: _next_turn(text)])


def _drop_cut_repeat(text: str) -> str:
    """The text without a last line or sentence that only begins the one before it: a loop that the length limit cut off."""
    for sign in ("\n", ". "):
        before, found, last = text.rstrip().rpartition(sign)
        previous = before.rstrip().rpartition(sign)[2]
        is_whole = last.lstrip().startswith("=") or (sign == ". " and last[-1:] in (".", "!", "?"))
        is_value = last[-1:].isdigit() and before.count(previous) < 2
        if found and last and not (is_whole or is_value) and previous.startswith(last) and previous != last:
            return before + found
    return text


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
