from __future__ import annotations

import json

import pytest

from compass.settings import Collect, Source
from compass.sources.collect import collect, collect_benchmarks
from compass.sources.recast import recast

SQUARES = (
    r"The product of three consecutive positive integers is $8$ times their sum. What is the sum of their squares? "
    r"$\mathrm{(A)}\ 50 \qquad\mathrm{(B)}\ 77 \qquad\mathrm{(C)}\ 110$"
)


@pytest.mark.parametrize("answer", ["B", "(B)", r"\textbf{(B)}\ 77", "b", "77"])
def test_a_choice_among_values_becomes_an_open_question(answer):
    stem = (
        "The product of three consecutive positive integers is $8$ times their sum. What is the sum of their squares?"
    )
    assert recast(SQUARES, answer) == (stem, "77")


@pytest.mark.parametrize(
    ("stem", "options", "question", "gold"),
    [
        ("Find the sum below: $$30+40$$", ["$$60$$", "$$70$$", "$$80$$"], "Find the sum below: $$30+40$$", "70"),
        ("The marked price of the clock is", ["14%", "4%", "15%"], "The marked price of the clock is ____.", "4%"),
        ("If $3x = 7$, then $x=$ ( )", ["1", r"$\frac73$", "3"], "If $3x = 7$, then $x=$ ____.", r"\frac73"),
        (
            "How far apart are the towns A and B?",
            ["7 km", "600 m", "9 km"],
            "How far apart are the towns A and B?",
            "600 m",
        ),
    ],
)
def test_the_stem_stays_and_has_a_blank_where_it_breaks_off(stem, options, question, gold):
    problem = "\n".join([stem, *(f"({letter}) {option}" for letter, option in zip("ABC", options, strict=True))])
    assert recast(problem, "B") == (question, gold)


@pytest.mark.parametrize(
    ("problem", "answer"),
    [
        ("Which of the following numbers is prime?\n(A) 4\n(B) 5\n(C) 6", "B"),
        ("What number is closest to the square root of 10?\n(A) 3\n(B) 4\n(C) 5", "A"),
        ("What could be the perimeter of this triangle?\n(A) 3\n(B) 4\n(C) 5", "A"),
        ("What is left when uranium emits an alpha particle?\n(A) thorium-234\n(B) thorium-238\n(C) radium-214", "A"),
        ("What is the shape with four equal sides?\n(A) a square\n(B) a rhombus\n(C) a kite", "A"),
        ("What is one half as a number?\n(A) 0.5\n(B) 1/2\n(C) 2", "A"),  # two options are right
        ("What is two plus three, in all?\n(A) 4\n(B) 5\n(C) 6", "D"),
        ("What is two plus three, in all?\n(A) 4\n(B) 5\n(C) 6", "(B) 6"),  # the letter and the option disagree
        ("What is two plus three, in all?\n(A) 4\n(B) None of these\n(C) 6", "B"),
        ("What is two plus three, in all?", "B"),
        (
            "Find two numbers whose sum is 5: x and y are\n(A) $1$ and $5$\n(B) $2$ and $3$\n(C) $3$",
            "B",
        ),  # in which order?
    ],
)
def test_a_question_that_needs_its_options_is_left_alone(problem, answer):
    assert recast(problem, answer) is None


def test_the_record_holds_what_was_published_and_the_summary_counts_it(tmp_path):
    path = tmp_path / "s.jsonl"
    rows = [{"problem": SQUARES, "answer": "B"}, {"problem": "What is 2 + 3, in all?", "answer": "5"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = Source(name="s", path=str(path))
    found = collect([source], Collect(sources=[source], benchmarks=[], recast_choices=True))
    first, second = found.kept.to_pylist()
    assert (first["answer"], first["published_answer"], first["original"]) == ("77", "B", SQUARES)
    assert second["published_answer"] is None
    assert found.sources["s"]["recast"] == 1
    off = collect([source], Collect(sources=[source], benchmarks=[]))
    assert off.kept["answer"].to_pylist() == ["B", "5"]
    assert "recast" not in off.sources["s"]
    benchmark = collect_benchmarks([source], Collect(sources=[], benchmarks=[source], recast_choices=True))
    assert benchmark.kept["problem"].to_pylist()[0] == SQUARES
