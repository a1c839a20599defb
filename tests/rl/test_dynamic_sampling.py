"""verl's replay buffer, bounded and recorded, as its trainer builds it. Only the queue, a service of its own, is a dictionary here."""

import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from compass.rl.config import verl_config
from compass.rl.guards.findings import GuardError, read_findings
from compass.rl.mixed_groups import SaturatedError
from compass.rl.notice import Noticed
from compass.rl.paths import StagePaths
from compass.rl.progress import read_progress
from compass.settings import RlStage, load_settings
from compass.settings.guards import Guards, ShareGuard

TINY = load_settings(Path(__file__).parents[2] / "profiles/tiny.yaml").rl.stages["rl-1"]
MIXED, EASY, HARD = [1.0, -1.0], [1.0, 1.0], [-1.0, -1.0]


def stage(level: str = "stop", **rollout: Any) -> RlStage:
    """A stage with batches of two problems that tolerates one failed group per batch, and two batches of groups that are left out."""
    changed = {
        "data": TINY.data.model_copy(update={"batch_size": 2}),
        "rollout": TINY.rollout.model_copy(update={"max_generation_batches": 2, **rollout}),
        "guards": Guards(failed_rollouts=ShareGuard(level=level, limit=0.5)),
        "steps": 20,
    }
    return TINY.model_copy(update=changed)


class Queue:
    """Tags and values by key, as verl's workers put them into the transfer queue."""

    def __init__(self) -> None:
        self.tags: dict[str, dict[str, dict[str, Any]]] = {"train": {}, "val": {}}
        self.rewards: dict[str, float] = {}
        self.asked: list[tuple[list[str], list[str]]] = []
        self.fresh, self.next = count(1), MIXED

    def group(
        self, name: str, rewards: list[float], *, lengths: list[int] | None = None, partition: str = "train", **tag: Any
    ) -> None:
        """A group's responses of 5, 6, ... tokens; it has finished where its tag does not say otherwise."""
        self.tags[partition][name] = {"is_prompt": True, "status": "finished", "global_steps": 1, **tag}
        for number, reward in enumerate(rewards):
            length = 5 + number if lengths is None else lengths[number]
            self.tags[partition][f"{name}_{number}_0"] = {"response_len": length}
            self.rewards[f"{name}_{number}_0"] = reward

    def fail(self, *names: str, error: str = "ValueError: no verdict", partition: str = "train") -> None:
        """Groups of which one response was made and another could not be."""
        for name in names:
            self.group(name, [1.0], partition=partition, status="failure", error=error, problem=f"p-{name}")

    def refill(self, groups: int) -> None:
        for _ in range(groups):
            self.group(f"fresh{next(self.fresh)}", self.next)

    def kv_list(self, partition_id: str = "") -> dict[str, dict[str, Any]]:
        return {partition_id: self.tags[partition_id]} if partition_id else self.tags

    def kv_clear(self, keys: list[str], partition_id: str) -> None:
        for key in keys:
            self.tags[partition_id].pop(key, None)

    def kv_batch_get(self, keys: list[str], partition_id: str, select_fields: list[str]) -> dict[str, list[Any]]:
        assert partition_id == "train"
        self.asked.append((keys, select_fields))
        every: dict[str, Callable[[str, int], Any]] = {
            "rm_scores": lambda key, _: np.array([0.0, self.rewards[key]]),
            "responses": lambda key, _: np.array([8, 7, 0, 0, 0, 0, 0, 0]),
            "extra_fields": self._judged,
        }
        return {
            field: [every.get(field, lambda *_: 0)(key, place) for place, key in enumerate(keys)]
            for field in select_fields
        }

    def _judged(self, key: str, place: int) -> Any:
        judged = {"score": 7, "acc": float(self.rewards[key] > 0), "leaned": "unit", "problem_id": key.split("_")[0]}
        fields = {"reward_extra_info": judged}
        return SimpleNamespace(data=fields) if place % 2 else fields  # verl wraps some values


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    import transfer_queue

    made = Queue()
    for name in ("kv_list", "kv_clear", "kv_batch_get"):
        monkeypatch.setattr(transfer_queue, name, getattr(made, name))
    return made


@pytest.fixture
def build(tmp_path: Path, queue: Queue) -> Callable[..., Any]:
    """`build(level, dynamic_sampling=False)` gives the buffer of a stage with such settings, `verl` among them; it polls at once."""

    def made(*arguments: Any, verl: dict[str, Any] | None = None, **rollout: Any) -> Any:
        from verl.trainer.ppo.v1.trainer_sync import PPOTrainerSync

        paths = StagePaths(tmp_path, tmp_path / "train.parquet", tmp_path)
        settings = stage(*arguments, **rollout).model_copy(update={"verl": verl or {}})
        config = verl_config("rl-1", settings, paths, seed=0)
        trainer = SimpleNamespace(config=config, trainer_mode="sync", _add_prompts_to_generate=queue.refill)
        return PPOTrainerSync._build_replay_buffer(trainer)

    return made


