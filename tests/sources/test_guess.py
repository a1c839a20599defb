"""Settings guessed for a file that nobody described."""

from __future__ import annotations

from pathlib import Path

import pytest

from compass.sources import guess as guessing
from compass.sources.read import SourceError

PATH = Path("mine.jsonl")


def guess(name, path, rows):
    return guessing.guess(name, path, rows).source


@pytest.mark.parametrize("golds", [("6", "9"), ("B", "C"), (1, 2), ("(b)", "(c)")])
def test_alternatives_are_choices_where_the_golds_are_among_them(golds: tuple) -> None:
    texts = (["5", "6", "7"], ["7", "8", "9"])
    rows = [{"problem": f"{n}?", "answer": gold, "alternatives": texts[n]} for n, gold in enumerate(golds)]
    assert guess("mine", PATH, rows).options_field == "alternatives"


@pytest.mark.parametrize("others", [(["1/2", "50%"], ["2/1"]), (["1/2"], None)])
def test_alternatives_are_other_golds_where_they_are_not(others: tuple) -> None:
    """As in the project's own records."""
    rows = [{"problem": f"{n}?", "answer": gold, "alternatives": others[n]} for n, gold in enumerate(("0.5", "2"))]
    found = guess("mine", PATH, rows)
    assert (found.adapter, found.options_field, found.alternatives_field) == ("columns", "", "alternatives")


def test_one_character_is_told_as_one() -> None:
    rows = [{"problem": f"How much is {n}+1?", "answer": str(n + 1)} for n in range(3)]
    evidence = guessing.guess("mine", PATH, rows).evidence
    assert "median 1 character, for example '1'" in evidence["answer_field"]


def test_a_field_counts_once_any_row_fills_it():
    rows = [{"problem": None, "question": "", "prompt": "1?", "answer": None}, {"prompt": "2?", "answer": 0}]
    source = guess("mine", PATH, rows)
    assert (source.problem_field, source.answer_field, source.adapter) == ("prompt", "answer", "columns")


@pytest.mark.parametrize("number", [int, str])
def test_a_column_that_numbers_the_rows_is_no_gold(number: type) -> None:
    rows = [{"zahl": number(n), "aufgabe": f"What is {n} times 7?", "loesung": str(n * 7 % 10)} for n in range(1, 11)]
    assert guess("mine", PATH, rows).answer_field == "loesung"
    with pytest.raises(
        SourceError,
        match=r"several fields could be the gold or solution \(`zahl`, for example '1', `loesung`, for example '7'\)",
    ):
        guess("mine", PATH, rows[:9])


@pytest.mark.parametrize(
    ("ids", "field"), [((1, 2), "id"), ((1, 1), ""), ((1, None), ""), ((None, None), ""), ((), "")]
)
def test_ids_are_used_where_they_are_unique(ids, field):
    rows = [{"problem": "1?", "answer": "1"} | ({"id": ids[n]} if ids else {}) for n in range(2)]
    assert guess("mine", PATH, rows).id_field == field


def test_what_is_missing_is_named_with_the_fields_of_the_first_row():
    with pytest.raises(SourceError, match=r"mine\.jsonl: holds no rows"):
        guess("mine", PATH, [])
    with pytest.raises(SourceError, match="no field looks like a problem; found: words, answer"):
        guess("mine", PATH, [{"words": "one and one", "answer": "1"}])
    with pytest.raises(SourceError, match="no field looks like a gold or solution; found: problem"):
        guess("mine", PATH, [{"problem": "1?"}])


BEFORE = (
    "Solve the following math problem step by step. The last line of your response should be of the form Answer: $Answer "
    "(without quotes) where $Answer is the answer to the problem."
)
BEHIND = 'Remember to put your answer on its own line after "Answer:".'
ASKED = [f"Find the sum of {n} and {n + 3}. Give a whole number." for n in range(10)]


def published(*problems):
    rows = [{"problem": problem, "answer": str(number)} for number, problem in enumerate(problems)]
    return guessing.guess("mine", PATH, rows)


