"""Rollout correction: verl's losses with and without the trainer's old log-probabilities."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compass.rl.config import verl_config
from compass.rl.correction import COMPARED, responses_per_pass, spread_keys
from compass.rl.paths import StagePaths
from compass.settings import RlStage
from compass.settings.correction import Correction
from tests.conftest import changed_stage

PATHS = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))
KEYS = "algorithm.rollout_correction"


def stage(gpus: int = 0, **correction: Any) -> RlStage:
    """The first stage of profile `debug` with a correction."""
    return changed_stage("debug", {"rl.rollout.correction": correction, "rl.resources.gpus": gpus})


@pytest.mark.parametrize("gpus", [0, 1])
@pytest.mark.parametrize(
    ("correction", "loss"),
    [({}, "vanilla"), ({"weights": "sequence", "weight_below": 0.5}, "vanilla"), ({"bypass": True}, "bypass_mode")],
)
def test_verl_accepts_a_correction(
    correction: dict[str, Any], loss: str, gpus: int, accepted: Callable[..., Any]
) -> None:
    actor = accepted("rl-1", stage(gpus, **correction))
    assert actor.policy_loss.loss_mode == loss


def test_what_verls_own_keys_add_to_a_correction_reaches_the_loss_of_bypass(accepted: Callable[..., Any]) -> None:
    own = {
        "algorithm.rollout_correction.rollout_rs": "seq_mean_k1",
        "algorithm.rollout_correction.rollout_rs_threshold": "0.999_1.001",
    }
    settings = stage(bypass=True, loss="reinforce").model_copy(update={"verl": own})
    config = verl_config("rl-1", settings, PATHS, seed=0)
    assert config.actor_rollout_ref.actor.policy_loss.rollout_correction == config.algorithm.rollout_correction
    assert accepted("rl-1", settings).policy_loss.rollout_correction["loss_type"] == "reinforce"


@pytest.mark.parametrize(
    ("responses", "ranks", "count"), [(128, 1, COMPARED), (12, 1, 12), (128, 3, 18), (64, 8, 16), (128, 32, 32)]
)
def test_the_compared_are_spread_over_the_batch_and_divide_among_ranks(responses: int, ranks: int, count: int) -> None:
    keys = [str(n) for n in range(responses)]
    chosen = spread_keys(keys, ranks)
    assert len(chosen) == len(set(chosen)) == count
    assert chosen[0] == "0"
    assert int(chosen[-1]) >= responses * (count - 1) // count


@pytest.mark.parametrize(
    ("responses", "configured", "expected"), [(16, 4, 4), (16, 64, 16), (12, 8, 4), (16, None, 16)]
)
def test_the_compared_take_no_larger_passes_than_all_others(responses: int, configured: int, expected: int) -> None:
    assert responses_per_pass(responses, configured) == expected


def losses(
    ours: Correction, log_probs: Any, rollout: Any, advantages: Any, mask: Any, aggregation: str, own: Any = None
) -> Any:
    """The policy's loss, its gradient and verl's metrics at the first update, as verl's trainer comes to them."""
    import torch
    from verl.trainer.ppo.core_algos import get_policy_loss_fn
    from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_and_rejection_mask
    from verl.utils.config import omega_conf_to_dataclass

    config = verl_config("rl-1", stage(**ours.model_dump()).model_copy(update={"verl": own or {}}), PATHS, seed=0)
    actor = omega_conf_to_dataclass(config.actor_rollout_ref.actor)
    actor.global_batch_info.update(dp_size=1, batch_num_tokens=int(mask.sum()), global_batch_size=len(mask))
    weights = None
    if not ours.bypass:
        arguments = {
            name: value
            for name, value in config.algorithm.rollout_correction.items()
            if name not in ("bypass_mode", "loss_type")
        }
        made, mask, _ = compute_rollout_correction_and_rejection_mask(log_probs, rollout, mask, **arguments)
        weights = None if made is None else made.batch["rollout_is_weights"]
    policy = log_probs.clone().requires_grad_()
    loss, metrics = get_policy_loss_fn(actor.policy_loss.loss_mode)(
        old_log_prob=rollout if ours.bypass else log_probs,
        log_prob=policy,
        advantages=advantages,
        response_mask=mask,
        loss_agg_mode=aggregation,
        config=actor,
        rollout_is_weights=weights,
    )
    loss.backward()
    assert isinstance(policy.grad, torch.Tensor)
    return loss.item(), policy.grad, metrics


@pytest.fixture
def batch() -> tuple[Any, ...]:
    """Log-probabilities of the trainer, noise of the rollout engine's, advantages and mask of 6 responses."""
    import torch

    torch.manual_seed(0)
    log_probs = -torch.rand(6, 9) * 3
    advantages = torch.randn(6, 1).expand(6, 9)
    mask = torch.arange(9)[None, :] < torch.tensor([9, 4, 7, 1, 9, 5])[:, None]
    return log_probs, torch.randn(6, 9), advantages, mask


def test_weights_by_hand(batch: tuple[Any, ...]) -> None:
    """Truncated importance sampling: each token's gradient times its own or its response's ratio, at most the limit."""
    import torch

    log_probs, noise, advantages, mask = batch
    rollout = log_probs - 0.6 * noise
    plain = losses(Correction(), log_probs, rollout, advantages, mask, "token-mean")[1]
    ratio = (log_probs - rollout).exp()
    whole = ((log_probs - rollout) * mask).sum(dim=1, keepdim=True).exp().expand_as(ratio)
    for weights, expected in (("token", ratio), ("sequence", whole)):
        limited = expected.clamp(max=2.0)
        assert 0 < (limited < expected)[mask].sum() < mask.sum()  # the limit acts on some
        own = losses(Correction(weights=weights), log_probs, rollout, advantages, mask, "token-mean")[1]
        torch.testing.assert_close(own, plain * limited)
    kept = (ratio >= 0.5) & (ratio <= 2.0)
    icepop = Correction(weights="token", weight_below=0.5)
    own = losses(icepop, log_probs, rollout, advantages, mask, "token-mean")[1]
    torch.testing.assert_close(own, plain * ratio * kept)


@pytest.mark.parametrize("bypass", [False, True])
def test_rejected_responses_have_no_gradient(batch: tuple[Any, ...], bypass: bool) -> None:
    """The geometric mean of a response's ratios, beyond the limits of which it does not train."""
    import torch

    log_probs, noise, advantages, mask = batch
    rollout = log_probs - 0.1 * noise
    mean = ((log_probs - rollout) * mask).sum(dim=1) / mask.sum(dim=1)
    kept = (mean.exp() <= 1.03) & (mean.exp() >= 1 / 1.03)
    assert 0 < kept.sum() < 6
    reject = {f"{KEYS}.rollout_rs": "seq_mean_k1", f"{KEYS}.rollout_rs_threshold": 1.03}
    gradient = losses(Correction(bypass=bypass), log_probs, rollout, advantages, mask, "token-mean", reject)[1]
    assert torch.equal(gradient.abs().sum(dim=1) > 0, kept)
