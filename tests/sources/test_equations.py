"""Worked solutions from published equations: what can be computed is written out, and nothing that the answer contradicts."""

import pytest

from compass.settings import Collect, Source
from compass.sources.collect import collect
from compass.sources.equations import worked_solution

TWO_NUMBERS = "Tom has 7 red apples and 2 green ones."


@pytest.mark.parametrize(
    ("equation", "problem", "answer", "lines"),
    [
        ("+ number0 number1", TWO_NUMBERS, "9", ["7+2=9"]),
        ("* + number0 number1 3.0", TWO_NUMBERS, "27", ["7+2=9", "9*3=27"]),
        ("- 2 number0", TWO_NUMBERS, "-5", ["2-7=-5"]),
        ("( 76.0 - 25.0 )", "", "51.0", ["76-25=51"]),
        ("X=((32.0+42.0)-35.0)", "", "39", ["32+42=74", "74-35=39"]),
        ("45*3=x", "", "135", ["45*3=135"]),
        ("2-3-4", "", "-5", ["2-3=-1", "-1-4=-5"]),
        ("2+3*4", "", "14", ["3*4=12", "2+12=14"]),
        ("20/2/5", "", "2", ["20/2=10", "10/5=2"]),
        ("1.5*3", "", "4.5", ["1.5*3=4.5"]),
        ("number0*2", "It costs $1,200.", "2,400", ["1200*2=2400"]),
    ],
)
def test_operations_stand_in_their_order_before_the_boxed_answer(equation, problem, answer, lines) -> None:
    assert worked_solution(equation, problem, answer).splitlines() == [*lines, f"\\boxed{{{answer}}}"]


@pytest.mark.parametrize(
    ("equation", "answer"),
    [
        ("+ number0 number1", "10"),  # another answer
        ("+ number0 number7", "9"),  # no such number
        ("70-x=27", "43"),  # the unknown does not stand alone
        ("10/3", "3.33"),  # no exact decimal
        ("1/0", "0"),
        ("+ number0", "7"),
        ("(7+2", "9"),
        ("7 2", "9"),
        ("7+2", "nine"),
        ("__import__('os')", "9"),
        ("", "9"),
        ("9", "9"),  # nothing is worked out
        ("(" * 150 + "1+1" + ")" * 150, "2"),
    ],
)
def test_what_is_no_arithmetic_or_gives_another_answer_makes_no_solution(equation, answer) -> None:
    assert worked_solution(equation, TWO_NUMBERS, answer) == ""


def test_a_source_with_equations_has_solutions(tmp_path) -> None:
    path = tmp_path / "words.csv"
    path.write_text(
        "question,answer,equation,solution\n"
        "How many are 7 apples and 2 apples?,9,+ number0 number1,\n"
        "How many are 3 pears and 4 pears?,7,+ number0 number1,Three and four are seven.\n"
    )
    source = Source(
        name="words",
        path=str(path),
        problem_field="question",
        equation_field="equation",
        solution_field="solution",
    )
    kept = collect([source], Collect(sources=[source], benchmarks=[])).kept
    assert kept.column("solution").to_pylist() == ["7+2=9\n\\boxed{9}", "Three and four are seven."]
