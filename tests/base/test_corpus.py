"""The pre-training corpus: habits in their shares, slips that go on consistently, nothing of the benchmarks."""

import random
import re
from itertools import islice

from compass.base.corpus import guess, habits, sloppy, worked
from compass.settings import Pretrain
from compass.sources.tiny_problems import LARGEST_TOTAL, draw_problem


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


def test_the_same_seed_gives_the_same_corpus_and_another_seed_another():
    first, again, other = (list(islice(habits(Pretrain(), seed=seed), 50)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


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


def test_without_slips_a_sloppy_solution_is_the_worked_one():
    rng = random.Random(0)
    problem = draw_problem(rng, 5, held_out=False)
    assert sloppy(rng, problem, 0.0) == problem.solution
