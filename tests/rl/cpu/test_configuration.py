"""What verl is told differently on the CPU."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from compass.rl.cpu.configuration import cpu_overrides, largest_weight

BUCKET = "actor_rollout_ref.rollout.checkpoint_engine.update_weights_bucket_megabytes"


def weights(folder: Path, name: str, *shapes: tuple[int, ...]) -> Path:
    save_file({str(number): np.zeros(shape, np.uint8) for number, shape in enumerate(shapes)}, folder / name)
    return folder


def test_every_difference_is_listed(tmp_path: Path) -> None:
    rollout, actor = "actor_rollout_ref.rollout", "actor_rollout_ref.actor"
    assert cpu_overrides("float32", tmp_path) == {
        "trainer.device": "cpu",
        "ray_kwargs.ray_init.num_gpus": 1,
        "ray_kwargs.ray_init.num_cpus": 16,
        "ray_kwargs.ray_init.include_dashboard": False,
        "ray_kwargs.ray_init.object_store_memory": 512 * 2**20,
        "actor_rollout_ref.model.override_config.attn_implementation": "sdpa",
        "actor_rollout_ref.model.use_remove_padding": False,
        "actor_rollout_ref.model.enable_gradient_checkpointing": False,
        f"{actor}.use_torch_compile": False,
        f"{actor}.fsdp_config.use_torch_compile": False,
        f"{actor}.fsdp_config.mixed_precision": {
            "param_dtype": "fp32",
            "reduce_dtype": "fp32",
            "buffer_dtype": "fp32",
        },
        f"{rollout}.enforce_eager": True,
        f"{rollout}.free_cache_engine": False,
        f"{rollout}.enable_sleep_mode": False,
        f"{rollout}.max_num_seqs": 256,
        f"{rollout}.max_num_batched_tokens": 8192,
        f"{rollout}.agent.num_workers": 1,
        BUCKET: 64,
        f"{rollout}.engine_kwargs.vllm": {
            "worker_extension_cls": "compass.rl.cpu.rollout.CpuRolloutWorker",
            "distributed_executor_backend": "uni",
        },
        "transfer_queue.backend.SimpleStorage.num_data_storage_units": 1,
    }


def test_half_precision_is_for_parameters_alone(tmp_path: Path) -> None:
    precision = cpu_overrides("bfloat16", tmp_path)["actor_rollout_ref.actor.fsdp_config.mixed_precision"]
    assert precision == {"param_dtype": "bf16", "reduce_dtype": "fp32", "buffer_dtype": "fp32"}


@pytest.mark.parametrize(("elements", "mebibytes"), [(16 * 2**20 - 2**18, 64), (16 * 2**20, 65), (16 * 2**20 + 1, 66)])
def test_the_largest_weight_fits_whole_into_a_bucket_in_single_precision(
    tmp_path: Path, elements: int, mebibytes: int
) -> None:
    weights(tmp_path, "model.safetensors", (elements,))
    assert cpu_overrides("float32", tmp_path)[BUCKET] == mebibytes


def test_the_largest_weight_is_sought_in_every_file(tmp_path: Path) -> None:
    weights(tmp_path, "model-00001.safetensors", (3, 5), (4,))
    weights(tmp_path, "model-00002.safetensors", (2, 9), (2, 2))
    weights(tmp_path, "model-00003.safetensors", (7,))
    assert largest_weight(tmp_path) == 18


def test_a_folder_without_weights_has_no_largest(tmp_path: Path) -> None:
    assert largest_weight(tmp_path) == 0
