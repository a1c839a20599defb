"""Equal answers brought together: duplicates that agree, rollouts that vote."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from compass.verifier.verify import verify


def same_answer(one: str, other: str) -> bool:
    """Whether the verifier calls two answers equal, the first taken as the gold."""
    return verify(gold=one, answer=other).equal


def group_equal(answers: Iterable[str], equal: Callable[[str, str], bool] = same_answer) -> list[int]:
    """A group for each answer, numbered in the order in which their first members come.

    An answer joins the first group whose first member it equals, letter by letter or by `equal(first member, answer)`.
    """
    firsts: list[str] = []
    known: dict[str, int] = {}
    for answer in (answers := list(answers)):
        if answer not in known:
            group = next((group for group, first in enumerate(firsts) if equal(first, answer)), len(firsts))
            if group == len(firsts):
                firsts.append(answer)
            known[answer] = group
    return [known[answer] for answer in answers]
