"""The loss of the policy: verl's, where verl's can be taken as it is.

- **One forward pass instead of two, where an iteration is one update.** PPO compares the policy with the one that it was before the
  iteration's first update, and verl computes the log-probabilities of that one ("old") in a pass of their own. Where an iteration has a
  single update, they are those that the update's own forward pass gives, and every ratio is exactly 1. `loss` takes them from there, and
  measures there what verl measures in the pass that is saved: entropy, and how far rollout and trainer are apart.
  `compass.rl.stage_trainer` asks for it in iterations whose rollouts are not kept; the others have verl's own pass, whose numbers
  the table of rollouts shows per response.
- **Where no token trains** (`loss.overlong_filter`), verl divides by 0; the loss is 0.
- **`geo_mean`** averages over the responses of a pass in verl, so that its gradient grows with the number of passes; here it averages over those
  of the update.
- **Entropy is per token**, as a metric. verl averages it as `loss.aggregation` averages the loss, so that arms of a study could not be
  compared, nor an entropy with a target in nats per token.
"""

from __future__ import annotations

from typing import Any

import torch
from verl.protocol import DataProto
from verl.trainer.ppo.core_algos import agg_loss, compute_policy_loss_geo_mean, register_policy_loss
from verl.trainer.ppo.rollout_corr_helper import compute_offpolicy_metrics
from verl.utils import tensordict_utils as tu
from verl.utils.debug.metrics import calculate_debug_metrics
from verl.utils.metric import AggregationType, Metric
from verl.workers.utils.losses import ppo_loss
from verl.workers.utils.padding import response_from_nested

FLAG = "one_update"
"""What the trainer sends with a batch whose `old_log_probs` are the rollout's."""

PER_TOKEN = "token-mean"
"""verl's name of the mean over tokens."""

MEASURED = ("training/", "rollout_corr/")
"""Beginnings of the names of the metrics that `loss` adds."""


def loss(
    config: Any, model_output: dict[str, Any], data: Any, dp_group: Any = None
) -> tuple[torch.Tensor, dict[str, Any]]:
    """verl's policy loss, as the module says; see its `ppo_loss` for what goes in and out.

    Args:
        config: verl's configuration of the actor.
        model_output: nested `log_probs`, and `entropy` where it is asked for, of every token.
        data: a micro-batch, with the tokens that train in the whole update as `batch_num_tokens`; with `FLAG`, its `old_log_probs` are those of the rollout engine.
        dp_group: the process group, as verl hands it.

    Returns:
        the loss, and metrics. With `FLAG` they hold verl's `training/rollout_probs_diff_*` and `rollout_corr/*`: largest and smallest
        values over the whole batch, means over micro-batches.
    """
    if config.entropy_coeff == 0 and "entropy" in model_output:
        model_output = {**model_output, "entropy": model_output["entropy"].detach()}  # no gradient times 0
    if not data["batch_num_tokens"]:
        tu.assign_non_tensor(data, batch_num_tokens=1)
    if not tu.get_non_tensor_data(data=data, key=FLAG, default=False):
        return ppo_loss(config, model_output, data, dp_group)
    mask, rollout = data["response_mask"], data["old_log_probs"]
    own = response_from_nested(model_output["log_probs"].detach(), mask)
    data["old_log_probs"] = own
    value, metrics = ppo_loss(config, model_output, data, dp_group)
    if "entropy" in model_output and config.loss_agg_mode != PER_TOKEN:
        entropy = response_from_nested(model_output["entropy"].detach(), mask)
        measured = agg_loss(
            loss_mat=entropy.to_padded_tensor(0),
            loss_mask=mask.to_padded_tensor(0),
            loss_agg_mode=PER_TOKEN,
            dp_size=data["dp_size"],
            batch_num_tokens=data["batch_num_tokens"],
        )
        metrics["actor/entropy_loss"] = Metric(metrics["actor/entropy_loss"].aggregation, float(measured))
    return value, {**metrics, **_measure_difference(own, rollout, mask)}


def rename_metrics(metrics: dict[str, Any]) -> None:
    """Give the metrics of an update that was the only pass the names that they have where verl makes one before it."""
    metrics["actor/entropy"] = metrics.pop("actor/entropy_loss")
    for name in [name for name in metrics if name.removeprefix("actor/").startswith(MEASURED)]:
        metrics[name.removeprefix("actor/")] = metrics.pop(name)


def _measure_difference(own: torch.Tensor, rollout: torch.Tensor, mask: torch.Tensor) -> dict[str, Metric]:
    """How far the trainer's and the rollout engine's log-probabilities are apart, in verl's metrics; over all tokens where none of them trains."""
    if not mask.values().any():
        mask = torch.ones_like(mask)
    own, rollout, mask = (column.to_padded_tensor(0).contiguous() for column in (own, rollout, mask))
    columns = {"old_log_probs": own, "rollout_log_probs": rollout, "response_mask": mask, "responses": mask}
    measured = calculate_debug_metrics(DataProto.from_dict(tensors=columns))
    measured |= {f"rollout_corr/{name}": value for name, value in compute_offpolicy_metrics(own, rollout, mask).items()}
    return {name: Metric(_aggregation(name), float(value)) for name, value in measured.items()}


@register_policy_loss("geo_mean")
def average_over_update(*, log_prob: torch.Tensor, config: Any, **rest: Any) -> tuple[torch.Tensor, dict[str, Any]]:
    """verl's loss `geo_mean` of a pass, whose sum over the passes of an update is the mean over the update's responses.

    Args:
        log_prob: of the pass's tokens, shape (responses, tokens).
        config: verl's configuration of the actor, with the update's size in `global_batch_info`.
        rest: what else verl's loss takes.
    """
    value, metrics = compute_policy_loss_geo_mean(log_prob=log_prob, config=config, **rest)
    update = config.global_batch_info
    return value * len(log_prob) * update["dp_size"] / update["global_batch_size"], metrics


def _aggregation(name: str) -> AggregationType:
    if name.endswith("_max"):
        return AggregationType.MAX
    return AggregationType.MIN if name.endswith(("_min", "_valid")) else AggregationType.MEAN