def sample(sampler: Any, step: int = 1, size: int = 2, partition: str = "train") -> tuple[set[str], dict[str, Any]]:
    """The groups of an iteration's batch, and its metrics."""
    batch, metrics = sampler.sample(global_steps=step, partition_id=partition, batch_size=size)
    return {key.split("_")[0] for key in batch.keys}, metrics


def recorded(sampler: Any) -> list[dict]:
    return [json.loads(line) for line in sampler.rewards_file.read_text().splitlines()]


def test_every_finished_group_is_recorded_with_whether_it_was_used(queue: Queue, build: Any) -> None:
    for step, name in enumerate(("u1", "u2", "u3")):
        queue.group(name, MIXED, global_steps=step)
    queue.group("u4", [1.0], status="running")
    sampler = build(dynamic_sampling=False)
    groups, metrics = sample(sampler, step=7)
    assert groups == {"u1", "u2"}
    assert metrics == {
        "guards/zero_signal_share": 0.0,
        "guards/failed_groups": 0,
        "reward/solved_groups": 1.0,
        "sampled/reward": 0.0,
        "sampled/accuracy": 0.5,
        "sampled/response_tokens": 5.5,
        "reward/leaned": 1.0,
        "reward/leaned/unit": 1.0,
    }
    assert recorded(sampler) == [
        {"step": 7, "id": name, "rewards": MIXED, "right": [True, False], "tokens": [5, 6], "used": name != "u3"}
        for name in ("u1", "u2", "u3")
    ]  # the rewards that train, not 7, which the reward function returned
    assert queue.asked[0][1] == ["extra_fields", "rm_scores", "responses"]


def test_right_responses_that_are_the_same_are_counted(queue: Queue, build: Any) -> None:
    queue.group("u1", [1.0] * 5, lengths=[2, 0, 2, 2, 3])
    _, metrics = sample(build(dynamic_sampling=False), size=1)
    assert metrics["reward/distinct_right"] == 0.5  # three different ones of five
    assert metrics["reward/solved_groups"] == 1.0


@pytest.mark.parametrize("dynamic", [True, False])
def test_a_failed_group_is_never_trained_on_and_another_takes_its_place(
    queue: Queue, build: Any, dynamic: bool
) -> None:
    queue.fail("failed")
    queue.group("mixed", MIXED)
    sampler = build(dynamic_sampling=dynamic)
    groups, metrics = sample(sampler, step=2)
    assert groups == {"mixed", "fresh1"}
    assert metrics["guards/failed_groups"] == 1
    assert {line["id"] for line in recorded(sampler)} == {"mixed", "fresh1"}
    assert read_findings(sampler.findings.path) == []  # half a batch of two is tolerated


def test_groups_without_a_signal_are_replaced_and_each_group_is_read_once(queue: Queue, build: Any) -> None:
    for name, rewards in {"easy": EASY, "hard": HARD, "mixed": MIXED}.items():
        queue.group(name, rewards)
    groups, metrics = sample(build(), step=2)
    assert groups <= {"mixed", "fresh1", "fresh2", "fresh3", "fresh4"}  # of these verl takes any two
    assert metrics["guards/zero_signal_share"] == 0.4  # those left out count, and verl had room for three others
    read = [key for keys, fields in queue.asked if "rm_scores" in fields for key in keys]
    assert len(read) == len(set(read)) == 2 * 5


@pytest.mark.parametrize(("rollout", "asked"), [({}, 2), ({"refill": 1}, 1), ({"reproducible": True}, 1)])
def test_as_many_groups_are_asked_for_as_the_setting_says(
    queue: Queue, build: Any, rollout: dict[str, Any], asked: int
) -> None:
    queue.group("easy", EASY)
    queue.group("mixed", MIXED)
    sampler = build(**rollout)
    sample(sampler, step=2)
    assert next(queue.fresh) == asked + 1
    told = read_progress(sampler.progress.path)
    assert (told["step"], told["phase"]) == (2, "rollout")
    assert told["detail"] == f"{2 + asked} groups finished, 1 of them left out"


def test_verls_buffer_gets_the_number_of_batches_in_flight(build: Any) -> None:
    assert build().max_inflight_gen_batches == 1
    assert build(verl={"algorithm.filter_groups.max_inflight_gen_batches": 3}).max_inflight_gen_batches == 3


