"""The reward that verl calls for every response."""

import pytest

from compass.rl.reward_function import compute_score


def test_a_right_answer_pays_and_the_problem_id_travels_with_it() -> None:
    assert compute_score("tiny", r"\boxed{12}", "12", {"id": "abc"}) == {
        "score": 1.0,
        "acc": 1.0,
        "pred": "12",
        "outcome": "equal",
        "method": "text",
        "leaned": "",
        "problem_id": "abc",
    }


def test_the_question_reaches_the_verifier() -> None:
    question = r"Simplify $\sqrt{50}+\sqrt{18}$."
    copied = r"\boxed{\sqrt{50}+\sqrt{18}}"
    assert compute_score("tiny", copied, r"8\sqrt{2}", {"question": question})["score"] == -1.0
    assert compute_score("tiny", r"\boxed{8\sqrt2}", r"8\sqrt{2}", {"question": question})["score"] == 1.0


def test_what_a_right_verdict_leans_on_travels_with_it() -> None:
    assert compute_score("tiny", r"\boxed{x = 12\text{ cm}}", "12")["leaned"] == "unit,name"
    assert compute_score("tiny", r"\boxed{13\text{ cm}}", "12")["leaned"] == ""


def test_alternatives_and_a_tolerance_reach_the_verifier() -> None:
    import numpy as np

    info = {"alternatives": np.array(["7"], dtype=object), "tolerance": "0.1"}
    paid = [compute_score("tiny", rf"\boxed{{{answer}}}", "12", info)["score"] for answer in ("12", "7", "12.05", "9")]
    assert paid == [1.0, 1.0, 1.0, -1.0]
    assert compute_score("tiny", r"\boxed{12.05}", "12", info)["leaned"] == "tolerance"
    assert compute_score("tiny", r"\boxed{7}", "12", {"alternatives": [], "tolerance": ""})["score"] == -1.0


def test_a_wrong_answer_costs() -> None:
    result = compute_score("tiny", r"\boxed{13}", "12", {"id": "abc"})
    assert (result["score"], result["acc"], result["pred"]) == (-1.0, 0.0, "13")


def test_a_problem_without_an_id_has_an_empty_one() -> None:
    assert compute_score("tiny", "", "12")["problem_id"] == ""
    assert compute_score("tiny", "", "12", {})["problem_id"] == ""


def test_a_defect_of_the_verifier_is_not_a_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**_: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("compass.rl.reward_function.judge", broken)
    with pytest.raises(ZeroDivisionError, match="a defect"):
        compute_score("math", r"\boxed{4}", "4", anything=2)
