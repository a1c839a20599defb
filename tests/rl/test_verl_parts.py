"""verl's own replay buffer and reward manager under a stage's configuration. Only the queue, a service of its own, is a dictionary here."""

from collections import defaultdict
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compass.rl.config import StagePaths, verl_config
from compass.rl.guards.findings import read_findings
from compass.rl.reward_canary import reward_canary
from compass.settings import RlStage, load_settings
from compass.settings.guards import Guards, ShareGuard

TINY = load_settings(Path(__file__).parents[2] / "profiles/tiny.yaml").rl.stages["rl-1"]


def stage(**groups: dict[str, Any]) -> RlStage:
    """A stage with batches of two problems that tolerates one failed group per batch."""
    groups = {"data": {"batch_size": 2}, **groups}
    changed = {name: getattr(TINY, name).model_copy(update=values) for name, values in groups.items()}
    guards = Guards(failed_rollouts=ShareGuard(level="stop", limit=0.5))
    return TINY.model_copy(update={**changed, "guards": guards})


def configuration(folder: Path, settings: RlStage) -> Any:
    return verl_config("rl-1", settings, StagePaths(folder, folder / "train.parquet", folder), seed=0)


class Queue:
    """Tags and values by key, as verl's workers put them into the transfer queue."""

    def __init__(self) -> None:
        self.tags: dict[str, dict[str, Any]] = {}
        self.rewards: dict[str, float] = {}
        self.fresh = count(1)

    def group(self, name: str, rewards: list[float], status: str = "finished", **tag: str) -> None:
        self.tags[name] = {"is_prompt": True, "status": status, "global_steps": 1, **tag}
        for number, reward in enumerate(rewards):
            self.tags[f"{name}_{number}_0"] = {"response_len": 2}
            self.rewards[f"{name}_{number}_0"] = reward

    def refill(self, groups: int) -> None:
        for _ in range(groups):
            self.group(f"fresh{next(self.fresh)}", [1.0, -1.0])

    def kv_list(self, partition_id: str = "train") -> dict[str, dict[str, Any]]:
        return {partition_id: self.tags}

    def kv_clear(self, keys: list[str], partition_id: str) -> None:
        for key in keys:
            self.tags.pop(key, None)

    def kv_batch_get(self, keys: list[str], partition_id: str, select_fields: list[str]) -> dict[str, list[Any]]:
        every: dict[str, Callable[[str, float], Any]] = {
            "rm_scores": lambda key, reward: np.array([0.0, reward]),
            "responses": lambda key, reward: np.array([7, 0]),
            "extra_fields": lambda key, reward: {
                "reward_extra_info": {"acc": float(reward > 0), "leaned": "", "problem_id": key.split("_")[0]}
            },
        }
        values: dict[str, list[Any]] = defaultdict(list)
        for field in select_fields:
            values[field] = [every.get(field, lambda *_: 0)(key, self.rewards[key]) for key in keys]
        return values


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    import transfer_queue

    made = Queue()
    for name in ("kv_list", "kv_clear", "kv_batch_get"):
        monkeypatch.setattr(transfer_queue, name, getattr(made, name))
    return made


def buffer(folder: Path, queue: Queue, settings: RlStage) -> Any:
    """The replay buffer as verl's trainer builds it from the configuration."""
    from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

    trainer = SimpleNamespace(
        config=configuration(folder, settings), trainer_mode="sync", _add_prompts_to_generate=queue.refill
    )
    return PPOTrainerSync._build_replay_buffer(trainer)


@pytest.mark.parametrize("dynamic", [True, False])
def test_a_failed_group_is_never_trained_on_and_another_takes_its_place(
    tmp_path: Path, queue: Queue, dynamic: bool
) -> None:
    queue.group("failed", [1.0], status="failure", error="ValueError: no verdict", problem="p1")
    queue.group("mixed", [1.0, -1.0])
    sampler = buffer(tmp_path, queue, stage(rollout={"dynamic_sampling": dynamic}))
    batch, metrics = sampler.sample(global_steps=2, partition_id="train", batch_size=2)
    assert {key.split("_")[0] for key in batch.keys} == {"mixed", "fresh1"}
    assert metrics["guards/failed_groups"] == 1
    assert "failed" not in sampler.rewards_file.read_text()
    assert read_findings(sampler.findings.path) == []  # half a batch of two is tolerated


def test_groups_without_a_signal_are_replaced_where_dynamic_sampling_is_on(tmp_path: Path, queue: Queue) -> None:
    for name, rewards in {"easy": [1.0, 1.0], "hard": [-1.0, -1.0], "mixed": [1.0, -1.0]}.items():
        queue.group(name, rewards)
    batch, metrics = buffer(tmp_path, queue, stage()).sample(global_steps=2, partition_id="train", batch_size=2)
    groups = {key.split("_")[0] for key in batch.keys}
    assert groups <= {"mixed", "fresh1", "fresh2"}  # of three, verl takes any two
    assert groups.isdisjoint({"easy", "hard"})
    assert metrics["guards/zero_signal_share"] > 0


@pytest.mark.parametrize(("rollout", "asked"), [({}, 2), ({"refill": 1}, 1), ({"reproducible": True}, 1)])
def test_as_many_groups_are_asked_for_as_the_setting_says(
    tmp_path: Path, queue: Queue, rollout: dict[str, Any], asked: int
) -> None:
    queue.group("easy", [1.0, 1.0])
    queue.group("mixed", [1.0, -1.0])
    sampler = buffer(tmp_path, queue, stage(rollout=rollout))
    sampler.prompt_global_steps["train"] |= {"easy": 1, "mixed": 1, "fresh1": 1, "fresh2": 1}
    sampler.sample(global_steps=2, partition_id="train", batch_size=2)
    assert next(queue.fresh) == asked + 1


@pytest.mark.parametrize("overlong", [0, 8])
def test_known_answers_get_the_known_rewards_from_verls_reward_manager(
    tmp_path: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, overlong: int
) -> None:
    from transformers import AutoTokenizer

    from compass.rl import reward_function

    # room for every canary below the tokens that are penalised
    rollout = {"max_response_tokens": 200}
    config = configuration(tmp_path, stage(rollout=rollout, reward={"overlong_buffer": overlong}))
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    assert reward_canary(config, tokenizer) is None
    whole = reward_function.compute_score
    monkeypatch.setattr(
        reward_function, "compute_score", lambda *given, **named: whole(*given, **named) | {"score": -1.0}
    )
    assert "got the reward -1, expected +1" in str(reward_canary(config, tokenizer))
