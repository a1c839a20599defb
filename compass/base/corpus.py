"""What the tiny policy is pre-trained on: generated problems, worked out with care at first, then with a mix of habits.

The report starts from a model that solves many problems in one of several samples, but few at the first try. The corpus
makes such a policy on purpose. First it teaches to write out the steps; then it shows solutions of which most are guesses
and some have errors. Writing out the steps works better and is rarer, so RL has something to find.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from compass.settings import Pretrain
from compass.sources.tiny_problems import LARGEST_TOTAL, LEVELS, Problem, Step, apply, draw_problem, worked_solution

_LARGEST_SLIP = 3


def worked(*, seed: int) -> Iterator[tuple[str, str]]:
    """Endless (problem, worked solution) pairs, all correct; never a chain of operations that a benchmark contains."""
    rng = random.Random(f"tiny-worked/{seed}")
    while True:
        problem = draw_problem(rng, rng.choice(LEVELS), held_out=False)
        yield problem.text, problem.solution


def habits(settings: Pretrain, *, seed: int) -> Iterator[tuple[str, str]]:
    """Endless (problem, solution) pairs in the mix of habits of `settings`; never a benchmark's chain either."""
    rng = random.Random(f"tiny-habits/{seed}")
    while True:
        problem = draw_problem(rng, rng.choice(LEVELS), held_out=False)
        yield problem.text, solve(rng, problem, settings)


def solve(rng: random.Random, problem: Problem, settings: Pretrain) -> str:
    """One solution of `problem`, in a habit drawn by its share."""
    habit = rng.random()
    if habit < settings.guesses:
        return guess(rng, problem, settings.guess_error)
    if habit < settings.guesses + settings.careful:
        return problem.solution
    return sloppy(rng, problem, settings.sloppy_error)


def guess(rng: random.Random, problem: Problem, error: float) -> str:
    """The bare boxed answer, near the truth rather than right with chance `error`."""
    answer = problem.answer
    if rng.random() < error:
        answer = _slip(rng, answer)
    return worked_solution((), answer)


def sloppy(rng: random.Random, problem: Problem, error: float) -> str:
    """A worked solution in which each result is wrong with chance `error`; the next steps continue from it."""
    total = problem.steps[0].before
    equations = []
    for step in problem.steps:
        after = apply(step.kind, total, step.operand)
        if after is None:
            # A slip made the division impossible, or the total too large: continue as if nothing had happened.
            total, after = step.before, step.after
        if rng.random() < error:
            after = _slip(rng, after)
        equations.append(Step(total, step.kind, step.operand, after).equation)
        total = after
    return worked_solution(equations, total)


def _slip(rng: random.Random, value: int) -> int:
    near = [value + by for by in range(-_LARGEST_SLIP, _LARGEST_SLIP + 1) if by]
    return rng.choice([other for other in near if 1 <= other <= LARGEST_TOTAL])
