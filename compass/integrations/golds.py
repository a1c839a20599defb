"""The gold in a data set's field, which holds an answer or a whole solution: TRL's `solution`, GSM8K's `answer`."""

from __future__ import annotations

from typing import Any

from compass.sources.gold import from_solution, gold_answer
from compass.verifier import final_answer


def read_gold(value: Any) -> str:
    """The answer that a field gives; empty where it gives none.

    A text with a box, with `####` or with "The answer is" in its last line is a solution, as for the sources of problems; its boxes make one
    answer, as in a response.

    Args:
        value: a text, a number, a list of answers or None.
    """
    solved = from_solution(value) if isinstance(value, str) else ""
    return (final_answer(value) or solved) if solved else gold_answer(value)
