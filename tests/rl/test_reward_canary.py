from compass.rl.reward_canary import CANARIES
from compass.rl.reward_function import compute_score


def test_the_reward_function_passes_its_canaries() -> None:
    for response, gold, reward in CANARIES:
        assert compute_score("canary", response, gold, {"id": "x"})["score"] == reward, response


def test_the_problem_id_travels_with_the_reward() -> None:
    result = compute_score("tiny", r"\boxed{12}", "12", {"id": "abc"})
    assert (result["score"], result["acc"], result["problem_id"]) == (1.0, 1.0, "abc")
