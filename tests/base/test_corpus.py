"""The pre-training corpus: habits in their shares, slips that go on consistently, nothing of the benchmarks."""

import hashlib
import random
import re
from itertools import islice

import pytest

from compass.base.corpus import guess, habits, sloppy, solve, worked
from compass.settings import Pretrain
from compass.sources.tiny_problems import LARGEST_TOTAL, Problem, Step, draw_problem


def boxed(solution):
    return int(re.fullmatch(r"\\boxed\{(\d+)\}", solution.splitlines()[-1])[1])


def test_habits_have_their_shares():
    settings = Pretrain(guesses=0.5, careful=0.3)
    found = [solution for _, solution in islice(habits(settings, seed=1), 3_000)]
    assert abs(sum("\n" not in solution for solution in found) / len(found) - 0.5) < 0.03


def test_worked_solutions_end_in_the_answer_of_their_last_line():
    for _, solution in islice(worked(seed=0), 300):
        *lines, last = solution.splitlines()
        assert lines[-1].partition("=")[2] == str(boxed(last))


def test_a_guess_is_right_or_near_by_its_chance():
    rng = random.Random(0)
    problems = [draw_problem(rng, 3, held_out=False) for _ in range(1_000)]
    misses = [abs(boxed(guess(rng, p, 0.4)) - p.answer) for p in problems]
    assert abs(sum(m > 0 for m in misses) / len(misses) - 0.4) < 0.05
    assert max(misses) <= 3


def test_a_sloppy_solution_goes_on_from_its_slips_and_boxes_its_own_last_total():
    rng = random.Random(0)
    wrong = 0
    for _ in range(500):
        problem = draw_problem(rng, 4, held_out=False)
        *lines, last = sloppy(rng, problem, 0.3).splitlines()
        assert len(lines) == 4
        assert lines[-1].partition("=")[2] == str(boxed(last))
        assert 1 <= boxed(last) <= LARGEST_TOTAL
        wrong += boxed(last) != problem.answer
    assert 0.5 < wrong / 500 < 0.85


def ends_in(total):
    return Problem("tank", (Step(total - 1, "add", 1, total),), ("?",))


@pytest.mark.parametrize(
    ("answer", "slips"),
    [(15, {12, 13, 14, 16, 17, 18}), (1, {2, 3, 4}), (2, {1, 3, 4, 5}), (30, {27, 28, 29}), (28, {25, 26, 27, 29, 30})],
)
def test_a_slip_is_up_to_three_off_and_stays_a_total(answer, slips):
    rng = random.Random(0)
    assert {boxed(guess(rng, ends_in(answer), 1.0)) for _ in range(200)} == slips
    assert {boxed(guess(rng, ends_in(answer), 0.0)) for _ in range(20)} == {answer}


@pytest.mark.parametrize(
    ("guesses", "careful", "solution"),
    [(1.0, 0.0, "\\boxed{5}"), (0.0, 1.0, "4+1=5\n\\boxed{5}"), (0.0, 0.0, "4+1=6\n\\boxed{6}")],
)
def test_each_habit_has_its_form(guesses, careful, solution):
    settings = Pretrain(guesses=guesses, careful=careful, guess_error=0.0, sloppy_error=1.0)
    found = {solve(random.Random(seed), ends_in(5), settings) for seed in range(40)}
    assert solution in found
    assert all(("\n" in text) == ("\n" in solution) for text in found)
    if guesses or careful:
        assert found == {solution}


def test_a_slip_that_makes_the_next_operation_impossible_is_forgotten():
    problem = Problem("tank", (Step(9, "add", 1, 10), Step(10, "div", 5, 2)), ("?",))
    for seed in range(30):
        first, second, last = sloppy(random.Random(seed), problem, 1.0).splitlines()
        assert first != "9+1=10"
        assert second.startswith("10/5=")
        assert second.partition("=")[2] == str(boxed(last))


def test_every_machine_learns_from_the_same_corpus():
    """The tiny policy is compared across machines and versions: change what it learns from on purpose only."""
    pairs = [*islice(worked(seed=7), 50), *islice(habits(Pretrain(), seed=7), 50)]
    assert hashlib.sha256(repr(pairs).encode()).hexdigest()[:16] == "9ab47243ba1981c7"
