import pytest

from compass.curation.decontamination import BenchmarkIndex
from compass.evaluation.similar import MOST, trained_rows
from compass.records import table
from compass.settings import Denoise

ITEM = "A baker sells round loaves to the hotel at the harbour and long loaves to the school. On Monday she earned 50 dollars with 14 loaves. How many were round?"
SIBLING = "A baker sells round loaves to the hotel at the harbour and long loaves to the school. On Friday she sold 21 loaves for 80 dollars. How many were long?"
OTHER = "What is the sum of the interior angles of a regular polygon with twelve sides, in degrees?"


def bench(*problems: str):
    rows = [
        {"id": f"i{n}", "source": "shop", "source_id": f"s{n}", "problem": text, "answer": "8"}
        for n, text in enumerate(problems)
    ]
    return {"shop": table(rows)}


def trained(*problems: str):
    return table([{"id": f"t{n}", "source": "web", "problem": text, "answer": "9"} for n, text in enumerate(problems)])


def test_a_sibling_with_other_numbers_is_found_where_decontamination_keeps_it():
    items = bench(OTHER, ITEM)
    assert BenchmarkIndex(items["shop"], Denoise()).search(SIBLING) == []
    assert trained_rows(trained("Who baked the bread?", SIBLING), items) == {"i1": ["t1"]}


@pytest.mark.parametrize(
    "problem",
    [
        "A baker sells 40 loaves per day. How many per week?",
        "How many loaves did the smith sell on Monday if 14 were round?",
    ],
)
def test_another_problem_of_the_same_field_is_not(problem):
    assert trained_rows(trained(problem), bench(ITEM)) == {}


def test_long_lists_are_cut():
    assert len(trained_rows(trained(*[ITEM] * (MOST + 5)), bench(ITEM))["i0"]) == MOST
