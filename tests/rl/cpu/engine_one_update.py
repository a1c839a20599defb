"""Update from one batch after a pass for old log-probabilities, and in one pass: `python engine_one_update.py MODEL` prints both."""

import json
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from engine_passes import batch, make_actor, make_engine
from tensordict import NonTensorData, TensorDict
from verl.workers.utils.losses import ppo_loss
from verl.workers.utils.padding import response_from_nested

from compass.rl import policy_loss

APART = 0.01
"""How far the rollout's log-probabilities are from the trainer's here."""


def main(model: str) -> None:
    engine, actor = make_engine(model, ours=True), make_actor()

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
    once[policy_loss.FLAG] = NonTensorData(True)
    json.dump({"twice": update(twice, ppo_loss), "once": update(once, policy_loss.loss)}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
