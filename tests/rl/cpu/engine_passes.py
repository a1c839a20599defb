"""Put one batch through an engine and print what comes out: `python engine_passes.py ours|verl MODEL [bfloat16]`."""

import json
import sys
from functools import partial
from typing import Any

import torch
from tensordict import NonTensorData, TensorDict
from verl.trainer.config import CheckpointConfig
from verl.workers.config import ActorConfig, FSDPEngineConfig, FSDPOptimizerConfig, HFModelConfig
from verl.workers.engine.base import EngineRegistry
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithLMHead
from verl.workers.utils.losses import ppo_loss


def batch() -> TensorDict:
    """Two prompts with three responses each and one with one, in no order; a temperature for each response."""
    generator = torch.Generator().manual_seed(0)

    def tokens(*lengths: int) -> list[torch.Tensor]:
        return [torch.randint(5, 60, (length,), generator=generator) for length in lengths]

    first, second, third = tokens(9, 4, 6)
    prompts = [first, second, first, third, second, first, second, third]
    responses = tokens(5, 1, 9, 2, 7, 3, 3, 8)
    whole = [torch.cat(pair) for pair in zip(prompts, responses, strict=True)]

    def nested(parts: list[torch.Tensor]) -> torch.Tensor:
        return torch.nested.as_nested_tensor(parts, layout=torch.jagged)

    def drawn() -> torch.Tensor:
        return nested([torch.randn(len(part), generator=generator) for part in responses])

    ones = nested([torch.ones(len(part), dtype=torch.long) for part in responses])
    return TensorDict(
        {
            "prompts": nested(prompts),
            "responses": nested(responses),
            "input_ids": nested(whole),
            "position_ids": nested([torch.arange(len(part)) for part in whole]),
            "response_mask": ones,
            "loss_mask": ones,
            "old_log_probs": nested([-4 + part for part in drawn().unbind()]),
            "advantages": drawn(),
            "temperature": torch.linspace(0.5, 1.5, 8),
            "use_dynamic_bsz": NonTensorData(False),
            "use_remove_padding": NonTensorData(False),
            "use_fused_kernels": NonTensorData(False),
            "micro_batch_size_per_gpu": NonTensorData(4),
            "calculate_entropy": NonTensorData(True),
            "global_batch_size": NonTensorData(8),
            "return_model_output": NonTensorData(True),
        },
        batch_size=8,
    )


def make_engine(model: str, *, ours: bool, dtype: str = "float32") -> Any:
    """verl's engine for one process on the CPU, or the project's."""
    torch.distributed.init_process_group("cpu:gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
    low = "bf16" if dtype == "bfloat16" else "fp32"
    precision = {"param_dtype": low, "reduce_dtype": "fp32", "buffer_dtype": "fp32"}
    engine_config = FSDPEngineConfig(
        strategy="fsdp2", model_dtype="fp32", dtype=dtype, use_torch_compile=False, mixed_precision=precision
    )
    model_config = HFModelConfig(
        path=model,
        use_remove_padding=False,
        enable_gradient_checkpointing=False,
        external_lib="compass.rl.cpu.engine",
        override_config={"attn_implementation": "sdpa"},
    )
    found = EngineRegistry.get_engine_cls("language_model", "fsdp2")
    kind = found if ours else FSDPEngineWithLMHead
    engine = kind(model_config, engine_config, FSDPOptimizerConfig(lr=1e-3), CheckpointConfig())
    engine.initialize()
    return engine


def make_actor(**options: float) -> ActorConfig:
    """The policy's configuration, with a pass for each half of the batch."""
    return ActorConfig(strategy="fsdp2", rollout_n=1, ppo_mini_batch_size=8, ppo_micro_batch_size_per_gpu=4, **options)


def main(which: str, model: str, dtype: str = "float32") -> None:
    engine = make_engine(model, ours=which == "ours", dtype=dtype)
    given = batch()
    if dtype == "bfloat16":
        given["temperature"] = NonTensorData(1.0)
    with engine.train_mode():
        result = engine.forward_backward_batch(given, partial(ppo_loss, make_actor(entropy_coeff=0.1)))
        gradients = {name: part.grad.full_tensor().tolist() for name, part in engine.module.named_parameters()}
    sampled = {}
    for name, values in result["model_output"].items():
        parts = zip(values.unbind(), batch()["prompts"].unbind(), strict=True)
        sampled[name] = [part[len(prompt) - 1 : -1].tolist() for part, prompt in parts]
    found = {"engine": type(engine).__name__, "sampled": sampled, "loss": sum(result["loss"]), "gradients": gradients}
    found["dtypes"] = {name: str(values.dtype) for name, values in result["model_output"].items()}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