def test_a_reproducible_batch_has_the_order_of_the_data_and_replaces_one_by_one(queue: Queue, build: Any) -> None:
    queue.fail("failed")
    for name, rewards in {"easy": EASY, "hard": HARD, "first": MIXED}.items():
        queue.group(name, rewards)
    tags = queue.tags["train"]
    queue.tags["train"] = {key: tags[key] for key in sorted(tags, key=lambda key: key.count("_") and -int(key[-3]))}
    batch, _ = build(reproducible=True).sample(global_steps=1, partition_id="train", batch_size=4)
    groups = ("first", "fresh1", "fresh2", "fresh3")  # three were left out
    assert batch.keys == [f"{name}_{number}_0" for name in groups for number in range(2)]


def test_each_iteration_starts_a_record_and_a_count_of_its_own(queue: Queue, build: Any) -> None:
    sampler = build()
    for step in (1, 2):
        for number in range(3):
            queue.group(f"easy{number}", EASY)
        queue.group("u1", MIXED)
        sample(sampler, step=step, size=1)
    assert [(line["step"], line["id"]) for line in recorded(sampler) if line["used"]] == [(1, "u1"), (2, "u1")]
    assert len(recorded(sampler)) == 8


@pytest.mark.parametrize("first", [2, 6])
def test_an_iteration_that_throws_away_too_much_in_all_its_polls_stops_and_leaves_its_record(
    queue: Queue, build: Any, first: int
) -> None:
    queue.group("u1", MIXED)
    for number in range(first):
        queue.group(f"easy{number}", EASY)
    queue.next = EASY
    sampler = build()
    with pytest.raises(SaturatedError, match="iteration 4 threw away 6 groups"):
        sample(sampler, step=4)
    assert {(line["id"], line["used"]) for line in recorded(sampler)} >= {("u1", False), ("easy0", False)}


def test_an_iteration_whose_machine_is_taken_away_ends(queue: Queue, build: Any) -> None:
    queue.group("u1", MIXED)
    sampler = build()
    sample(sampler, step=4, size=1)
    Path(sampler.watch["notice"]).touch()
    with pytest.raises(Noticed):
        sample(sampler, step=5, size=1)
    assert [line["id"] for line in recorded(sampler)] == ["u1"]


def test_validation_is_not_recorded_and_may_fail(queue: Queue, build: Any) -> None:
    queue.group("u1", MIXED, partition="val")
    queue.fail("f1", partition="val")
    sampler = build()
    assert sample(sampler, partition="val")[0] == {"u1", "f1"}
    assert recorded(sampler) == []
    assert read_findings(sampler.findings.path) == []


@pytest.mark.parametrize(("step", "whole"), [(1, True), (2, False), (5, True), (20, True)])
def test_the_responses_of_chosen_iterations_are_kept(queue: Queue, build: Any, step: int, whole: bool) -> None:
    queue.group("u1", MIXED)
    queue.group("hard", HARD)
    sampler = build()
    sample(sampler, step=step, size=1)
    assert any("prompts" in fields for _, fields in queue.asked) == whole
    assert set(sampler.responses) == ({"u1_0_0", "u1_1_0", "hard_0_0", "hard_1_0"} if whole else set())


def test_more_failed_groups_than_are_tolerated_stop_the_stage_and_tell_why(queue: Queue, build: Any) -> None:
    queue.fail("f1", "f2")
    sampler = build()
    told = r"iteration 2: 2 groups \(a batch has 2\).*2 of them for this reason: ValueError: no verdict \(problem p-f\d\)\..*train\.log"
    with pytest.raises(GuardError, match=told):
        sample(sampler, step=2)
    assert read_findings(sampler.findings.path)[0]["guard"] == "failed_rollouts"


def test_where_an_engine_is_lost_no_guard_speaks_before_those_who_watch_it(
    queue: Queue, build: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("compass.rl.dynamic_sampling.time", SimpleNamespace(sleep=waited.append))
    sampler = build()
    queue.fail("l1", error="ActorDiedError: the actor is dead")
    sample(sampler, size=1)  # half a batch of two is tolerated
    assert waited == []
    queue.fail("l1", "l2", error="ActorDiedError: the actor is dead")
    with pytest.raises(RuntimeError, match="2 of them for this reason: ActorDiedError: the actor is dead"):
        sample(sampler, size=1)
    assert waited == [60]
    assert read_findings(sampler.findings.path) == []


def test_failures_that_are_only_warned_of_do_not_go_on_for_ever(queue: Queue, build: Any) -> None:
    sampler = build("warn")
    queue.fail("f1", "f2", "f3", "f4")
    sample(sampler, step=2)
    assert len(read_findings(sampler.findings.path)) == 1
    queue.fail("f1", "f2", "f3", "f4", "f5")
    with pytest.raises(RuntimeError, match="iteration 3: 5 groups"):
        sample(sampler, step=3)
