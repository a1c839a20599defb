"""Known answers, straight to the reward function and through verl's reward manager."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from compass.rl.reward_canary import CANARIES, RewardCanaryError, reward_canary
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

    def __init__(self, reward: Any) -> None:
        self.reward = reward

    async def run_single(self, data: Any) -> dict[str, Any]:
        tokens = data.tensors["responses"][0].tolist()
        assert data.tensors["attention_mask"].tolist() == [[1] * (1 + len(tokens))]
        assert data.tensors["prompts"].tolist() == [[EOS]]
        text = "".join(chr(token) for token in tokens if token != EOS)
        gold = data.arrays["reward_model"][0]
        assert gold["style"] == "rule"
        score = self.reward(data.arrays["data_source"][0], text, gold["ground_truth"], data.arrays["extra_info"][0])
        return {"reward_extra_info": {"score": score}}


@pytest.fixture
def canary(library: Any) -> Any:
    def run(reward: Any) -> None:
        class DataProto:
            @staticmethod
            def from_dict(tensors: dict, non_tensors: dict) -> Any:
                return SimpleNamespace(tensors=tensors, arrays=non_tensors)

        library("verl", DataProto=DataProto)
        library("verl.trainer.ppo.reward", load_reward_manager=lambda config, tokenizer: Manager(reward))
        reward_canary(SimpleNamespace(), Tokenizer())

    return run


def test_the_reward_function_passes_its_canaries() -> None:
    for response, gold, reward in CANARIES:
        assert compute_score("canary", response, gold, {"id": "x"})["score"] == reward, response
    assert RIGHT > WRONG


def test_the_canaries_pass_through_the_reward_manager(canary: Any) -> None:
    canary(lambda *scored: compute_score(*scored)["score"])


def test_a_reward_that_pays_for_anything_trains_nothing(canary: Any) -> None:
    told = rf"boxed\{{13\}}.*gold '12' got the reward {re.escape(f'{RIGHT:+g}')}, expected {WRONG:+g}; nothing was"
    with pytest.raises(RewardCanaryError, match=told):
        canary(lambda *_: RIGHT)


def test_a_reward_that_never_pays_trains_nothing(canary: Any) -> None:
    told = rf"boxed\{{12\}}.*got the reward {WRONG:+g}, expected {re.escape(f'{RIGHT:+g}')}"
    with pytest.raises(RewardCanaryError, match=told):
        canary(lambda *_: WRONG)
