"""Update from one batch after a pass for old log-probabilities, and in one pass: `python engine_one_update.py MODEL` prints both."""

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from engine_passes import batch
from tensordict import NonTensorData, TensorDict
from verl.trainer.config import CheckpointConfig
from verl.workers.config import ActorConfig, FSDPEngineConfig, FSDPOptimizerConfig, HFModelConfig
from verl.workers.engine.base import EngineRegistry
from verl.workers.utils.losses import ppo_loss
from verl.workers.utils.padding import response_from_nested

from compass.rl import one_update

APART = 0.01
"""How far the rollout's log-probabilities are from the trainer's here."""


def main(model: str) -> None:
    torch.distributed.init_process_group("cpu:gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
    precision = {"param_dtype": "fp32", "reduce_dtype": "fp32", "buffer_dtype": "fp32"}
    engine = EngineRegistry.get_engine_cls("language_model", "fsdp2")(
        HFModelConfig(
            path=model,
            use_remove_padding=False,
            enable_gradient_checkpointing=False,
            external_lib="compass.rl.cpu.engine",
            override_config={"attn_implementation": "sdpa"},
        ),
        FSDPEngineConfig(
            strategy="fsdp2", model_dtype="fp32", dtype="float32", use_torch_compile=False, mixed_precision=precision
        ),
        FSDPOptimizerConfig(lr=1e-3),
        CheckpointConfig(),
    )
    engine.initialize()
    actor = ActorConfig(strategy="fsdp2", rollout_n=1, ppo_mini_batch_size=8, ppo_micro_batch_size_per_gpu=4)

    def update(data: TensorDict, loss: Callable[..., Any]) -> dict[str, Any]:
        with engine.train_mode():
            engine.optimizer_zero_grad()
            result = engine.forward_backward_batch(data, partial(loss, actor))
            gradients = {name: part.grad.full_tensor().tolist() for name, part in engine.module.named_parameters()}
        apart = result["metrics"].get("training/rollout_probs_diff_valid")
        return {"loss": sum(result["loss"]), "gradients": gradients, "compared": apart is not None}

    with engine.eval_mode():
        passed = engine.forward_backward_batch(batch(), None, forward_only=True)["model_output"]["log_probs"]
    twice, once = batch(), batch()
    old = response_from_nested(passed, twice["response_mask"])
    twice["old_log_probs"] = old
    once["old_log_probs"] = torch.nested.as_nested_tensor([row + APART for row in old.unbind()], layout=torch.jagged)
    once[one_update.FLAG] = NonTensorData(True)
    json.dump({"twice": update(twice, ppo_loss), "once": update(once, one_update.loss)}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
