"""Scores with the golds of other copies of a benchmark."""

import pyarrow as pa

from compass.evaluation.benchmark_scores import benchmark_scores, score_other_golds
from compass.records import table
from compass.sampling.score import score_responses

ITEMS = [
    {"id": "a", "problem": "?", "answer": "2.5", "tolerance": "10%", "other_answer": "7.5"},
    {"id": "b", "problem": "?", "answer": "3", "other_answer": "3"},
]
ANSWERS = [("a", "2.6"), ("a", "7.4"), ("b", "3"), ("b", "4")]


def scored(items: list[dict]) -> pa.Table:
    rows = [
        {
            "id": name,
            "sample": number,
            "greedy": False,
            "response": rf"\boxed{{{answer}}}",
            "tokens": 1,
            "finish_reason": "stop",
        }
        for number, (name, answer) in enumerate(ANSWERS)
    ]
    golds = {item["id"]: item["answer"] for item in items}
    return score_other_golds(score_responses(pa.Table.from_pylist(rows), golds), table(items))


def test_each_response_is_held_against_the_other_gold_within_its_tolerance() -> None:
    assert scored(ITEMS)["correct_other"].to_pylist() == [False, True, True, False]
    assert benchmark_scores(scored(ITEMS))["other_gold"]["accuracy"] == 0.5
    assert benchmark_scores(scored(ITEMS))["accuracy"] == 0.25


def test_without_another_gold_for_every_problem_there_is_no_such_score() -> None:
    items = [ITEMS[0], {**ITEMS[1], "other_answer": None}]
    assert scored(items)["correct_other"].to_pylist() == [False, True, None, None]
    assert "other_gold" not in benchmark_scores(scored(items))
    assert "other_gold" not in benchmark_scores(scored(ITEMS).drop_columns("correct_other"))
