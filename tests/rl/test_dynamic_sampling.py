"""verl's replay buffer, bounded and recorded. The buffer here is a stand-in that shows what the sampler hands on."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compass.rl.mixed_groups import SaturatedError


class ReplayBuffer:
    """Keeps its arguments; `sample` polls once with what the test laid down."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.train_batch_size = arguments["train_batch_size"]
        self.partitions: dict[str, dict[str, dict]] = defaultdict(dict)
        self.finished_keys: dict[str, set[str]] = defaultdict(set)
        self.reasons: tuple = (set(), set(), set(), Counter())

    def sample(self, *, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict]:
        evicted = self._evict_terminal_groups(global_steps, partition_id, self.reasons)
        chosen = sorted(self.finished_keys[partition_id])[:batch_size]
        return self._materialize_batch(partition_id, chosen, self.partitions[partition_id]), {"evicted": evicted}

    def _materialize_batch(self, partition_id: str, selected_prompt_uids: list[str], partition_snapshot: dict) -> Any:
        return partition_id, selected_prompt_uids

    def _evict_terminal_groups(self, global_steps: int, partition_id: str, eviction_reasons: tuple) -> Any:
        return eviction_reasons[1]


@pytest.fixture
def sampler(tmp_path: Path, library: Any, load: Any) -> Any:
    def get(keys: list[str], partition_id: str, select_fields: list[str]) -> dict[str, list[Any]]:
        assert (partition_id, select_fields) == ("train", ["extra_fields"])
        scores = [
            {"reward_extra_info": {"score": 1 if key.endswith("0") else -1, "problem_id": key[:2]}} for key in keys
        ]
        # verl wraps some values; both shapes come up
        return {
            "extra_fields": [
                SimpleNamespace(data=score) if number % 2 else score for number, score in enumerate(scores)
            ]
        }

    library("verl.trainer.ppo.v1.replay_buffer", ReplayBuffer=ReplayBuffer)
    library("transfer_queue", kv_batch_get=get)
    options = {
        "max_generation_batches": "2",
        "rewards_file": str(tmp_path / "rewards.jsonl"),
        "train_batch_size": 2,
        "filter_groups_metric": "acc",
    }
    made = load("compass.rl.dynamic_sampling").GroupSampler(poll_interval=2.0, config="verl's", sampler_kwargs=options)
    made.options = options
    return made


def finish(sampler: Any, *names: str) -> None:
    """Let groups of two responses finish: the first right with 5 tokens, the second wrong with 6."""
    for name in names:
        sampler.finished_keys["train"].add(name)
        for number in range(2):
            sampler.partitions["train"][f"{name}_{number}"] = {"response_len": 5 + number}


def recorded(sampler: Any) -> list[dict]:
    return [json.loads(line) for line in sampler.rewards_file.read_text().splitlines()]


def test_verl_gets_its_own_options_and_a_short_poll(sampler: Any) -> None:
    assert sampler.arguments["train_batch_size"] == 2
    assert sampler.arguments["filter_groups_metric"] == "acc"
    assert sampler.arguments["config"] == "verl's"
    assert sampler.arguments["poll_interval"] == 0.05
    assert not {"max_generation_batches", "rewards_file"} & sampler.arguments.keys()
    assert sampler.max_generation_batches == 2
    assert "rewards_file" in sampler.options  # verl's configuration stays as it was


def test_every_finished_group_is_recorded_with_whether_it_was_used(sampler: Any) -> None:
    finish(sampler, "u1", "u2", "u3")
    sampler.partitions["train"]["u4_0"] = {"response_len": 9}  # its group is still running
    batch, metrics = sampler.sample(global_steps=7, partition_id="train", batch_size=2)
    assert batch == ("train", ["u1", "u2"])
    assert metrics == {"evicted": set()}
    assert recorded(sampler) == [
        {"step": 7, "id": name, "rewards": [1.0, -1.0], "tokens": [5, 6], "used": name != "u3"}
        for name in ("u1", "u2", "u3")
    ]


def test_each_iteration_starts_a_record_of_its_own(sampler: Any) -> None:
    finish(sampler, "u1")
    sampler.reasons = (set(), set(), set(), Counter({1.0: 3}))
    sampler.sample(global_steps=1, partition_id="train", batch_size=1)
    sampler.sample(global_steps=2, partition_id="train", batch_size=0)
    assert [(line["step"], line["used"]) for line in recorded(sampler)] == [(1, True), (2, False)]


def test_a_group_is_read_once_per_iteration(sampler: Any) -> None:
    finish(sampler, "u1")
    sampler._evict_terminal_groups(1, "train", sampler.reasons)
    sampler.partitions["train"].clear()  # reading it again would fail
    sampler._evict_terminal_groups(2, "train", sampler.reasons)
    assert sampler.groups["u1"]["step"] == 1


def test_validation_is_not_recorded(sampler: Any) -> None:
    sampler.finished_keys["val"].add("u1")
    sampler.partitions["val"]["u1_0"] = {"response_len": 5}
    sampler.sample(global_steps=1, partition_id="val", batch_size=1)
    assert recorded(sampler) == []


def test_a_saturated_iteration_stops_and_leaves_its_record(sampler: Any) -> None:
    finish(sampler, "u1")
    sampler.reasons = (set(), set(), set(), Counter({1.0: 5}))
    with pytest.raises(SaturatedError, match="iteration 4 threw away 5 groups"):
        sampler.sample(global_steps=4, partition_id="train", batch_size=1)
    assert [(line["id"], line["used"]) for line in recorded(sampler)] == [("u1", False)]


def test_what_one_iteration_throws_away_adds_up_over_its_polls(sampler: Any) -> None:
    reasons = (set(), set(), set(), Counter({0.0: 2}))
    sampler._evict_terminal_groups(1, "train", reasons)
    sampler._evict_terminal_groups(1, "train", reasons)
    with pytest.raises(SaturatedError, match="6 groups"):
        sampler._evict_terminal_groups(1, "train", reasons)
