"""The tiers before trees: text, plain numbers, words; and what is said of what cannot be read."""

from __future__ import annotations

import pytest

from compass.verifier import verify

TIERS = [
    ("5", "5", "equal", "text", "the same text"),
    ("5", "$5$", "equal", "text", "the same text"),
    ("", "5", "unrecognised", "text", "nothing to read"),
    ("5", "", "unrecognised", "text", "nothing to read"),
    ("5", "...", "unrecognised", "text", "nothing to read"),
    (r"\boxed{}", "5", "unrecognised", "text", "nothing to read"),
    ("5", r"\ldots", "unrecognised", "text", "nothing to read"),
    ("5", "5.0", "equal", "rational", "both are 5"),
    ("5", "6", "different", "rational", "5 against 6"),
    ("x=5", "5.0", "equal", "rational", "both are 5"),
    ("x=5", "y=5.0", "different", "structure", "equations in other variables"),
    ("x=5", "x=6", "different", "rational", "5 against 6"),
    (r"\alpha=5", "5.0", "equal", "rational", "both are 5"),
    ("xy=5", "5.0", "different", "structure", "relation against scalar"),
    ("50%", "50", "equal", "rational", "both are 50"),
    ("50%", "0.5", "equal", "rational", "both are 50"),
    ("0.5", "50%", "equal", "rational", "both are 50"),
    ("50%", "0.05", "different", "rational", "50 against 5"),
    ("50%", r"50^\circ", "different", "structure", "percent against degree"),
    (r"50^\circ", "50", "equal", "rational", "both are 50"),
    ("50%", "5000", "different", "rational", "50 against 5000"),
    ("5000%", "50", "equal", "rational", "both are 5000"),
    ("0.28%", "0.28", "different", "rational", "7/25 against 28"),
    ("14.29%", "1/7", "equal", "rational", "rounds to the gold 14.29"),
    ("1/7", "14.285714%", "equal", "rational", "14.285714 is 100/7 rounded"),
    ("14.28%", "1/7", "different", "rational", "357/25 against 100/7"),
    ("A", "(A)", "equal", "text", "choice A"),
    ("A", "B", "different", "algebra", "as rational functions"),
    ("A", "(b)", "different", "algebra", "as rational functions"),
    ("4:30 pm", "4:30 p.m.", "equal", "text", "times of day"),
    ("4:30 pm", "4:30 am", "different", "text", "times of day"),
    ("4:30 pm", "5 pm", "different", "text", "times of day"),
    ("even", "Even", "equal", "text", "the same words"),
    ("even", "odd", "different", "text", "other words"),
    ("May 5", "5 May", "equal", "text", "dates"),
    ("May 5", "May 6", "different", "text", "dates"),
    ("the even one", "even one", "equal", "text", "the same words"),
    (r"\{\}", r"\emptyset", "equal", "text", "the same text"),
    ("{}", r"\varnothing", "unrecognised", "text", "nothing to read"),
    ("no solution", r"\emptyset", "equal", "structure", "the same parts"),
    ("all real numbers", r"\mathbb{R}", "equal", "structure", "the same parts"),
    ("all real numbers", r"(-\infty,\infty)", "equal", "structure", "the same parts"),
    ("no solution", "5", "different", "structure", "0 values against one"),
    ("5#a b", "5#ab", "equal", "text", "the same but for spaces"),
    ("5#", "6#", "unrecognised", "structure", "cannot read '#'"),
    ("9^{9^{9^9}}", "1", "unrecognised", "budget", "a power too large to compute"),
    ("9^{9^{9^9}}x", "9^{9^{9^9}} x", "equal", "text", "the same text"),
    ("x!!!+", "x", "unrecognised", "structure", "something is missing"),
    ("1,2" + ",3" * 250, "5", "unrecognised", "structure", "more than 200 values"),
    ("1" * 4000, "5", "unrecognised", "budget", "a number of 4000 digits"),
    ("1" * 4001, "5", "unrecognised", "budget", "longer than 4000 characters"),
    ("5", "1" * 4001, "unrecognised", "budget", "longer than 4000 characters"),
]


@pytest.mark.parametrize(("gold", "answer", "outcome", "method", "detail"), TIERS)
def test_the_first_tier_that_can_decides(gold: str, answer: str, outcome: str, method: str, detail: str) -> None:
    assert verify(gold=gold, answer=answer)[:3] == (outcome, method, detail)


def test_gold_and_answer_must_be_text() -> None:
    with pytest.raises(TypeError, match="gold and answer must be text, found str and int"):
        verify(gold="5", answer=5)
    with pytest.raises(TypeError, match="found NoneType and str"):
        verify(gold=None, answer="5")
