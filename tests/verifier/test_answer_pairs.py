"""What equals what, kind of answer by kind of answer: `tests/data/answer_pairs.jsonl` is the specification of `verify`.

A row says whether an answer equals its gold, and where it matters by which `method`, with which `leniencies`, whether the outcome is
`unrecognised`, and that another verdict is right with gold and answer swapped (`one_way`). `known_error` marks a pair that the verifier
gets wrong, and says why; when a change makes it right, take the mark off.
"""

from __future__ import annotations

from typing import Any

import pytest

from compass.verifier import Leniency, Outcome, Verdict, reward, verify
from compass.verifier.comparing import sympy_client
from tests.conftest import data_rows

PAIRS = data_rows("answer_pairs.jsonl")
GROUPS = sorted({pair["group"] for pair in PAIRS})


def group_pairs(group: str) -> list[dict[str, Any]]:
    return [pair for pair in PAIRS if pair["group"] == group and "known_error" not in pair]


def decide(pair: dict[str, Any]) -> Verdict:
    return verify(gold=pair["gold"], answer=pair["answer"])


def is_right(pair: dict[str, Any], verdict: Verdict) -> bool:
    return (
        verdict.equal == pair["equal"]
        and verdict.method == pair.get("method", verdict.method)
        and list(verdict.leniencies) == pair.get("leniencies", list(verdict.leniencies))
        and (verdict.outcome is Outcome.UNRECOGNISED or not pair.get("unrecognised"))
    )


@pytest.fixture(autouse=True)
def _patient_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough processor time for sympy, whatever else the machine does."""
    monkeypatch.setattr(sympy_client, "SECONDS", 1.0)


@pytest.mark.parametrize("group", GROUPS)
def test_pairs_of_a_group_are_decided_as_labelled(group: str) -> None:
    for _ in range(2):  # the second time from cached trees
        assert [(pair, verdict) for pair in group_pairs(group) if not is_right(pair, verdict := decide(pair))] == []


@pytest.mark.parametrize("group", GROUPS)
def test_swapping_gold_and_answer_changes_nothing_but_rounding(group: str) -> None:
    for pair in group_pairs(group):
        there, back = decide(pair), verify(gold=pair["answer"], answer=pair["gold"])
        rounded = Leniency.ROUNDING in (*there.leniencies, *back.leniencies)
        assert rounded or (there.equal != back.equal) == ("one_way" in pair), pair


def is_paid(pair: dict[str, Any]) -> bool:
    return reward(rf"Thus \boxed{{{pair['answer']}}}", pair["gold"]) > 0


@pytest.mark.parametrize("group", GROUPS)
def test_an_answer_that_differs_earns_no_reward(group: str) -> None:
    assert [pair for pair in group_pairs(group) if not pair["equal"] and is_paid(pair)] == []


def test_known_errors_are_still_errors() -> None:
    assert [pair for pair in PAIRS if "known_error" in pair and decide(pair).equal == pair["equal"]] == []


@pytest.mark.parametrize(("gold", "answer"), [("1" * 4000, "5"), ("1" * 4001, "5"), ("5", "1" * 4001)])
def test_long_numbers_and_answers_are_over_the_budget(gold: str, answer: str) -> None:
    assert verify(gold=gold, answer=answer)[:2] == (Outcome.UNRECOGNISED, "budget")


def test_gold_and_answer_are_text_with_names_so_that_none_can_be_swapped() -> None:
    with pytest.raises(TypeError):
        verify("5", "5")  # type: ignore[misc]
    with pytest.raises(TypeError, match="gold and answer must be text, found str and int"):
        verify(gold="5", answer=5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="found NoneType and str"):
        verify(gold=None, answer="5")  # type: ignore[arg-type]
