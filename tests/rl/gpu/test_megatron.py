"""Megatron and SGLang, as far as they can be checked without GPUs and without their packages."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from safetensors.torch import load_file, save_file

from compass.rl.checkpoint import last_step
from compass.rl.config import StagePaths, verl_config
from compass.rl.export import export_model
from compass.rl.start_checks import StartError, check_packages, untried
from compass.settings import RlStage, Settings
from compass.settings.recipe import Resources
from tests.conftest import make_random_model

ROOT = Path(__file__).resolve().parents[3]


def paper(**resources: Any) -> RlStage:
    tree = yaml.safe_load((ROOT / "profiles/paper.yaml").read_text())
    tree["rl"]["resources"] |= resources
    return Settings.model_validate(tree).rl.stages["rl-1"]


def composed(settings: RlStage) -> Any:
    return verl_config("rl-1", settings, StagePaths(Path("model"), Path("train"), Path("work")), seed=0)


def test_verls_own_classes_accept_megatron_with_its_ways_of_sharing_a_model(
    accepted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compass.rl.start_checks.INSTALLED_BY_YOU", {})
    actor = accepted("rl-1", paper(trainer="megatron", tensor_parallel=2, pipeline_parallel=2, offload="idle"))
    assert type(actor).__name__ == "McoreActorConfig"
    assert (actor.strategy, actor.engine.dtype) == ("megatron", "bfloat16")
    assert (actor.engine.tensor_model_parallel_size, actor.engine.pipeline_model_parallel_size) == (2, 2)
    assert actor.engine.param_offload
    assert actor.engine.optimizer_offload
    assert actor.optim.lr == paper().optimizer.learning_rate
    assert actor.optim.clip_grad == paper().optimizer.grad_clip


def test_megatron_has_the_stages_schedule_by_its_own_names() -> None:
    tree = yaml.safe_load((ROOT / "profiles/paper.yaml").read_text())
    tree["rl"]["resources"]["trainer"] = "megatron"
    tree["rl"]["optimizer"] |= {"schedule": "cosine", "min_learning_rate": 1.0e-7, "schedule_steps": 90, "eps": 1.0e-7}
    optim = composed(Settings.model_validate(tree).rl.stages["rl-1"]).actor_rollout_ref.actor.optim
    assert (optim.lr_decay_style, optim.lr_decay_steps, optim.min_lr) == ("cosine", 90, 1e-7)
    assert optim.override_optimizer_config == {"adam_eps": 1e-7}
    tree["rl"]["optimizer"]["cycles"] = 1.5
    with pytest.raises(
        ValueError, match=r"`optimizer\.cycles` \(1\.5\) must be 0\.5 with `resources\.trainer: megatron`"
    ):
        Settings.model_validate(tree)


def test_the_reference_is_divided_as_the_policy_is() -> None:
    ref = composed(paper(trainer="megatron", tensor_parallel=2, pipeline_parallel=4)).actor_rollout_ref.ref
    assert ref.strategy == "megatron"
    assert (ref.megatron.tensor_model_parallel_size, ref.megatron.pipeline_model_parallel_size) == (2, 4)


def test_nothing_of_fsdp_is_left_with_megatron() -> None:
    config = composed(paper(trainer="megatron")).actor_rollout_ref
    for role in (config.actor, config.ref):
        assert "fsdp_config" not in role
        assert "ulysses_sequence_parallel_size" not in role
    assert not config.actor.megatron.sequence_parallel  # there is nothing to divide with


@pytest.mark.parametrize("trainer", ["fsdp2", "megatron"])
def test_verls_own_classes_accept_sglang_with_verls_own_agent_loop(
    accepted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, trainer: str
) -> None:
    monkeypatch.setattr("compass.rl.start_checks.INSTALLED_BY_YOU", {})
    accepted("rl-1", paper(rollout_engine="sglang", trainer=trainer))
    config = composed(paper(rollout_engine="sglang", trainer=trainer))
    assert config.actor_rollout_ref.rollout.name == "sglang"
    assert config.actor_rollout_ref.rollout.agent.agent_loop_manager_class is None
    assert config.reward.num_workers > 0


@pytest.mark.parametrize(
    ("resources", "told"),
    [
        ({"gpus": 0, "trainer": "megatron"}, "`resources.trainer` (megatron) is for GPUs, and `resources.gpus` is 0"),
        ({"gpus": 0, "rollout_engine": "sglang"}, "`resources.rollout_engine` (sglang) is for GPUs"),
        ({"pipeline_parallel": 2}, "`resources.pipeline_parallel` (2) needs `resources.trainer: megatron`"),
        ({"trainer": "megatron", "dtype": "float32"}, "`resources.dtype` (float32) must be bfloat16 with"),
        ({"trainer": "megatron", "offload": "always"}, "`resources.offload: always` is FSDP2's"),
        (
            {"trainer": "megatron", "pipeline_parallel": 3},
            "x `resources.pipeline_parallel` (3) must divide the GPUs of all",
        ),
    ],
)
def test_what_cannot_be_is_refused(resources: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        paper(**resources)


@pytest.mark.parametrize(
    ("group", "values"), [("rollout", {"reproducible": True}), ("advantage", {"estimator": "remax"})]
)
def test_what_is_sampled_through_vllm_alone_is_refused_with_sglang(group: str, values: dict[str, Any]) -> None:
    tree = yaml.safe_load((ROOT / "profiles/paper.yaml").read_text())
    tree["rl"]["resources"]["rollout_engine"] = "sglang"
    tree["rl"]["rollout"]["dynamic_sampling"] = False  # ReMax refuses it
    tree["rl"][group] |= values
    with pytest.raises(ValueError, match=r"needs `resources\.rollout_engine: vllm`"):
        Settings.model_validate(tree)


def test_a_missing_package_is_told_before_the_start() -> None:
    check_packages("rl-1", Resources())
    for resources, package in [
        (Resources(trainer="megatron"), "megatron.core"),
        (Resources(rollout_engine="sglang"), "sglang"),
    ]:
        with pytest.raises(
            StartError, match=rf"rl-1: .* needs the package {package}, which no environment of the project"
        ):
            check_packages("rl-1", resources)


def test_a_stage_says_what_was_never_run() -> None:
    assert untried(Resources()) == ""
    assert untried(Resources(trainer="megatron", rollout_engine="sglang")) == (
        "configured, never run by the authors: `resources.trainer: megatron` and `resources.rollout_engine: sglang`"
    )


def test_a_checkpoint_of_megatrons_is_whole_once_its_contents_are_listed_and_becomes_a_model(tmp_path: Path) -> None:
    start = make_random_model(tmp_path / "start", 0)
    folder = tmp_path / "checkpoints/global_step_3"
    weights = folder / "actor/model/huggingface"
    weights.mkdir(parents=True)
    trained = {name: tensor + 1 for name, tensor in load_file(start / "model.safetensors").items()}
    save_file(trained, weights / "model.safetensors")
    torch.save({}, folder / "data.pt")
    assert last_step(tmp_path / "checkpoints") == 0
    (folder / "actor/ckpt_contents.json").write_text("{}")
    assert last_step(tmp_path / "checkpoints") == 3
    out = tmp_path / "model"
    export_model(folder, start, out, dtype="float32", card="", building=tmp_path / "building")
    for name, tensor in load_file(out / "model.safetensors").items():
        torch.testing.assert_close(tensor, trained[name])
