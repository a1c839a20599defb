"""How verl is told to run on the CPU."""

from pathlib import Path
from typing import Any

import pytest

from compass.rl.cpu.configuration import cpu_overrides, micro_batch
from compass.settings import load_settings

ROOT = Path(__file__).resolve().parents[3]
TINY = load_settings(ROOT / "profiles/tiny.yaml").rl.stages["rl-1"]
ACTOR, REF, ROLLOUT = (f"actor_rollout_ref.{role}" for role in ("actor", "ref", "rollout"))


def trained(role: str, precision: str = "fp32", dtype: str = "float32") -> dict[str, Any]:
    return {
        f"{role}.use_torch_compile": False,
        f"{role}.ulysses_sequence_parallel_size": 1,
        f"{role}.entropy_from_logits_with_chunking": False,
        f"{role}.entropy_checkpointing": False,
        f"{role}.fsdp_config.use_torch_compile": False,
        f"{role}.fsdp_config.model_dtype": "fp32",
        f"{role}.fsdp_config.dtype": dtype,
        f"{role}.fsdp_config.mixed_precision": {
            "param_dtype": precision,
            "reduce_dtype": "fp32",
            "buffer_dtype": "fp32",
        },
        f"{role}.fsdp_config.param_offload": False,
        f"{role}.fsdp_config.optimizer_offload": False,
        f"{role}.fsdp_config.offload_policy": False,
    }


def test_every_key_of_the_device_is_set(tmp_path: Path) -> None:
    assert cpu_overrides(TINY, tmp_path) == {
        "trainer.device": "cpu",
        "trainer.nnodes": 1,
        "trainer.n_gpus_per_node": 1,
        "ray_kwargs.ray_init.address": "local",
        "ray_kwargs.ray_init.num_gpus": 1,
        "ray_kwargs.ray_init.num_cpus": 16,
        "ray_kwargs.ray_init.include_dashboard": False,
        "ray_kwargs.ray_init.object_store_memory": 512 * 2**20,
        "actor_rollout_ref.model.override_config.attn_implementation": "sdpa",
        "actor_rollout_ref.model.use_remove_padding": False,
        "actor_rollout_ref.model.enable_gradient_checkpointing": False,
        "actor_rollout_ref.model.use_fused_kernels": False,
        "actor_rollout_ref.model.external_lib": "compass.rl.cpu.engine",
        "actor_rollout_ref.model.fused_kernel_options.impl_backend": "torch",
        **trained(ACTOR),
        **trained(REF),
        f"{ACTOR}.use_dynamic_bsz": False,
        f"{ACTOR}.ppo_micro_batch_size_per_gpu": 64,
        f"{ACTOR}.ppo_max_token_len_per_gpu": 64 * 160,
        f"{REF}.log_prob_use_dynamic_bsz": False,
        f"{REF}.log_prob_micro_batch_size_per_gpu": 64,
        f"{REF}.log_prob_max_token_len_per_gpu": 64 * 160,
        f"{ROLLOUT}.log_prob_use_dynamic_bsz": False,
        f"{ROLLOUT}.log_prob_micro_batch_size_per_gpu": 64,
        f"{ROLLOUT}.log_prob_max_token_len_per_gpu": 64 * 160,
        f"{ROLLOUT}.dtype": "float32",
        f"{ROLLOUT}.gpu_memory_utilization": 0.5,
        f"{ROLLOUT}.tensor_model_parallel_size": 1,
        f"{ROLLOUT}.enforce_eager": True,
        f"{ROLLOUT}.free_cache_engine": False,
        f"{ROLLOUT}.enable_sleep_mode": False,
        f"{ROLLOUT}.max_num_seqs": 256,
        f"{ROLLOUT}.max_num_batched_tokens": 8192,
        f"{ROLLOUT}.agent.num_workers": 1,
        f"{ROLLOUT}.checkpoint_engine.update_weights_bucket_megabytes": 64,
        f"{ROLLOUT}.engine_kwargs.vllm": {
            "worker_extension_cls": "compass.rl.cpu.rollout.CpuRolloutWorker",
            "distributed_executor_backend": "uni",
            "block_size": 32,
        },
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": 1,
    }


def test_half_precision_is_for_parameters_alone_of_the_policy_and_its_reference(tmp_path: Path) -> None:
    resources = TINY.resources.model_copy(update={"dtype": "bfloat16"})
    values = cpu_overrides(TINY.model_copy(update={"resources": resources}), tmp_path)
    assert trained(ACTOR, "bf16", "bfloat16").items() <= values.items()
    assert trained(REF, "bf16", "bfloat16").items() <= values.items()


@pytest.mark.parametrize(
    ("asked", "responses"),
    [(64, 60), (59, 40), (1, 1), (1000, 120)],  # of 20 problems times 6 responses
)
def test_a_pass_holds_a_divisor_of_the_responses_of_an_update(asked: int, responses: int) -> None:
    settings = TINY.model_copy(
        update={
            "optimizer": TINY.optimizer.model_copy(update={"mini_batch_size": 20}),
            "rollout": TINY.rollout.model_copy(update={"group_size": 6}),
            "resources": TINY.resources.model_copy(update={"micro_batch_size": asked}),
        }
    )
    assert micro_batch(settings) == responses
