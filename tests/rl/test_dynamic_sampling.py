"""verl's replay buffer, bounded and recorded. The buffer here is a stand-in that shows what the sampler hands on."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compass.rl.guards.findings import GuardError, read_findings
from compass.rl.mixed_groups import SaturatedError
from compass.rl.notice import Noticed
from compass.rl.progress import read_progress
from compass.settings.guards import Guards, ShareGuard


class ReplayBuffer:
    """Keeps its arguments; `sample` polls once with what the test laid down."""

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self.train_batch_size = arguments["train_batch_size"]
        self.refill_fn = arguments["refill_fn"]
        self.prompt_global_steps: dict[str, dict[str, int]] = defaultdict(dict)
        self.partitions: dict[str, dict[str, dict]] = defaultdict(dict)
        self.finished_keys: dict[str, set[str]] = defaultdict(set)
        self.failure_keys: dict[str, set[str]] = defaultdict(set)
        self.reasons: tuple = (set(), set(), set(), Counter())

    def sample(self, *, global_steps: int, partition_id: str, batch_size: int) -> tuple[Any, dict]:
        reasons = self._terminal_eviction_reasons(global_steps, partition_id)
        evicted = self._evict_terminal_groups(global_steps, partition_id, reasons)
        chosen = sorted(self.finished_keys[partition_id])[:batch_size]
        return self._materialize_batch(partition_id, chosen, self.partitions[partition_id]), {"evicted": evicted}

    def _terminal_eviction_reasons(self, global_steps: int, partition_id: str) -> tuple:
        return self.reasons

    def _materialize_batch(self, partition_id: str, selected_prompt_uids: list[str], partition_snapshot: dict) -> Any:
        self.order = list(partition_snapshot)
        return partition_id, selected_prompt_uids

    def _evict_terminal_groups(self, global_steps: int, partition_id: str, eviction_reasons: tuple) -> Any:
        return eviction_reasons[1] | eviction_reasons[2]


@pytest.fixture
def sampler(tmp_path: Path, library: Any, load: Any) -> Any:
    def get(keys: list[str], partition_id: str, select_fields: list[str]) -> dict[str, list[Any]]:
        assert partition_id == "train"
        asked.append(select_fields)
        right = [key.endswith("0") for key in keys]
        scores = [
            {"reward_extra_info": {"score": 7, "acc": float(one), "leaned": "unit", "problem_id": key[:2]}}
            for one, key in zip(right, keys, strict=True)
        ]
        every = {
            # verl wraps some values; both shapes come up
            "extra_fields": [
                SimpleNamespace(data=score) if number % 2 else score for number, score in enumerate(scores)
            ],
            # what trains: one number per token, all but the last 0
            "rm_scores": [np.array([0.0, 1.0 if one else -1.0]) for one in right],
            # the same text for all samples of a number, with what is left of the longest one
            "responses": [np.array([int(key[-1]) % 2, 7, 0]) for key in keys],
        }
        return {field: every.get(field, [field] * len(keys)) for field in select_fields}

    def tags(partition_id: str) -> dict[str, dict[str, dict]]:
        errors = {"f": "ValueError: no verdict", "l": "ActorDiedError: the actor is dead"}
        return {
            partition_id: {
                f"{kind}{number}": {"error": error, "problem": f"p-{kind}{number}"}
                for kind, error in errors.items()
                for number in range(1, 6)
            }
        }

    asked: list[list[str]] = []

    library("verl.trainer.ppo.v1.replay_buffer", ReplayBuffer=ReplayBuffer)
    library("transfer_queue", kv_batch_get=get, kv_list=tags)
    options = {
        "max_generation_batches": "2",
        "refill": 2,
        "reproducible": False,
        "overlong_filter": False,
        "watch": {
            "guards": Guards(failed_rollouts=ShareGuard(level="stop", limit=0.5)).model_dump(),
            "steps": 20,
            "rollouts_every": 5,
            "rewards": str(tmp_path / "rewards.jsonl"),
            "findings": str(tmp_path / "guards.jsonl"),
            "progress": str(tmp_path / "progress.json"),
            "notice": str(tmp_path / "notice"),
        },
        "train_batch_size": 2,
        "filter_groups_metric": "acc",
    }
    GroupSampler = load("compass.rl.dynamic_sampling").GroupSampler
    refilled: list[int] = []
    arguments = {"poll_interval": 2.0, "config": "verl's", "refill_fn": refilled.append}
    made = GroupSampler(**arguments, sampler_kwargs=options)
    made.again = lambda **changed: GroupSampler(**arguments, sampler_kwargs=options | changed)
    made.refilled = refilled
    made.options = options
    made.asked = asked
    return made


def finish(sampler: Any, *names: str) -> None:
    """Let groups of two responses finish: the first right with 5 tokens, the second wrong with 6."""
    for name in names:
        sampler.finished_keys["train"].add(name)
        for number in range(2):
            sampler.partitions["train"][f"{name}_{number}"] = {"response_len": 5 + number}


def recorded(sampler: Any) -> list[dict]:
    return [json.loads(line) for line in sampler.rewards_file.read_text().splitlines()]


def test_every_finished_group_is_recorded_with_whether_it_was_used(sampler: Any) -> None:
    finish(sampler, "u1", "u2", "u3")
    sampler.partitions["train"]["u4_0"] = {"response_len": 9}  # its group is still running
    batch, metrics = sampler.sample(global_steps=7, partition_id="train", batch_size=2)
    assert batch == ("train", ["u1", "u2"])
    assert metrics == {
        "evicted": set(),
        "guards/zero_signal_share": 0.0,
        "guards/failed_groups": 0,
        "reward/solved_groups": 1.0,
        "reward/leaned": 1.0,
        "reward/leaned/unit": 1.0,
    }
    assert recorded(sampler) == [
        {"step": 7, "id": name, "rewards": [1.0, -1.0], "tokens": [5, 6], "used": name != "u3"}
        for name in ("u1", "u2", "u3")
    ]  # the rewards that train, not 7, which the reward function returned
    assert sampler.asked[0] == ["extra_fields", "rm_scores", "responses"]


def test_right_responses_that_are_the_same_are_counted(sampler: Any) -> None:
    for number, length in enumerate((2, 0, 2, 2, 3)):  # the third and the last are right, and end in different places
        sampler.partitions["train"][f"u1_{number}0"] = {"response_len": length}
    sampler.finished_keys["train"].add("u1")
    _, metrics = sampler.sample(global_steps=7, partition_id="train", batch_size=1)
    assert metrics["reward/distinct_right"] == 0.5  # three different ones of five
    assert metrics["reward/solved_groups"] == 1.0


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


def test_validation_is_not_recorded_and_may_fail(sampler: Any) -> None:
    sampler.finished_keys["val"].add("u1")
    sampler.failure_keys["val"].add("f1")
    sampler.partitions["val"]["u1_0"] = {"response_len": 5}
    sampler.sample(global_steps=1, partition_id="val", batch_size=1)
    assert recorded(sampler) == []
    assert read_findings(sampler.findings.path) == []


def test_a_saturated_iteration_stops_and_leaves_its_record(sampler: Any) -> None:
    finish(sampler, "u1")
    sampler.reasons = (set(), set(), set(), Counter({1.0: 5}))
    with pytest.raises(SaturatedError, match="iteration 4 threw away 5 groups"):
        sampler.sample(global_steps=4, partition_id="train", batch_size=1)
    assert [(line["id"], line["used"]) for line in recorded(sampler)] == [("u1", False)]


def test_an_iteration_whose_machine_is_taken_away_ends(sampler: Any) -> None:
    finish(sampler, "u1")
    sampler.sample(global_steps=4, partition_id="train", batch_size=1)
    Path(sampler.watch["notice"]).touch()
    with pytest.raises(Noticed):
        sampler.sample(global_steps=5, partition_id="train", batch_size=1)
    assert [line["id"] for line in recorded(sampler)] == ["u1"]


def test_what_one_iteration_throws_away_adds_up_over_its_polls(sampler: Any) -> None:
    reasons = (set(), set(), set(), Counter({0.0: 2}))
    sampler._evict_terminal_groups(1, "train", reasons)
    sampler._evict_terminal_groups(1, "train", reasons)
    with pytest.raises(SaturatedError, match="6 groups"):
        sampler._evict_terminal_groups(1, "train", reasons)


def test_the_share_of_groups_without_a_signal_counts_those_left_out(sampler: Any) -> None:
    finish(sampler, "u1", "u2")
    for name in ("w1", "w2"):  # one wrong response each
        sampler.finished_keys["train"].add(name)
        sampler.partitions["train"][f"{name}_1"] = {"response_len": 5}
    _, metrics = sampler.sample(global_steps=7, partition_id="train", batch_size=1)
    assert metrics["guards/zero_signal_share"] == 0.5


@pytest.mark.parametrize(("step", "whole"), [(1, True), (2, False), (5, True), (20, True)])
def test_the_responses_of_chosen_iterations_are_kept(sampler: Any, step: int, whole: bool) -> None:
    finish(sampler, "u1")
    sampler.sample(global_steps=step, partition_id="train", batch_size=1)
    assert ("prompts" in sampler.asked[0]) == whole
    assert set(sampler.responses) == ({"u1_0", "u1_1"} if whole else set())


def test_more_failed_groups_than_are_tolerated_stop_the_stage_and_tell_why(sampler: Any) -> None:
    sampler.failure_keys["train"] |= {"f1", "f2"}
    told = r"iteration 2: 2 groups \(a batch has 2\).*2 of them for this reason: ValueError: no verdict \(problem p-f\d\)\..*train\.log"
    with pytest.raises(GuardError, match=told):
        sampler.sample(global_steps=2, partition_id="train", batch_size=1)
    assert read_findings(sampler.findings.path)[0]["guard"] == "failed_rollouts"


def test_where_an_engine_is_lost_no_guard_speaks_before_those_who_watch_it(
    sampler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    sampler.failure_keys["train"].add("l1")
    sampler.sample(global_steps=2, partition_id="train", batch_size=0)  # half a batch of two is tolerated
    assert waited == []
    sampler.failure_keys["train"].add("l2")
    with pytest.raises(RuntimeError, match="2 of them for this reason: ActorDiedError: the actor is dead"):
        sampler.sample(global_steps=2, partition_id="train", batch_size=0)
    assert waited == [60]
    assert read_findings(sampler.findings.path) == []


def test_failures_that_are_only_warned_of_do_not_go_on_for_ever(sampler: Any) -> None:
    sampler.watch["guards"]["failed_rollouts"]["level"] = "warn"
    sampler.failure_keys["train"] |= {"f1", "f2", "f3", "f4"}
    sampler.sample(global_steps=2, partition_id="train", batch_size=0)
    assert len(read_findings(sampler.findings.path)) == 1
    sampler.failure_keys["train"].add("f5")
    with pytest.raises(RuntimeError, match="iteration 3: 5 groups"):
        sampler.sample(global_steps=3, partition_id="train", batch_size=0)


def test_it_tells_how_far_an_iteration_is(sampler: Any) -> None:
    finish(sampler, "u1", "u2")
    sampler.reasons = (set(), {"u1"}, set(), Counter({1.0: 1}))
    sampler._evict_terminal_groups(3, "train", sampler.reasons)
    finish(sampler, "u3")
    sampler._evict_terminal_groups(3, "train", (set(), set(), set(), Counter()))
    told = read_progress(sampler.progress.path)
    assert (told["step"], told["phase"]) == (3, "rollout")
    assert told["detail"] == "3 groups finished, 1 of them left out"


def test_a_reproducible_batch_has_the_order_of_the_data_and_replaces_one_by_one(sampler: Any) -> None:
    sampler, refilled = sampler.again(reproducible=True), sampler.refilled
    sampler.prompt_global_steps["train"] = {"u1": 1, "u2": 1, "f1": 1}
    finish(sampler, "u2", "u1")
    sampler.reasons = ({"u3"}, {"u4", "u5"}, {"u5"}, Counter())
    sampler.sample(global_steps=1, partition_id="train", batch_size=2)
    assert sampler.order == ["u1_0", "u1_1", "u2_0", "u2_1"]
    sampler.refill_fn(6)
    assert refilled == [3]  # u3, u4 and u5 were left out
