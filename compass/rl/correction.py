"""Rollout correction: the settings as verl's keys, and what is still compared where the trainer's own pass is left out.

With `rollout.correction.bypass` verl takes the rollout engine's log-probabilities for the old ones. The trainer's pass over all responses
is what the guard `agreement` compares them with, and what entropy is measured in. A few responses of every iteration are therefore passed
through the trainer all the same, before the update, and give the same metrics by verl's own functions.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from compass.settings.correction import Correction

if TYPE_CHECKING:
    import numpy as np

BYPASS_COPY = "actor_rollout_ref.actor.policy_loss.rollout_correction"
"""Where the policy's loss reads the correction with `bypass`; the trainer in use (v1) does not copy it there itself."""

COMPARED = 16
"""Responses of an iteration that are compared with `bypass`: rollout engines of other weights differ on every one."""


def correction_overrides(ours: Correction) -> dict[str, Any]:
    """verl's keys of rollout correction, with their values; two limits are one text, the lower one first."""
    above, below = ours.weight_above, ours.weight_below
    values = {
        "algorithm.rollout_correction.rollout_is": None if ours.weights == "none" else ours.weights,
        "algorithm.rollout_correction.rollout_is_threshold": above if below is None else f"{below}_{above}",
        "algorithm.rollout_correction.bypass_mode": ours.bypass,
        "algorithm.rollout_correction.loss_type": ours.loss,
    }
    return values | ({"actor_rollout_ref.actor.policy_loss.loss_mode": "bypass_mode"} if ours.bypass else {})


def spread_keys(keys: list[str], ranks: int, wanted: int = COMPARED) -> list[str]:
    """Keys evenly spread over a batch: the smallest multiple of the ranks that is at least `wanted`, at most all of them."""
    count = min(len(keys), -(-wanted // ranks) * ranks)
    return [keys[place * len(keys) // count] for place in range(count)]


def responses_per_pass(responses: int, configured: int | None) -> int:
    """How many of a rank's compared responses one pass holds: at most as many as any other pass, and a divisor, as verl wants it.

    Args:
        responses: the rank's.
        configured: of the stage's other passes; None where these are cut by tokens, and verl does not read the number.
    """
    return math.gcd(responses, configured or responses)


def compare_responses(trainer: Any, batch: Any) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    """Pass some responses through the trainer as verl does with all of them without `bypass`.

    Args:
        trainer: verl's, with its workers.
        batch: verl's `KVBatchMeta` of the iteration, its responses scored.

    Returns:
        verl's metrics of the difference between rollout and trainer and of entropy, over these responses, and the trainer's
        log-probabilities of each by its key.
    """
    import transfer_queue as tq
    from verl import DataProto
    from verl.trainer.ppo.core_algos import agg_loss
    from verl.utils import tensordict_utils as tu
    from verl.utils.debug.metrics import calculate_debug_metrics
    from verl.workers.utils.padding import response_from_nested

    from compass.rl.policy_loss import PER_TOKEN

    config, workers = trainer.config.actor_rollout_ref, trainer.actor_rollout_wg
    ranks = workers.world_size
    real = [key for key, tag in zip(batch.keys, batch.tags, strict=True) if not tag.get("is_padding", False)]
    keys = spread_keys(real, ranks)
    data = tq.kv_batch_get(keys=keys, partition_id=batch.partition_id)
    tu.assign_non_tensor(
        data,
        calculate_entropy=True,
        compute_loss=False,
        temperature=config.rollout.temperature,
        micro_batch_size_per_gpu=responses_per_pass(
            len(keys) // ranks, config.rollout.log_prob_micro_batch_size_per_gpu
        ),
    )
    # handed over as they are: what a worker writes back to the queue would be there for these responses alone
    output = workers.compute_log_prob(data)
    mask = data["response_mask"]
    of_trainer = response_from_nested(tu.get(output, "log_probs"), mask)
    fields = data.select("responses", "response_mask", "rollout_log_probs")
    fields["old_log_probs"] = of_trainer
    fields["entropy"] = response_from_nested(tu.get(output, "entropy"), mask)
    padded = fields.to_padded_tensor()
    entropy = agg_loss(
        loss_mat=padded["entropy"],
        loss_mask=padded["response_mask"],
        loss_agg_mode=PER_TOKEN,
    )
    metrics = {"actor/entropy": entropy.item(), **calculate_debug_metrics(DataProto(batch=padded))}
    return metrics, {key: row.numpy() for key, row in zip(keys, of_trainer.unbind(), strict=True)}
