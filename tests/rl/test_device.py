"""How verl is configured for the CPU and for GPUs."""

from pathlib import Path
from typing import Any

import pytest

from compass.rl.device import device_overrides, micro_batch
from compass.settings import RlStage, load_settings

ROOT = Path(__file__).resolve().parents[2]
PAPER = load_settings(ROOT / "profiles/paper.yaml").rl.stages["rl-1"]
TINY = load_settings(ROOT / "profiles/tiny.yaml").rl.stages["rl-1"]
ACTOR, REF, ROLLOUT = (f"actor_rollout_ref.{role}" for role in ("actor", "ref", "rollout"))
RAY = "ray_kwargs.ray_init"
HERE = Path("models/base")


def with_resources(**changes: Any) -> RlStage:
    return PAPER.model_copy(update={"resources": PAPER.resources.model_copy(update=changes)})


def test_the_policy_and_its_reference_are_computed_alike() -> None:
    for settings in (TINY, PAPER, with_resources(dtype="float32", offload="always")):
        values = device_overrides(settings, HERE)
        ours = {key.removeprefix(ACTOR): value for key, value in values.items() if key.startswith(f"{ACTOR}.fsdp")}
        its = {key.removeprefix(REF): value for key, value in values.items() if key.startswith(f"{REF}.fsdp")}
        assert ours == its


FSDP = f"{ACTOR}.fsdp_config"
STORAGE = "transfer_queue.backend.SimpleStorage.num_data_storage_units"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"micro_batch_tokens": 5000},
            {f"{role}_max_token_len_per_gpu": 5000 for role in (f"{ACTOR}.ppo", f"{ROLLOUT}.log_prob")},
        ),
        (
            {"tensor_parallel": 2, "rollout_memory": 0.7},
            {f"{ROLLOUT}.tensor_model_parallel_size": 2, f"{ROLLOUT}.gpu_memory_utilization": 0.7},
        ),
        ({"gpus": 1}, {f"{RAY}.address": "local", f"{RAY}.num_gpus": 1, f"{RAY}.num_cpus": 3 + 2 + 2, STORAGE: 2}),
        ({"gpus": 8}, {f"{RAY}.num_cpus": 24 + 2 + 2}),
        # no pass gathers weights from another node
        ({"nodes": 1}, {f"{FSDP}.fsdp_size": -1}),
        ({"nodes": 4}, {f"{role}.fsdp_config.fsdp_size": 8 for role in (ACTOR, REF)}),
        # 1,024 responses of an iteration on 1, 2 and 8 engines
        ({"gpus": 1}, {f"{ROLLOUT}.max_num_seqs": 1024}),
        ({"gpus": 2}, {f"{ROLLOUT}.max_num_seqs": 512}),
        ({"gpus": 8}, {f"{ROLLOUT}.max_num_seqs": 256}),
        ({"gpus": 8, "tensor_parallel": 4}, {f"{ROLLOUT}.max_num_seqs": 512}),
        # of a cluster that runs already, Ray takes neither
        ({"nodes": 2}, {f"{RAY}.address": "auto", f"{RAY}.num_gpus": None, f"{RAY}.num_cpus": None, STORAGE: 4}),
    ],
)
def test_each_setting_reaches_verl(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    values = device_overrides(with_resources(**changes), HERE)
    assert {key: values[key] for key in expected} == expected


@pytest.mark.parametrize("engines", [1, 8])
def test_an_engine_holds_no_more_responses_than_vllm_takes_on_large_gpus(engines: int) -> None:
    many = with_resources(gpus=engines).model_copy(update={"data": PAPER.data.model_copy(update={"batch_size": 4096})})
    assert device_overrides(many, HERE)[f"{ROLLOUT}.max_num_seqs"] == 1024


@pytest.mark.parametrize(("dtype", "parameters"), [("bfloat16", "bf16"), ("float32", "fp32")])
def test_gradients_are_added_up_in_single_precision(dtype: str, parameters: str) -> None:
    values = device_overrides(with_resources(dtype=dtype), HERE)
    mixed = {"param_dtype": parameters, "reduce_dtype": "fp32", "buffer_dtype": "fp32"}
    assert (values[f"{FSDP}.mixed_precision"], values[f"{ROLLOUT}.dtype"]) == (mixed, dtype)


@pytest.mark.parametrize(
    ("offload", "weights", "optimizer", "always"),
    [("none", False, False, False), ("idle", True, True, False), ("always", False, False, True)],
)
def test_what_leaves_the_gpu_s_memory(offload: str, weights: bool, optimizer: bool, always: bool) -> None:
    values = device_overrides(with_resources(offload=offload), HERE)
    found = [values[f"{FSDP}.{key}"] for key in ("param_offload", "optimizer_offload", "offload_policy")]
    assert found == [weights, optimizer, always]


@pytest.mark.parametrize(
    ("asked", "responses"),
    [(64, 60), (59, 40), (1, 1), (1000, 120)],  # of 20 problems times 6 responses
)
def test_a_pass_on_the_cpu_holds_a_divisor_of_the_responses_of_an_update(asked: int, responses: int) -> None:
    settings = TINY.model_copy(
        update={
            "optimizer": TINY.optimizer.model_copy(update={"mini_batch_size": 20}),
            "rollout": TINY.rollout.model_copy(update={"group_size": 6}),
            "resources": TINY.resources.model_copy(update={"micro_batch_size": asked}),
        }
    )
    assert micro_batch(settings) == responses
