"""What training and sampling take of a GPU's memory, by part, and what does not fit."""

from __future__ import annotations

from compass.plan.hardware import Gpu
from compass.plan.shape import Shape
from compass.settings import RlStage, Sampling

STATE_BYTES = 16
"""Bytes per trained parameter: parameters, gradients and AdamW's two averages in single precision, shared by the GPUs of `count_shards` (FSDP)."""

CONTEXT_GB = 1.5
"""CUDA's context, NCCL's buffers and fragmentation."""

FSDP_SIZE = "actor_rollout_ref.actor.fsdp_config.fsdp_size"
"""verl's key for the GPUs that share one copy of the training state; -1 is all."""

ATTENTION = "actor_rollout_ref.model.override_config.attn_implementation"
"""verl's key for the trainer's attention; torch's own (`sdpa`) takes a mask."""

LOGIT_ROWS = 512
"""Tokens for which verl's fused output layer makes logits at a time."""

ACTIVATION_BYTES = 34
"""Bytes per token and unit of width that the one layer that is recomputed holds in 16 bits (Korthikanti et al., arXiv 2205.05198)."""


def count_shards(stage: RlStage, gpus: int) -> int:
    """GPUs that share one copy of the training state: those of a node, or as `rl.verl` says."""
    nodes = stage.resources.nodes
    size = stage.verl.get(FSDP_SIZE, gpus // nodes if nodes > 1 else -1)
    return size if isinstance(size, int) and 0 < size < gpus else gpus


def state_bytes(stage: RlStage, shape: Shape) -> int:
    """Bytes of parameters, gradients and AdamW's averages; with LoRA of the parameters and of what is trained in their place."""
    if rank := stage.lora.rank:
        return 4 * shape.parameters + STATE_BYTES * shape.lora_parameters(rank)
    return STATE_BYTES * shape.parameters


def critic_bytes(stage: RlStage, shape: Shape) -> int:
    """Bytes of a critic's parameters, gradients and AdamW's averages: as many as the policy's. (The reference of a KL penalty waits in the node's
    memory: verl puts it there.)"""
    return state_bytes(stage, shape) if stage.advantage.estimator == "gae" else 0


def training_parts(stage: RlStage, shape: Shape, gpus: int) -> dict[str, float]:
    """GB per GPU at the peak of an update, by part; `gpus` are those of all nodes."""
    resources, shards = stage.resources, count_shards(stage, gpus)
    tokens = resources.micro_batch_tokens
    state = 0.0 if resources.offload == "always" else state_bytes(stage, shape) / shards
    critic = critic_bytes(stage, shape) / shards if resources.offload == "none" else 0.0
    largest = max(shape.layer_parameters, shape.vocabulary * shape.hidden)
    parts = {
        "parameters, gradients, AdamW": state,
        "critic": critic,
        "one layer, gathered": 6 * largest,
        "kept activations": 2 * tokens * shape.hidden * shape.layers,
        "a layer's activations": ACTIVATION_BYTES * tokens * shape.hidden,
        "attention mask": 2 * tokens**2 if stage.verl.get(ATTENTION, "sdpa") == "sdpa" else 0.0,
        "logits": 10 * LOGIT_ROWS * shape.vocabulary,
    }
    return {name: size / 1e9 for name, size in parts.items() if size} | {"CUDA, NCCL": CONTEXT_GB}


def sampling_parts(shape: Shape, *, split: int, length: int, dtype: str) -> dict[str, float]:
    """GB per GPU that an engine needs at least: its weights, and the keys and values of one sequence of this length; in 16 bits but for
    `float32`."""
    wider = 2 if dtype == "float32" else 1
    return {
        "weights": wider * 2 * shape.parameters / split / 1e9,
        "one sequence": wider * shape.kv_bytes * length / split / 1e9,
        "CUDA": CONTEXT_GB,
    }


def find_training_shortage(stage: RlStage, shape: Shape, gpu: Gpu, gpus: int) -> tuple[str, str] | None:
    """What does not fit in training, and the setting that mends it; None where all fits.

    Args:
        stage: its settings.
        shape: the policy's.
        gpu: the kind of GPU, with its memory.
        gpus: how many there are in all nodes.
    """
    parts = training_parts(stage, shape, gpus)
    need = sum(parts.values())
    if need > gpu.memory_gb:
        largest = max(parts, key=lambda part: parts[part])
        found = f"training needs {need:,.0f} GB per GPU ({largest} {parts[largest]:,.0f}), and {gpu.name} has {gpu.memory_gb:.0f}"
        return found, _mend_training(stage, shape, gpu, gpus)
    resources = stage.resources
    kept = state_bytes(stage, shape) + critic_bytes(stage, shape)
    resident = kept / count_shards(stage, gpus) / 1e9 if resources.offload == "none" else 0.0
    engine = resources.rollout_memory * gpu.memory_gb
    if resident + engine > gpu.memory_gb:
        found = f"while it samples, a GPU holds {resident:,.0f} GB of training state and {engine:,.0f} GB of the engine, and {gpu.name} has {gpu.memory_gb:.0f}"
        return found, "`rl.resources.offload: idle`, or a lower `rl.resources.rollout_memory`"
    length = stage.data.max_prompt_tokens + stage.rollout.max_response_tokens
    parts = sampling_parts(shape, split=resources.tensor_parallel, length=length, dtype=resources.dtype)
    least = sum(parts.values())
    if least > engine:
        found = f"its engine needs {least:,.0f} GB per GPU, and `rollout_memory` {resources.rollout_memory:g} of {gpu.name} is {engine:,.0f}"
        return found, "raise `rl.resources.rollout_memory` or `rl.resources.tensor_parallel`"
    return None


def _mend_training(stage: RlStage, shape: Shape, gpu: Gpu, gpus: int) -> str:
    """The settings with which training would fit: fewer tokens in a pass, what waits in the node's memory, or more GPUs."""
    resources, longest = stage.resources, stage.data.max_prompt_tokens + stage.rollout.max_response_tokens
    tokens = min(longest, resources.micro_batch_tokens)
    with_fewer = f" with `rl.resources.micro_batch_tokens: {tokens}`" if tokens < resources.micro_batch_tokens else ""

    def fits(count: int = gpus, **changed: str) -> bool:
        other = resources.model_copy(update={"micro_batch_tokens": tokens, **changed})
        parts = training_parts(stage.model_copy(update={"resources": other}), shape, count)
        return sum(parts.values()) <= gpu.memory_gb

    if fits():
        return f"`rl.resources.micro_batch_tokens: {tokens}`"
    if resources.offload == "none" and fits(offload="idle"):
        return f"`rl.resources.offload: idle`{with_fewer}"
    remedies = []
    if fits(offload="always"):
        state = (state_bytes(stage, shape) + critic_bytes(stage, shape)) / 1e9
        remedies.append(f"`rl.resources.offload: always`{with_fewer} keeps {state:,.0f} GB in the node's memory (slow)")
    if more := next((count for count in (2**n for n in range(11)) if count > gpus and fits(count)), None):
        remedies.append(f"{more} GPUs of this kind (`rl.resources.gpus`){with_fewer}")
    return ", or ".join(remedies) or "a smaller model, or shorter `rl.rollout.max_response_tokens`"


def find_sampling_shortage(where: str, sampling: Sampling, shape: Shape, gpu: Gpu) -> tuple[str, str] | None:
    """What does not fit while a stage samples with an engine of its own, and the setting that mends it; None where all fits.

    Args:
        where: the section, `grade` or `evaluate`.
        sampling: its settings.
        shape: the model's.
        gpu: the kind of GPU, with its memory.
    """
    parts = sampling_parts(shape, split=sampling.tensor_parallel, length=sampling.max_model_len, dtype=sampling.dtype)
    need = sum(parts.values())
    room = sampling.memory * gpu.memory_gb
    if need <= room:
        return None
    found = f"its engine needs {need:,.0f} GB per GPU, and `memory` {sampling.memory:g} of {gpu.name} is {room:,.0f}"
    return found, f"raise `{where}.sampling.tensor_parallel`, or lower `{where}.sampling.max_model_len`"
