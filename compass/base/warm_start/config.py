"""From a warm start's settings to one complete configuration of verl's supervised trainer."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.rl.verl_keys import set_key, verls_own
from compass.settings import WarmStart

if TYPE_CHECKING:
    from omegaconf import DictConfig

NOT_IN_VERLS_FILES = ("engine.mixed_precision",)
"""Keys that verl reads though its YAML files lack them: a field of FSDPEngineConfig."""


def sft_config(settings: WarmStart, *, model: Path, examples: Path, checkpoints: Path) -> DictConfig:
    """The complete configuration for `verl.trainer.sft_trainer`.

    Args:
        settings: the warm start's.
        model: folder of the weights to start from.
        examples: what `write_examples` wrote.
        checkpoints: where verl keeps its training state.

    Raises:
        VerlKeyError: the installed verl has no such key.
    """
    config = deepcopy(verls_own("sft_trainer_engine"))
    for key, value in _overrides(settings, model, examples, checkpoints).items():
        set_key(config, key, value, absent=NOT_IN_VERLS_FILES)
    return config


def _overrides(settings: WarmStart, model: Path, examples: Path, checkpoints: Path) -> dict[str, Any]:
    on_cpu = settings.gpus == 0
    precision = {"float32": "fp32", "bfloat16": "bf16"}[settings.dtype]
    return {
        "data.train_files": str(examples),
        "data.train_batch_size": settings.batch_size,
        "data.micro_batch_size_per_gpu": _micro_batch(settings),
        "data.use_dynamic_bsz": False,
        "data.max_token_len_per_gpu": settings.max_tokens * _micro_batch(settings),
        "data.max_length": settings.max_tokens,
        "data.pad_mode": "no_padding",
        "data.num_workers": 0,
        "data.custom_cls.path": "pkg://compass.base.warm_start.train",
        "data.custom_cls.name": "ExampleDataset",
        "model.path": str(model),
        "model.use_remove_padding": False,
        "model.enable_gradient_checkpointing": False,
        "model.override_config": {"attn_implementation": "sdpa"},
        "engine.strategy": "fsdp2",
        "engine.model_dtype": "fp32",
        "engine.dtype": settings.dtype,
        "engine.mixed_precision": {"param_dtype": precision, "reduce_dtype": "fp32", "buffer_dtype": "fp32"},
        "engine.use_torch_compile": False,
        "optim.lr": settings.learning_rate,
        "optim.lr_warmup_steps": settings.warmup_steps,
        "optim.lr_scheduler_type": settings.schedule,
        "optim.weight_decay": settings.weight_decay,
        "trainer.device": "cpu" if on_cpu else "cuda",
        "trainer.n_gpus_per_node": max(1, settings.gpus),
        "trainer.total_training_steps": settings.steps,
        "trainer.total_epochs": settings.steps,  # an epoch has at least one step; the number of steps decides
        "trainer.save_freq": settings.save_every,
        "trainer.max_ckpt_to_keep": 2,
        "trainer.default_local_dir": str(checkpoints),
        "trainer.logger": ["file"],
        "trainer.project_name": "compass-thinker",
        "trainer.experiment_name": "warm-start",
    }


def _micro_batch(settings: WarmStart) -> int:
    """Examples in one pass per rank: the largest number up to `micro_batch_size` that divides a rank's share of a batch."""
    share = settings.batch_size // max(1, settings.gpus)
    return max(number for number in range(1, min(settings.micro_batch_size, share) + 1) if share % number == 0)
