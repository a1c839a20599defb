"""The work of a stage: the disk it needs, and when it is removed."""

import json
import shutil
from collections import namedtuple
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from compass.plan.shape import shape_of
from compass.rl.course import (
    FINISHED,
    DiskError,
    check_disk,
    course,
    disk_need,
    mark_finished,
    remove_other_courses,
    remove_secured,
)
from compass.settings import RlStage, load_settings
from compass.settings.advantage import Advantage, Critic
from compass.settings.recipe import Lora
from tests.conftest import make_random_model

ROOT = Path(__file__).resolve().parents[2]
Usage = namedtuple("Usage", "total used free")


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_random_model(tmp_path_factory.mktemp("models") / "base", 0)


@pytest.fixture
def stage() -> RlStage:
    return load_settings(ROOT / "profiles/tiny.yaml").rl.stages["rl-1"]


@pytest.fixture
def name_course(stage: RlStage, start: Path, tmp_path: Path) -> Callable[..., str]:
    """`name_course("resources", gpus=2)` is the course of the stage with these values in that group."""
    (tmp_path / "train.parquet").write_bytes(b"problems")

    def name(group: str, **values: Any) -> str:
        changed = values if group == "verl" else getattr(stage, group).model_copy(update=values)
        ours = stage.model_copy(update={group: changed})
        return course(ours, seed=0, start=start, training_set=tmp_path / "train.parquet")

    return name


def test_two_checkpoints_and_two_copies_of_the_model_need_room(stage: RlStage, start: Path) -> None:
    from safetensors.numpy import load_file

    parameters = sum(tensor.size for tensor in load_file(start / "model.safetensors").values())
    assert disk_need(stage, start) == (24 * parameters, 8 * parameters)
    half = stage.model_copy(update={"resources": stage.resources.model_copy(update={"dtype": "bfloat16"})})
    assert disk_need(half, start) == (24 * parameters, 4 * parameters)
    kept = stage.model_copy(update={"checkpoint": stage.checkpoint.model_copy(update={"keep_optimizer": True})})
    assert disk_need(kept, start) == (24 * parameters, 32 * parameters)
    best = stage.model_copy(update={"checkpoint": stage.checkpoint.model_copy(update={"validation_problems": 9})})
    assert disk_need(best, start) == (36 * parameters, 8 * parameters)  # the best by validation stays as well
    critic = kept.model_copy(update={"advantage": Advantage(estimator="gae")})
    assert disk_need(critic, start) == (48 * parameters, 56 * parameters)
    for nodes, copies in ((1, 1), (2, 2)):
        on_gpus = {"gpus": 4, "nodes": nodes}
        spread = stage.model_copy(update={"resources": stage.resources.model_copy(update=on_gpus)})
        assert disk_need(spread, start) == (24 * copies * parameters, 8 * parameters)  # a whole one per node


def test_with_low_rank_matrices_a_checkpoint_needs_room_for_them_alone(stage: RlStage, start: Path) -> None:
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    lora = stage.model_copy(update={"lora": Lora(rank=8)})
    model = get_peft_model(AutoModelForCausalLM.from_pretrained(start), LoraConfig(r=8, target_modules="all-linear"))
    trained = model.get_nb_trainable_parameters()[0]
    assert disk_need(lora, start) == (24 * trained, disk_need(stage, start)[1])
    assert shape_of(json.loads((start / "config.json").read_text())).lora_parameters(8) == trained


def test_a_stage_that_has_no_room_is_stopped_before_it_starts(
    stage: RlStage, start: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = sum(disk_need(stage, start))
    work = tmp_path / "work" / "rl-1" / "0123456789abcdef"
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, needed))
    assert check_disk("rl-1", stage, start, work).startswith("rl-1: needs 14 MB for checkpoints, 5 MB for the model")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 0, needed - 1))
    with pytest.raises(DiskError, match=rf"rl-1: needs 14 MB .* 19 MB are free where {tmp_path} is; free some space$"):
        check_disk("rl-1", stage, start, work)
    work.mkdir(parents=True)
    (work / "shard.pt").write_bytes(b"1")  # room that the stage's own earlier checkpoint takes
    check_disk("rl-1", stage, start, work)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kv_cache_gib", 2),
        ("micro_batch_size", 8),
        ("micro_batch_tokens", 20_000),
        ("offload", "always"),
        ("ray_address", "head:6379"),
        ("rollout_memory", 0.3),
        ("tensor_parallel", 2),
    ],
)
def test_what_memory_and_speed_take_does_not_change_the_course(
    stage: RlStage, name_course: Callable[..., str], name: str, value: Any
) -> None:
    assert getattr(stage.resources, name) != value
    assert name_course("resources", **{name: value}) == name_course("resources")


