"""Equal answers brought together: duplicates that agree, rollouts that vote."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

from compass.verifier.verify import verify

Answer = TypeVar("Answer", bound=Hashable)


def same_answer(one: str, other: str) -> bool:
    """Whether the verifier calls two answers equal, the first taken as the gold."""
    return verify(gold=one, answer=other).equal


def group_equal(answers: Iterable[Answer], equal: Callable[[Answer, Answer], bool] = same_answer) -> list[int]:
    """A group for each answer, numbered in the order in which their first members come.

    An answer joins the first group whose first member it equals, letter by letter or by `equal(first member, answer)`.
    """
    firsts: list[Answer] = []
    known: dict[Answer, int] = {}
    for answer in (answers := list(answers)):
        if answer not in known:
            group = next((group for group, first in enumerate(firsts) if equal(first, answer)), len(firsts))
            if group == len(firsts):
                firsts.append(answer)
            known[answer] = group
    return [known[answer] for answer in answers]
