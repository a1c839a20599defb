"""Soft overlong punishment: what verl's reward manager takes from a reward under our configuration, by hand at every boundary."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from compass.rl.config import StagePaths, verl_config
from compass.rl.reward_canary import overlong_penalty
from compass.settings import RlStage
from tests.conftest import changed_stage

PATHS = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))
LONGEST, BUFFER, LARGEST = 48, 8, 0.6


class Tokenizer:
    """Says the same right answer whatever the tokens."""

    eos_token_id = 0

    def decode(self, tokens: Any, skip_special_tokens: bool) -> str:
        return r"\boxed{12}"


def stage(gpus: int = 0, **reward: Any) -> RlStage:
    values = {f"rl.reward.{name}": value for name, value in reward.items()}
    return changed_stage("tiny", {**values, "rl.resources.gpus": gpus})


def scored(settings: RlStage, lengths: list[int], longest: int = LONGEST) -> list[dict[str, Any]]:
    """Right responses of these lengths, through the manager that the stage's configuration names."""
    import numpy as np
    import torch
    from verl import DataProto
    from verl.trainer.ppo.reward import load_reward_manager

    config = verl_config("rl-1", settings, PATHS, seed=0)

    async def all_of_them() -> list[dict[str, Any]]:
        manager = load_reward_manager(config, Tokenizer())
        return [await manager.run_single(response(length)) for length in lengths]

    def response(length: int) -> DataProto:
        arrays = {
            "data_source": np.array(["tiny"], dtype=object),
            "reward_model": np.array([{"style": "rule", "ground_truth": "12"}], dtype=object),
            "extra_info": np.array([{"id": "x"}], dtype=object),
        }
        real = (torch.arange(longest)[None, :] < length).long()  # padded as in a batch
        batch = {
            "prompts": torch.tensor([[5]]),
            "responses": torch.ones(1, longest, dtype=torch.long),
            "attention_mask": torch.cat([torch.ones(1, 1, dtype=torch.long), real], dim=1),
        }
        return DataProto.from_dict(tensors=batch, non_tensors=arrays)

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        return loop.run_until_complete(all_of_them())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@pytest.mark.parametrize("gpus", [0, 1])
def test_the_penalty_grows_evenly_over_the_buffer(gpus: int) -> None:
    by_hand = {1: 0.0, 39: 0.0, 40: 0.0, 41: -0.075, 44: -0.3, 47: -0.525, 48: -0.6}
    found = scored(stage(gpus, overlong_buffer=BUFFER, overlong_penalty=LARGEST), list(by_hand))
    assert [float(one["reward_score"]) for one in found] == pytest.approx([1.0 + taken for taken in by_hand.values()])
    assert [overlong_penalty(length, LONGEST, BUFFER, LARGEST) for length in by_hand] == pytest.approx(
        list(by_hand.values())
    )


def test_what_groups_are_left_out_by_stays() -> None:
    (cut,) = scored(stage(overlong_buffer=BUFFER, overlong_penalty=3.0), [LONGEST])
    assert float(cut["reward_score"]) == pytest.approx(-2.0)
    assert (cut["reward_extra_info"]["acc"], cut["reward_extra_info"]["score"]) == (1.0, 1.0)


def test_without_a_buffer_no_length_costs() -> None:
    assert overlong_penalty(LONGEST, LONGEST, 0, LARGEST) == 0.0
    assert [float(one["reward_score"]) for one in scored(stage(), [1, LONGEST])] == [1.0, 1.0]


def test_a_users_function_is_shaped_as_well() -> None:
    ours = stage(function="examples.own_reward.reward:brief", overlong_buffer=BUFFER, overlong_penalty=LARGEST)
    assert [float(one["reward_score"]) for one in scored(ours, [40, 44])] == pytest.approx([1.0, 0.7])