def test_what_is_a_pass_decides_the_course_of_a_loss_that_chooses_within_it(
    stage: RlStage, start: Path, tmp_path: Path
) -> None:
    (tmp_path / "train.parquet").write_bytes(b"problems")

    def name(mode: str, micro_batch_size: int) -> str:
        groups = {"loss": {"mode": mode}, "resources": {"micro_batch_size": micro_batch_size}}
        changed = {group: getattr(stage, group).model_copy(update=values) for group, values in groups.items()}
        return course(stage.model_copy(update=changed), seed=0, start=start, training_set=tmp_path / "train.parquet")

    assert name("clip_cov", 8) != name("clip_cov", 64)
    assert name("geo_mean", 8) == name("geo_mean", 64)


@pytest.mark.parametrize("name", ["gpus", "ranks", "nodes"])
def test_the_number_of_ranks_decides_the_course(name_course: Callable[..., str], name: str) -> None:
    """verl's checkpoints are of one file per rank."""
    assert name_course("resources", **{name: 2}) != name_course("resources")


@pytest.mark.parametrize(
    ("group", "changes", "switched_on_by"),
    [
        ("lora", {"alpha": 8}, {"rank": 4}),
        ("advantage", {"lam": 0.9}, {"estimator": "gae"}),
        ("advantage", {"gamma": 0.9}, {"estimator": "reinforce_plus_plus"}),
        ("advantage", {"critic": Critic(learning_rate=3e-6)}, {"estimator": "gae"}),
        ("advantage", {"normalise_by_std": False}, {"estimator": "grpo_passk"}),
        ("loss", {"kl_estimator": "k2"}, {"kl_coef": 0.1}),
        ("loss", {"entropy_step": 1e-3}, {"entropy_target": 0.2}),
        ("loss", {"entropy_coef_max": 0.1}, {"entropy_target": 0.2}),
        ("loss", {"aggregation": "seq-mean-token-mean"}, {"mode": "sapo", "entropy_target": 0.2}),
        ("reward", {"kl_estimator": "k2"}, {"kl_coef": 0.1}),
        ("reward", {"kl_target": 0.2}, {"kl_coef": 0.1, "kl_controller": "adaptive"}),
    ],
)
def test_a_setting_decides_the_course_only_where_it_acts(
    name_course: Callable[..., str], group: str, changes: dict[str, Any], switched_on_by: dict[str, Any]
) -> None:
    named = partial(name_course, group)
    off = {"advantage": {"estimator": "rloo"}, "loss": {"mode": switched_on_by.get("mode", "vanilla")}}.get(group, {})
    assert named(**off, **changes) == named(**off)
    assert named(**switched_on_by, **changes) != named(**switched_on_by)


def test_courses_of_other_settings_are_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("0123456789abcdef", "fedcba9876543210", "notes-of-the-user"):
        (tmp_path / name).mkdir()
    (tmp_path / "train.parquet").touch()
    remove_other_courses(tmp_path, "0123456789abcdef")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "0123456789abcdef",
        "notes-of-the-user",
        "train.parquet",
    ]


def test_checkpoints_stay_until_dvc_has_the_model(tmp_path: Path) -> None:
    for stage in ("rl-1", "rl-2"):
        work = tmp_path / "work" / stage / "0123456789abcdef"
        work.mkdir(parents=True)
        mark_finished(work, Path("models") / stage, f"{stage}.dir")
    interrupted = tmp_path / "work" / "rl-3" / "0123456789abcdef"
    interrupted.mkdir(parents=True)
    assert remove_secured(tmp_path, {}) == []
    assert remove_secured(tmp_path, {"models/rl-1": "of an earlier result"}) == []
    locked = {"models/rl-1": "rl-1.dir", "models/rl-2": "rl-2.dir"}
    assert remove_secured(tmp_path, locked, but="rl-2") == [tmp_path / "work/rl-1/0123456789abcdef"]
    assert (tmp_path / "work/rl-2/0123456789abcdef" / FINISHED).exists()
    assert remove_secured(tmp_path, locked) == [tmp_path / "work/rl-2/0123456789abcdef"]
    assert interrupted.exists()


def test_a_key_of_verls_own_decides_the_course_if_it_changes_an_update(name_course: Callable[..., str]) -> None:
    assert name_course("verl", **{"actor_rollout_ref.actor.policy_loss.clip_cov_ub": 4.0}) != name_course("verl")
    assert name_course("verl", **{"global_profiler.steps": [1]}) == name_course("verl")
