"""Labelled answers of our own writing: what the verifier and the extraction must decide on any machine.

`known_error` marks a pair that the verifier gets wrong, and says why. When a change makes it right, take the mark off.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from compass.verifier import extract_answer, verify

DATA = Path(__file__).parents[1] / "data"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


PAIRS = rows("answer_pairs.jsonl")


def is_right(pair: dict[str, Any]) -> bool:
    return verify(gold=pair["gold"], answer=pair["answer"]).equal == pair["equal"]


@pytest.mark.parametrize("group", sorted({pair["group"] for pair in PAIRS}))
def test_pairs_of_a_group_are_decided_as_labelled(group: str) -> None:
    wrong = [pair for pair in PAIRS if pair["group"] == group and "known_error" not in pair and not is_right(pair)]
    assert wrong == []


def test_known_errors_are_still_errors() -> None:
    assert [pair for pair in PAIRS if "known_error" in pair and is_right(pair)] == []


@pytest.mark.parametrize("row", rows("responses.jsonl"), ids=lambda row: row["response"][:30])
def test_the_answer_is_taken_out_of_a_response(row: dict[str, Any]) -> None:
    answer = extract_answer(row["response"])
    if row["answer"] is None:
        assert answer is None
    else:
        assert answer is not None
        assert verify(gold=row["answer"], answer=answer).equal