def test_instructions_around_nearly_every_problem_are_stripped_and_shown():
    found = published(*(f"{BEFORE}\n\n{text}\n\n{BEHIND}" for text in ASKED))
    assert found.source.strip_prefixes == [BEFORE]
    assert found.source.strip_suffixes == [BEHIND]
    lines = guessing.explain(found)
    assert any(line.startswith("  strip_prefixes: ['Solve the following") and "10 of 10" in line for line in lines)


@pytest.mark.parametrize(
    "asked",
    [
        "Give your answer in percent, rounded to a whole number.",
        "Round your answer to the nearest tenth.",
        "Answer in radians.",
        "Give your answer in km per hour.",
        "Express your answer as a power of 2.",
        "Your answer should be in terms of pi.",
        "Write the answer as a fraction in simplest form.",
    ],
)
def test_what_says_which_value_is_right_is_no_instruction(asked):
    found = published(*(f"{BEFORE} {text} {asked} {BEHIND}" for text in ASKED)).source
    assert (found.strip_prefixes, found.strip_suffixes) == ([BEFORE], [BEHIND])
    found = published(*(f"{text} Reason step by step. {asked}" for text in ASKED)).source
    assert (found.strip_prefixes, found.strip_suffixes) == ([], [])


@pytest.mark.parametrize("how", ["Let us think step by step.", "Put your final answer in \\boxed{} in the last line."])
def test_what_says_how_to_write_the_answer_is_an_instruction(how):
    assert published(*(f"{text} {how}" for text in ASKED)).source.strip_suffixes == [how]


def test_some_problems_may_lack_the_instruction():
    found = published(*(f"{BEFORE} {text}" for text in ASKED[:9]), "Find 3 + 4.").source
    assert (found.strip_prefixes, found.strip_suffixes) == ([BEFORE], [])


@pytest.mark.parametrize(
    "texts",
    [
        ASKED,  # "Give a whole number." says nothing about answering that all share and that could go
        [f"Solve the following equation. ${n}x = 3$" for n in range(10)],  # nothing is asked without it
        [f"Let $n = {n}$. What is the final digit of $n^2$?" for n in range(10)],
        [f"{BEFORE} {text}" for text in ASKED[:4]],  # too few rows to tell
        [f"{BEFORE} {text}" if n % 2 else text for n, text in enumerate(ASKED)],
    ],
)
def test_what_is_the_problems_own_stays(texts):
    found = published(*texts).source
    assert (found.strip_prefixes, found.strip_suffixes) == ([], [])


@pytest.mark.parametrize(("text", "field"), [("{}", ""), (r"Adding both gives \boxed{{{}}}.", "extra.solution")])
def test_a_field_that_repeats_the_golds_is_no_solution(text, field):
    golds = ["17", "4", "29", "8", "51"]
    rows = [
        {"problem": f"{n}?", "answer": gold, "extra": {"solution": text.format(gold)}} for n, gold in enumerate(golds)
    ]
    found = guess("mine", PATH, rows)
    assert (found.answer_field, found.solution_field) == ("answer", field)


COMMAS = ["2,25", "16,5", "0,75", "2.501,00", "12"]


@pytest.mark.parametrize(
    ("golds", "is_set"),
    [
        (COMMAS, True),
        ([*COMMAS, "1, 2"], False),
        ([*COMMAS, "(1,2)"], False),
        ([*COMMAS, "2.5"], False),
        ([*COMMAS, "1,200"], False),  # thousands in English
        (["3,5", "2,7", "1,4", "12", "-1,4"], False),  # two roots each, maybe
    ],
)
def test_a_decimal_comma_is_guessed_where_it_can_be_nothing_else(golds: list[str], is_set: bool) -> None:
    rows = [{"problem": f"How much is {n} times that?", "answer": gold} for n, gold in enumerate(golds)]
    found = guessing.guess("mine", PATH, rows)
    assert found.source.decimal_comma is is_set
    explained = "\n".join(guessing.explain(found))
    assert (
        "decimal_comma: True (4 of 5 sampled golds have a number with a comma, for example '2,25'" in explained
    ) is is_set
