"""What a continuation has in common with the end that was hidden."""

import pytest

from compass.evaluation.memorised import overlap, split_problem

PROBLEM = "Find the number of ways to place 4 rooks on a board so that no two of them attack each other and one of them stands in a corner."


@pytest.mark.parametrize("shown", [80, 60, 40])
def test_a_problem_is_split_between_words_and_nothing_is_lost(shown: int) -> None:
    beginning, end = split_problem(PROBLEM, shown)
    assert f"{beginning} {end}" == PROBLEM
    assert shown / 100 - 0.01 < len(beginning) / len(PROBLEM) < shown / 100 + 0.1


@pytest.mark.parametrize("problem", ["What is 3 plus 4?", "", "abcdefghij" * 9, "Find x. " + "y" * 90])
def test_an_end_that_could_be_guessed_is_not_asked_for(problem: str) -> None:
    assert split_problem(problem, 60)[1] == ""


@pytest.mark.parametrize(
    ("continuation", "completed", "rouge"),
    [
        ("a b c d", True, 1.0),
        (" a b\n c  d and more", True, 1.0),
        ("a b c", False, 0.75),
        ("a x c d", False, 0.75),
        ("x a b c d", False, 0.75),
        ("d c b a", False, 0.25),
        ("", False, 0.0),
    ],
)
def test_the_first_words_are_compared_in_their_order(continuation: str, completed: bool, rouge: float) -> None:
    assert overlap("a b c d", continuation) == (completed, rouge)
