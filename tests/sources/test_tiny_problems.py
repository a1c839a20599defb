"""Generated problems: their arithmetic is right, and the benchmarks' chains are never drawn for training."""

import random
import re

import pytest

from compass.sources.tiny_problems import (
    HELD_OUT_SHARE,
    LARGEST_TOTAL,
    LEVELS,
    SKILLS,
    Step,
    apply,
    draw_problem,
    is_held_out,
)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("held_out", [False, True])
def test_every_step_is_right_and_small(level, held_out):
    rng = random.Random(level)
    for _ in range(200):
        problem = draw_problem(rng, level, held_out=held_out)
        assert problem.level == level
        assert is_held_out(problem.steps) == held_out
        for step in problem.steps:
            left, right = step.equation.split("=")
            a, symbol, b = re.fullmatch(r"(\d+)([-+*/])(\d+)", left).groups()
            value = {"+": int(a) + int(b), "-": int(a) - int(b), "*": int(a) * int(b), "/": int(a) / int(b)}[symbol]
            assert value == int(right)
            assert 1 <= value <= LARGEST_TOTAL
        assert [s.after for s in problem.steps[:-1]] == [s.before for s in problem.steps[1:]]
        assert problem.solution.endswith(f"\\boxed{{{problem.answer}}}")


def test_the_text_holds_the_operands_in_order_and_nothing_is_left_to_fill_in():
    rng = random.Random(0)
    seen = set()
    for _ in range(600):
        problem = draw_problem(rng, rng.choice(LEVELS), held_out=False)
        operands = [problem.steps[0].before, *(step.operand for step in problem.steps)]
        assert [int(number) for number in re.findall(r"\d+", problem.text)] == operands
        assert "{" not in problem.text
        assert problem.text.endswith("?")
        assert len(problem.text.split()) >= 15
        seen.add(problem.skill)
    assert seen == set(SKILLS)


@pytest.mark.parametrize(
    ("kind", "total", "operand", "after"),
    [
        ("add", 28, 2, 30),
        ("add", 28, 3, None),
        ("sub", 5, 4, 1),
        ("sub", 5, 5, None),
        ("mul", 6, 5, 30),
        ("mul", 11, 3, None),
        ("div", 12, 4, 3),
        ("div", 12, 5, None),
        ("div", 30, 5, 6),
    ],
)
def test_totals_stay_between_1_and_the_largest(kind, total, operand, after):
    assert apply(kind, total, operand) == after


def test_about_one_chain_in_eight_is_held_out():
    """A hash of the operands decides, so that the same chain is held out in every story and for every seed."""
    chains = [(Step(start, "add", operand, start + operand),) for start in range(2, 102) for operand in range(2, 12)]
    assert sum(map(is_held_out, chains)) == 125 == len(chains) / HELD_OUT_SHARE
