"""Settings of optimizer, rollout, reward and start act together in a stage on real verl and vLLM, each as it says.

Half a minute to four minutes each; `COMPASS_DEBUG_RUN` as in test_estimators_train.py.
"""

from pathlib import Path
from typing import get_args

import pyarrow.parquet as pq
import pytest

from compass.rl.rollouts import REWARDS
from compass.settings.recipe import Loss
from stages.rl import run
from tests.rl.debug_stage import iterations, settings, weights
from tests.rl.several import TOLERANCE, assert_same_weights
from tests.rl.test_schedule import rates

pytestmark = pytest.mark.recipes

MANY = {
    "optimizer": {
        "learning_rate": 1e-4,
        "schedule": "cosine",
        "warmup_steps": 1,
        "min_learning_rate": 2e-5,
        "betas": [0.8, 0.95],
    },
    "rollout": {"temperature": 0.7, "dynamic_sampling": False, "correction": {"weights": "token"}},
    "reward": {"function": "examples.own_reward.reward:brief", "overlong_buffer": 16, "overlong_penalty": 0.5},
    "checkpoint": {"keep_optimizer": True},
}


def test_a_stage_with_many_settings_of_its_own_does_what_each_says(debug_root: Path, tmp_path: Path) -> None:
    start = (debug_root / "models/base").rename(tmp_path / "elsewhere")
    ours = settings(MANY, steps=4, init_from=str(start))
    run(ours, "rl-1", debug_root)
    rows = iterations(debug_root)
    # verl tells the rate that the next iteration has
    assert [row["actor/lr"] for row in rows[:-1]] == pytest.approx(rates(ours.rl.stages["rl-1"])[1:], rel=1e-5)
    # the trainer's probabilities are those of a temperature of 0.7 too, and nearly all tokens count in full
    assert all(row["training/rollout_probs_diff_max"] < 1e-3 for row in rows)
    assert all(row["rollout_corr/rollout_is_mean"] == pytest.approx(1, abs=1e-3) for row in rows)
    rewards = pq.read_table(debug_root / "data/rl-1/rewards.parquet", schema=REWARDS)
    assert rewards.num_rows == 4 * 8 * 4
    right = [reward > -0.5 for reward in rewards["reward"].to_pylist()]
    assert any(right)
    assert not all(right)
    assert list((debug_root / "models/rl-1/optimizer").rglob("optim_*.pt"))
    assert weights(start).keys() == weights(debug_root / "models/rl-1").keys()


def test_a_stage_without_the_pass_for_old_log_probabilities_trains_the_same(debug_root: Path) -> None:
    """Bypassing the trainer's own pass weighs each token by the ratio of trainer to engine, 1 but for the guard's limit.

    The guard `agreement` stops a stage in single precision at a difference of 1e-4 between their probabilities.
    """
    found = {}
    for bypass in (False, True):
        rollout = {"reproducible": True, "correction": {"bypass": bypass}}
        run(settings({"rollout": rollout}, steps=3), "rl-1", debug_root)
        found[bypass] = weights(debug_root / "models/rl-1"), iterations(debug_root)
    share = TOLERANCE + 1e-4
    assert_same_weights(found[True][0], found[False][0], weights(debug_root / "models/base"), share)
    for ours, theirs in zip(found[True][1], found[False][1], strict=True):
        assert ours["critic/score/mean"] == theirs["critic/score/mean"]
        assert ours["actor/grad_norm"] == pytest.approx(theirs["actor/grad_norm"], rel=share, abs=share)


def test_several_updates_of_an_iteration_leave_its_policy_and_are_clipped(debug_root: Path) -> None:
    """The report's 16 updates, as four passes over four mini-batches: with one update per iteration every ratio is 1."""
    optimizer = {"mini_batch_size": 2, "epochs": 4, "learning_rate": 2e-4}
    run(settings({"optimizer": optimizer, "rollout": {"dynamic_sampling": False}}, steps=2), "rl-1", debug_root)
    rows = iterations(debug_root)
    assert [row["actor/pg_clipfrac"] > 0 for row in rows] == [True, True]
    assert all(
        row["training/rollout_probs_diff_max"] < 1e-4 for row in rows
    )  # the rollouts are of the policy before them


def test_what_was_cut_off_does_not_train_where_it_is_filtered(debug_root: Path) -> None:
    """Responses of at most 13 tokens: a short bare answer ends before, all else is cut off. The filter changes the update, and no reward that
    it is computed from."""
    rollout = {"max_response_tokens": 13, "max_generation_batches": 40, "reproducible": True}
    found = {}
    for kept in (True, False):
        run(settings({"loss": {"overlong_filter": not kept}, "rollout": rollout}, steps=1), "rl-1", debug_root)
        found[kept] = weights(debug_root / "models/rl-1"), iterations(debug_root)
    (with_all,), (filtered,) = found[True][1], found[False][1]
    assert 0 < filtered["guards/cut_off_share"] < 1
    assert filtered["guards/cut_off_share"] == with_all["guards/cut_off_share"]
    assert filtered["critic/score/mean"] == with_all["critic/score/mean"]
    assert 0 < filtered["actor/grad_norm"] != pytest.approx(with_all["actor/grad_norm"], rel=1e-3)
    assert any(not found[True][0][name].equal(value) for name, value in found[False][0].items())


def test_an_entropy_coefficient_with_a_target_rises_acts_and_goes_on_where_it_was(debug_root: Path) -> None:
    """A target that no policy of this size reaches; the stage ends after two iterations and then goes on."""
    loss = {"entropy_coef": 0.02, "entropy_target": 20.0, "entropy_step": 0.01, "entropy_coef_max": 0.045}
    for steps in (2, 4):
        run(settings({"loss": loss, "checkpoint": {"save_every": 1}}, steps=steps), "rl-1", debug_root)
    rows = iterations(debug_root)
    assert [row["actor/entropy_coef"] for row in rows] == pytest.approx([0.03, 0.04, 0.045, 0.045])
    for row in rows:  # one pass over one mini-batch: verl adds the term to the loss, and measures both
        assert row["actor/loss"] == pytest.approx(
            row["actor/pg_loss"] - row["actor/entropy_coef"] * row["actor/entropy_loss"], abs=1e-6
        )


MODES = [mode for mode in get_args(Loss.model_fields["mode"].annotation) if mode != "vanilla"]


@pytest.mark.parametrize("mode", MODES)
def test_a_stage_with_another_loss_trains_and_its_bound_acts(debug_root: Path, mode: str) -> None:
    """Two passes over two mini-batches at a high rate, so that ratios leave 1."""
    bounds = {"clip_low": 3e-4, "clip_high": 4e-4} if mode in ("gspo", "dppo_kl") else {}
    optimizer = {"mini_batch_size": 4, "epochs": 2, "learning_rate": 2e-4}
    keys = {"clip_cov_ratio": 0.2, "clip_cov_lb": 0.0, "kl_cov_ratio": 0.2} if mode.endswith("_cov") else {}
    verl = {f"actor_rollout_ref.actor.policy_loss.{name}": value for name, value in keys.items()}
    groups = {"loss": {"mode": mode, **bounds}, "optimizer": optimizer, "rollout": {"dynamic_sampling": False}}
    run(settings(groups | {"verl": verl}, steps=2), "rl-1", debug_root)
    rows = iterations(debug_root)
    assert len(rows) == 2
    assert all(abs(row["actor/ppo_kl"]) > 1e-6 for row in rows)
    if mode not in ("sapo", "kl_cov", "cispo"):  # these have no share of clipped tokens
        assert any(row["actor/pg_clipfrac"] > 0 for row in rows)
