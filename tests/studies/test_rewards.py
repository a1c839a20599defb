from __future__ import annotations

import pytest

from compass.rl.reward_canary import CANARIES
from studies import rewards


def share_right(function, response: str, gold: str = "7", problems: int = 2000) -> float:
    return sum(function("", response, gold, {"id": str(number)})["acc"] for number in range(problems)) / problems


@pytest.mark.parametrize("percent", [1, 5, 20])
def test_noise_turns_its_share_of_verdicts_in_one_direction(percent: int) -> None:
    positives = getattr(rewards, f"false_positives_{percent}")
    negatives = getattr(rewards, f"false_negatives_{percent}")
    assert share_right(positives, r"\boxed{8}") == pytest.approx(percent / 100, rel=0.3)
    assert share_right(positives, r"\boxed{7}") == 1
    assert 1 - share_right(negatives, r"\boxed{7}") == pytest.approx(percent / 100, rel=0.3)
    assert share_right(negatives, r"\boxed{8}") == 0


def test_noise_is_of_the_response_and_stays() -> None:
    paid = [rewards.false_positives_20("", rf"\boxed{{{8 + n}}}", "7", {"id": "a"})["score"] for n in range(50)]
    assert set(paid) == {1.0, -1.0}
    assert paid == [rewards.false_positives_20("", rf"\boxed{{{8 + n}}}", "7", {"id": "a"})["score"] for n in range(50)]


def test_a_fifth_of_the_golds_is_in_each_form_and_the_verifier_reads_all() -> None:
    golds = [rewards.rewrite_gold("7", {"id": str(number)}) for number in range(2000)]
    assert {gold: golds.count(gold) / 2000 for gold in golds} == pytest.approx(
        dict.fromkeys(["7", "7.0", r"\frac{14}{2}", "7 pieces", "$x = 7$"], 0.2), abs=0.03
    )
    assert share_right(rewards.verifier, "3+4=7\n\\boxed{7}", problems=100) == 1
    assert share_right(rewards.verifier, r"\boxed{8}", problems=100) == 0
    assert share_right(rewards.exact_match, "3+4=7\n\\boxed{7}") == golds.count("7") / 2000
    assert rewards.rewrite_gold("0.5", {"id": "1"}) == "0.5"


@pytest.mark.parametrize("name", ["verifier", "math_verify", "exact_match"])
@pytest.mark.parametrize(("response", "gold"), [(response, gold) for response, gold, known in CANARIES if known < 0])
def test_no_grader_pays_a_wrong_or_hostile_answer(name: str, response: str, gold: str) -> None:
    if name == "math_verify":
        pytest.importorskip("math_verify", reason="pip install 'math-verify[antlr4_9_3]'")
    assert getattr(rewards, name)("", response, gold, {"id": "canary"}) == {"score": -1.0, "acc": 0.0}
