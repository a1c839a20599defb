"""The options of a multiple-choice question, with letters or numbers as labels, and which of them an answer is.

A response may give an option's value where the gold is its letter, or its letter where the gold is the value; with the question at hand
both are the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from compass.verifier.reading.words import read_choice
from compass.verifier.verdict import Leniency, Outcome, Verdict
from compass.verifier.verify import verify

LONGEST = 4_000
"""Characters at a question's end in which options are looked for."""

_LABEL = re.compile(
    r"(?:(?<=[\s$}~])|^|(?<=quad))(?:\\text\w{0,2}\s?\{\s*)?\(?(?:(?P<letter>[A-J])[).:]|(?P<small>[a-j]|[1-9])\))(?:\s*\})?(?:\s|~|\\[ ,;]|(?=[-$\\\d]))"
)
_LABELLED = re.compile(r"\W{0,4}(?:\\text\w{0,2}\s?\{\s*)?\(?(?:([A-J])[).:]|([a-j]|[1-9])\))(?:\s*\})?\s*(?=\S)")
_SEVERAL = re.compile(r"^\W*[,;(]|^\W*(?:and|or)\b|\([A-Ja-j1-9]\)")
"""What follows a label where several options are given: `(2), (4)`."""
_ALPHABETS = ("ABCDEFGHIJ", "abcdefghij", "123456789")
_ENDS = re.compile(r"(?:\s|\\qquad|\\quad|\\\\|\\[ ,;]|~|[,;.$])+$")
_BEGINS = re.compile(r"^(?:\s|\\[ ,;]|~|\$(?=[^$]*$))+")


@lru_cache(maxsize=1024)
def read_options(question: str) -> dict[str, str]:
    """The options of a question by label, `A` (also for `a`) or `1`, in their order; empty where it has not at least two of them."""
    text = question[-LONGEST:]
    labels = list(_LABEL.finditer(text))
    return next(filter(None, (_read_options(text, labels, alphabet) for alphabet in _ALPHABETS)), {})


def _read_options(text: str, labels: list[re.Match[str]], alphabet: str) -> dict[str, str]:
    """The options whose labels are of one alphabet."""
    labels = [label for label in labels if _label_of(label) in alphabet]
    start = next((at for at in reversed(range(len(labels))) if _label_of(labels[at]) == alphabet[0]), None)
    if start is None:
        return {}
    found: dict[str, str] = {}
    for at, label in enumerate(labels[start : start + len(alphabet)]):
        if _label_of(label) != alphabet[at]:
            return {}
        following = labels[start + at + 1].start() if start + at + 1 < len(labels) else len(text)
        value = text[label.end() : following].split("\n\n")[0]
        found[_label_of(label).upper()] = _BEGINS.sub("", _ENDS.sub("", value)).strip()
    return found if len(found) > 1 and all(found.values()) else {}


def _label_of(label: re.Match[str]) -> str:
    return label["letter"] or label["small"]


def judge_option(
    gold: str, answer: str, question: str, check: Callable[[str, str, Verdict, str], Verdict]
) -> Verdict | None:
    """The verdict on an answer that gives the value of the option whose letter is the gold, or the other way round; None where they do not.

    Args:
        gold: a letter, or a value.
        answer: the other of them.
        question: with its options.
        check: the form of a value, its verdict and the question without its options to the final verdict.
    """
    letter, given = read_choice(gold), read_choice(answer)
    if (letter is None) == (given is None):
        return None
    options = read_options(question)
    if letter is None:
        return SAME_OPTION if given in options and verify(gold=gold, answer=options[given]).equal else None
    if [name for name, value in options.items() if verify(gold=value, answer=answer).equal] != [letter]:
        return None
    return check(options[letter], answer, SAME_OPTION, find_stem(question))


def find_option_by_text(answer: str, question: str) -> str | None:
    """The letter of the only option with the words of an answer, "that it opens downward"; None where there is none, and of fewer than two
    words."""
    given = _plain(answer).removeprefix("that ")
    if len(re.findall(r"[a-z]{2,}", given)) < 2:
        return None
    named = [letter for letter, text in read_options(question).items() if _plain(text) == given]
    return named[0] if len(named) == 1 else None


def _plain(text: str) -> str:
    """A text in lower case, without the signs that end it."""
    return " ".join(text.lower().split()).strip(" .$*")


class LabelledOption(NamedTuple):
    """An option that an answer gives with its label and a value."""

    label: str
    """As an answer: `(B)`, or `3`."""
    agrees: bool
    """Whether the value is that option's; else it is another's."""


def read_labelled_option(answer: str, question: str) -> LabelledOption | None:
    """The option of an answer such as `b) 11` or `(3) 13`; None where its value is no option's, or the answer is of another form."""
    labelled = _LABELLED.match(answer)
    if labelled is None or _SEVERAL.search(answer[labelled.end() :]):
        return None
    label, options = (labelled[1] or labelled[2]).upper(), read_options(question)
    named = [name for name, value in options.items() if verify(gold=value, answer=answer[labelled.end() :]).equal]
    if label not in options or not named:
        return None
    return LabelledOption(label if label.isdigit() else f"({label})", label in named)


SAME_OPTION = Verdict(Outcome.EQUAL, "text", "the question's option", (Leniency.CHOICE,))


def find_stem(question: str) -> str:
    """A question without its options."""
    text = question[-LONGEST:]
    label_of_first = next(iter(read_options(question)), "A")
    first = [label.start() for label in _LABEL.finditer(text) if _label_of(label).upper() == label_of_first]
    return question[: len(question) - len(text) + first[-1]] if first else question
