"""Generated problems: their arithmetic is right, and the benchmarks' chains are never drawn for training."""

import random
import re

import pytest

from compass.sources.tiny_problems import LARGEST_TOTAL, LEVELS, SKILLS, draw_problem, is_held_out


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
