"""Rollout correction: the settings against verl's own presets, and its losses with and without the trainer's old log-probabilities."""

from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from compass.rl.config import StagePaths, verl_config
from compass.rl.correction import COMPARED, correction_overrides, per_pass, some_of, verls_correction
from compass.settings import RlStage, Settings
from compass.settings.correction import PRESETS, Correction

ROOT = Path(__file__).resolve().parents[2]
PATHS = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))


def stage(gpus: int = 0, **correction: Any) -> RlStage:
    """The first stage of profile `debug` with a correction."""
    tree = yaml.safe_load((ROOT / "profiles/debug.yaml").read_text())
    tree["rl"]["rollout"]["correction"] = correction
    tree["rl"]["resources"]["gpus"] = gpus
    return Settings.model_validate(tree).rl.stages["rl-1"]


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_verls(name: str) -> None:
    from verl.trainer.config.algorithm import RolloutCorrectionConfig

    ours, verls = verls_correction(Correction(preset=name)), asdict(getattr(RolloutCorrectionConfig, name)())
    if verls["rollout_is"] is None:  # the limit of weights that are not made
        verls["rollout_is_threshold"] = ours["rollout_is_threshold"]
    assert ours == {field: verls[field] for field in ours}
    assert set(ours) == {field.name for field in fields(RolloutCorrectionConfig) if not field.name.startswith("_")}


def test_every_preset_of_verl_is_offered() -> None:
    from verl.trainer.config.algorithm import RolloutCorrectionConfig

    made = {name for name, value in vars(RolloutCorrectionConfig).items() if isinstance(value, classmethod)}
    assert made - {"from_dict"} == set(PRESETS)


@pytest.mark.parametrize("gpus", [0, 1])
@pytest.mark.parametrize("name", PRESETS)
def test_verl_accepts_a_preset(name: str, gpus: int, accepted: Callable[..., Any]) -> None:
    actor = accepted("rl-1", stage(gpus, preset=name))
    bypass = name.startswith("bypass")
    assert actor.policy_loss.loss_mode == ("bypass_mode" if bypass else "vanilla")
    if bypass:
        assert actor.policy_loss.rollout_correction.get("loss_type") == ("reinforce" if "_pg_" in name else "ppo_clip")


def test_without_bypass_the_policys_loss_is_not_touched() -> None:
    assert set(correction_overrides(Correction())) == {"algorithm.rollout_correction"}
    config = verl_config("rl-1", stage(), PATHS, seed=0)
    assert config.algorithm.rollout_correction.bypass_mode is False
    assert config.actor_rollout_ref.actor.policy_loss.loss_mode == "vanilla"


def test_limits_are_one_text_the_lower_first() -> None:
    ours = verls_correction(Correction(weights="token", weight_above=3.0, weight_below=0.25))
    assert ours["rollout_is_threshold"] == "0.25_3.0"
    ours = verls_correction(Correction(reject="token_k1", reject_above=1.5))
    assert ours["rollout_rs_threshold"] == 1.5


@pytest.mark.parametrize(
    ("responses", "ranks", "count"), [(128, 1, COMPARED), (12, 1, 12), (128, 3, 18), (64, 8, 16), (128, 32, 32)]
)
def test_the_compared_are_spread_over_the_batch_and_divide_among_ranks(responses: int, ranks: int, count: int) -> None:
    keys = [str(n) for n in range(responses)]
    chosen = some_of(keys, ranks)
    assert len(chosen) == len(set(chosen)) == count
    assert chosen[0] == "0"
    assert int(chosen[-1]) >= responses * (count - 1) // count


@pytest.mark.parametrize(
    ("responses", "configured", "expected"), [(16, 4, 4), (16, 64, 16), (12, 8, 4), (16, None, 16)]
)
def test_the_compared_take_no_larger_passes_than_all_others(responses: int, configured: int, expected: int) -> None:
    assert per_pass(responses, configured) == expected


def losses(ours: Correction, log_probs: Any, rollout: Any, advantages: Any, mask: Any, aggregation: str) -> Any:
    """The policy's loss, its gradient and verl's metrics at the first update, as verl's trainer comes to them."""
    import torch
    from verl.trainer.ppo.core_algos import get_policy_loss_fn
    from verl.trainer.ppo.rollout_corr_helper import compute_rollout_correction_and_rejection_mask
    from verl.utils.config import omega_conf_to_dataclass

    settings = stage(**ours.model_dump())
    actor = verl_config("rl-1", settings, PATHS, seed=0).actor_rollout_ref.actor
    actor = omega_conf_to_dataclass(actor)
    actor.global_batch_info.update(dp_size=1, batch_num_tokens=int(mask.sum()), global_batch_size=len(mask))
    weights = None
    if not ours.bypass:
        fields = verls_correction(ours)
        arguments = {name: value for name, value in fields.items() if name not in ("bypass_mode", "loss_type")}
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


@pytest.mark.parametrize("aggregation", ["token-mean", "seq-mean-token-mean", "seq-mean-token-sum"])
def test_bypass_is_exact_where_rollout_and_trainer_agree(batch: tuple[Any, ...], aggregation: str) -> None:
    import torch

    log_probs, _, advantages, mask = batch
    first = losses(Correction(), log_probs, log_probs, advantages, mask, aggregation)
    second = losses(Correction(preset="bypass_ppo_clip"), log_probs, log_probs, advantages, mask, aggregation)
    assert first[0] == second[0]
    assert torch.equal(first[1], second[1])


def test_bypass_differs_by_the_ratio_where_they_do_not(batch: tuple[Any, ...]) -> None:
    import torch

    log_probs, noise, advantages, mask = batch
    small = log_probs - 1e-3 * noise
    first = losses(Correction(), log_probs, small, advantages, mask, "token-mean")
    second = losses(Correction(preset="bypass_ppo_clip"), log_probs, small, advantages, mask, "token-mean")
    ratio = torch.where(mask, (log_probs - small).exp(), torch.ones(()))
    torch.testing.assert_close(second[1], first[1] * ratio)  # within the clip bounds
    assert not torch.allclose(second[1], first[1], rtol=1e-5)


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
    ours = Correction(bypass=bypass, reject="seq_mean_k1", reject_above=1.03)
    gradient = losses(ours, log_probs, rollout, advantages, mask, "token-mean")[1]
    assert torch.equal(gradient.abs().sum(dim=1) > 0, kept)


def test_reinforce_weighs_the_log_probability_and_does_not_clip(batch: tuple[Any, ...]) -> None:
    import torch

    log_probs, noise, advantages, mask = batch
    rollout = log_probs - noise
    ours = Correction(preset="bypass_pg_is", weights="token", weight_above=1e6)
    gradient = losses(ours, log_probs, rollout, advantages, mask, "token-mean")[1]
    expected = -advantages * (log_probs - rollout).exp() * mask / mask.sum()
    torch.testing.assert_close(gradient, expected)
