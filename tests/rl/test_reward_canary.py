"""Known answers, straight to the reward function and through verl's reward manager."""

from types import SimpleNamespace
from typing import Any

import pytest

from compass.rl.reward_canary import CANARIES, reward_canary
from compass.rl.reward_function import compute_score

EOS = 999
RIGHT, WRONG = CANARIES[0][2], CANARIES[2][2]


class Tokenizer:
    """One token per character."""

    eos_token_id = EOS

    def __call__(self, text: str, *, return_tensors: str, add_special_tokens: bool) -> Any:
        import torch

        assert (return_tensors, add_special_tokens) == ("pt", False)
        return SimpleNamespace(input_ids=torch.tensor([[ord(character) for character in text]]))


class Manager:
    """A reward manager that decodes as verl's does, and then scores by `reward`."""

    def __init__(self, reward: Any, shape: Any = None) -> None:
        self.reward = reward
        self.shape = shape

    async def run_single(self, data: Any) -> dict[str, Any]:
        tokens = data.tensors["responses"][0].tolist()
        assert data.tensors["attention_mask"].tolist() == [[1] * (1 + len(tokens))]
        assert data.tensors["prompts"].tolist() == [[EOS]]
        text = "".join(chr(token) for token in tokens if token != EOS)
        gold = data.arrays["reward_model"][0]
        assert gold["style"] == "rule"
        assert data.arrays["extra_info"][0]["question"] == ""
        score = self.reward(data.arrays["data_source"][0], text, gold["ground_truth"], data.arrays["extra_info"][0])
        shaped = score + (self.shape(len(tokens)) if self.shape else 0.0)
        return {"reward_score": shaped, "reward_extra_info": {"score": score}}


@pytest.fixture
def canary(library: Any) -> Any:
    def run(reward: Any, shape: Any = None, buffer: int = 0, function: str = "") -> str | None:
        class DataProto:
            @staticmethod
            def from_dict(tensors: dict, non_tensors: dict) -> Any:
                return SimpleNamespace(tensors=tensors, arrays=non_tensors)

        library("verl", DataProto=DataProto)
        library("verl.trainer.ppo.reward", load_reward_manager=lambda config, tokenizer: Manager(reward, shape))
        overlong = SimpleNamespace(enable=buffer > 0, len=buffer, penalty_factor=0.5)
        shaping = SimpleNamespace(max_resp_len=60, overlong_buffer_cfg=overlong)
        custom = SimpleNamespace(reward_kwargs=SimpleNamespace(function=function))
        section = SimpleNamespace(reward_kwargs=shaping, custom_reward_function=custom)
        return reward_canary(SimpleNamespace(reward=section), Tokenizer())

    return run


def paid(*scored: Any) -> float:
    return compute_score(*scored)["score"]


def test_the_reward_function_passes_its_canaries() -> None:
    for response, gold, reward in CANARIES:
        assert compute_score("canary", response, gold, {"id": "x"})["score"] == reward, response
    assert RIGHT > WRONG


@pytest.mark.parametrize(
    ("reward", "answer", "found", "expected"), [(RIGHT, 13, RIGHT, WRONG), (WRONG, 12, WRONG, RIGHT)]
)
def test_a_reward_that_pays_for_anything_or_never_is_seen(
    canary: Any, reward: float, answer: int, found: float, expected: float
) -> None:
    assert canary(paid) is None
    message = canary(lambda *_: reward)
    assert f"boxed{{{answer}}}" in message
    assert f"got the reward {found:+g}, expected {expected:+g}" in message


def test_what_trains_is_compared_and_not_what_the_reward_function_returned(canary: Any) -> None:
    assert "got the reward +0, expected +1" in canary(paid, shape=lambda tokens: -1.0)


def test_a_users_reward_must_pay_the_right_answer_more_than_the_wrong_ones(canary: Any) -> None:
    assert canary(lambda *scored: 3.0 + 0.1 * paid(*scored), function="m:f") is None
    assert canary(lambda *scored: paid(*scored), lambda n: -0.5 * max(0, n - 40) / 20, 20, function="m:f") is None
    assert "'So the answer is \\\\boxed{13}' (gold '12') gets +1" in canary(lambda *scored: 1.0, function="m:f")


def test_the_penalty_of_long_responses_is_part_of_the_known_rewards(canary: Any) -> None:
    def shape(tokens: int) -> float:
        return min(0.0, -(tokens - 40) / 20 * 0.5)

    assert canary(paid, shape, buffer=20) is None
    assert "as long as allowed" in canary(paid, shape=None, buffer=20)  # shaping asked for, none applied
