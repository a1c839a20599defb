"""Rewards as verl's own manager gives them under a stage's configuration: known answers, and the penalty of long responses by hand."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from compass.rl import reward_function
from compass.rl.config import verl_config
from compass.rl.paths import StagePaths
from compass.rl.reward_canary import CANARIES, overlong_penalty, reward_canary
from compass.rl.reward_function import compute_score
from tests.conftest import changed_stage

PATHS = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))
LONGEST, BUFFER, LARGEST = 48, 8, 0.6
SHAPED = {"overlong_buffer": 20, "overlong_penalty": 0.5}
OWN = "examples.own_reward.reward:brief"


class Tokenizer:
    """One token per character."""

    eos_token_id = 999

    def __call__(self, text: str, *, return_tensors: str, add_special_tokens: bool) -> Any:
        assert (return_tensors, add_special_tokens) == ("pt", False)
        return SimpleNamespace(input_ids=torch.tensor([[ord(character) for character in text]]))

    def decode(self, tokens: Any, skip_special_tokens: bool) -> str:
        return "".join(chr(token) for token in tokens.tolist() if token != self.eos_token_id)


def config(longest: int = LONGEST, gpus: int = 0, **reward: Any) -> Any:
    values = {f"rl.reward.{name}": value for name, value in reward.items()}
    values |= {"rl.rollout.max_response_tokens": longest, "rl.resources.gpus": gpus}
    return verl_config("rl-1", changed_stage("tiny", values), PATHS, seed=0)


def scored(lengths: list[int], **settings: Any) -> list[dict[str, Any]]:
    """Right responses of these lengths, through the manager that the stage's configuration names."""
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    def response(length: int) -> DataProto:
        arrays = {
            "data_source": np.array(["tiny"], dtype=object),
            "reward_model": np.array([{"style": "rule", "ground_truth": "12"}], dtype=object),
            "extra_info": np.array([{"id": "x"}], dtype=object),
        }
        text = [*map(ord, r"\boxed{12}"), *[Tokenizer.eos_token_id] * LONGEST][:LONGEST]
        real = (torch.arange(LONGEST)[None, :] < length).long()  # padded as in a batch
        batch = {
            "prompts": torch.tensor([[5]]),
            "responses": torch.tensor([text]),
            "attention_mask": torch.cat([torch.ones(1, 1, dtype=torch.long), real], dim=1),
        }
        return DataProto.from_dict(tensors=batch, non_tensors=arrays)

    async def all_of_them() -> list[dict[str, Any]]:
        manager = load_reward_manager(config(**settings), Tokenizer())
        return [await manager.run_single(response(length)) for length in lengths]

    return asyncio.run(all_of_them())


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str | None]:
    """`canary(reward, **settings)`: what is found where the reward function pays so, and `applied` is what verl's manager reads."""

    def run(reward: Callable[[float], float], applied: dict[str, Any] | None = None, **settings: Any) -> str | None:
        def replaced(*given: Any, function: str = "", **named: Any) -> dict[str, Any]:
            judged = compute_score(*given, **named)
            return judged | {"score": reward(judged["score"])}

        from verl.trainer.ppo import reward as rewards

        load = rewards.load_reward_manager
        read = config(80, **(settings if applied is None else applied))
        with monkeypatch.context() as patch:
            patch.setattr(reward_function, "compute_score", replaced)
            patch.setattr(rewards, "load_reward_manager", lambda _, tokenizer: load(read, tokenizer))
            return reward_canary(config(80, **settings), Tokenizer())

    return run


def paid(score: float) -> float:
    return score


def test_the_reward_function_passes_its_canaries() -> None:
    for response, gold, reward in CANARIES:
        assert compute_score("canary", response, gold, {"id": "x"})["score"] == reward, response


@pytest.mark.parametrize(("reward", "answer", "found", "expected"), [(1.0, 13, "+1", "-1"), (-1.0, 12, "-1", "+1")])
def test_a_reward_that_pays_for_anything_or_never_is_seen(
    canary: Any, reward: float, answer: int, found: str, expected: str
) -> None:
    assert canary(paid) is None
    message = canary(lambda _: reward)
    assert f"boxed{{{answer}}}" in message
    assert f"got the reward {found}, expected {expected}" in message


def test_what_trains_is_compared_and_not_what_the_reward_function_returned(canary: Any) -> None:
    whole = {"overlong_buffer": 79, "overlong_penalty": 3.0}
    assert canary(paid, **whole) is None
    assert "expected +1; a reward that is wrong here" in canary(paid, applied=whole)


def test_the_penalty_of_long_responses_is_part_of_the_known_rewards(canary: Any) -> None:
    assert canary(paid, **SHAPED) is None
    assert "as long as allowed" in canary(paid, applied={}, **SHAPED)  # shaping asked for, none applied


def test_a_users_reward_must_pay_the_right_answer_more_than_the_wrong_ones(canary: Any) -> None:
    assert canary(lambda score: 3.0 + 0.1 * score, function=OWN) is None
    assert canary(paid, function=OWN, **SHAPED) is None
    assert "'So the answer is \\\\boxed{13}' (gold '12') gets +1" in canary(lambda _: 1.0, function=OWN)


@pytest.mark.parametrize("gpus", [0, 1])
def test_the_penalty_grows_evenly_over_the_buffer(gpus: int) -> None:
    by_hand = {10: 0.0, 39: 0.0, 40: 0.0, 41: -0.075, 44: -0.3, 47: -0.525, 48: -0.6}
    found = scored(list(by_hand), gpus=gpus, overlong_buffer=BUFFER, overlong_penalty=LARGEST)
    assert [float(one["reward_score"]) for one in found] == pytest.approx([1.0 + taken for taken in by_hand.values()])
    penalties = [overlong_penalty(length, LONGEST, BUFFER, LARGEST) for length in by_hand]
    assert penalties == pytest.approx(list(by_hand.values()))


def test_what_groups_are_left_out_by_stays() -> None:
    (cut,) = scored([LONGEST], overlong_buffer=BUFFER, overlong_penalty=3.0)
    assert float(cut["reward_score"]) == pytest.approx(-2.0)
    assert (cut["reward_extra_info"]["acc"], cut["reward_extra_info"]["score"]) == (1.0, 1.0)


def test_without_a_buffer_no_length_costs() -> None:
    assert overlong_penalty(LONGEST, LONGEST, 0, LARGEST) == 0.0
    assert [float(one["reward_score"]) for one in scored([10, LONGEST])] == [1.0, 1.0]


def test_a_users_function_is_shaped_as_well() -> None:
    found = scored([40, 44], function=OWN, overlong_buffer=BUFFER, overlong_penalty=LARGEST)
    assert [float(one["reward_score"]) for one in found] == pytest.approx([1.0, 0.7])
