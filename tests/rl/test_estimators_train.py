"""Every estimator trains: a short stage of profile `debug` on real verl and vLLM, with KL in the loss or the reward on the way.

Each takes half a minute to four minutes. `COMPASS_DEBUG_RUN` names a repository in which the debug profile is finished, whose base and
problems are copied; without it they are made first.
"""

import math
from pathlib import Path
from typing import Any

import pytest

from stages.rl import run
from tests.rl.debug_stage import iterations, settings, weights

pytestmark = pytest.mark.recipes

NO_GROUPS = {"rollout": {"dynamic_sampling": False}}
DR_GRPO = {"advantage": {"normalise_by_std": False}, "loss": {"aggregation": "seq-mean-token-sum-norm"}}
RECIPES: dict[str, dict[str, Any]] = {
    "grpo": {},
    "dr-grpo": {**DR_GRPO, "loss": {**DR_GRPO["loss"], "kl_coef": 0.1, "kl_estimator": "k3+"}},
    "rloo": {"advantage": {"estimator": "rloo"}, "reward": {"kl_coef": 0.01, "kl_estimator": "k3"}},
    "opo": {"advantage": {"estimator": "opo"}, "loss": {"aggregation": "token-sum"}, "optimizer": {"grad_clip": 0.5}},
    "grpo_passk": {"advantage": {"estimator": "grpo_passk"}},
    "reinforce_plus_plus": {
        "advantage": {"estimator": "reinforce_plus_plus", "gamma": 0.99},
        "reward": {"kl_coef": 0.05, "kl_controller": "adaptive", "kl_target": 1e-6, "kl_horizon": 100},
        "rollout": {"dynamic_sampling": False, "group_size": 1},
    },
    "reinforce_plus_plus_baseline": {"advantage": {"estimator": "reinforce_plus_plus_baseline"}},
    "remax": {"advantage": {"estimator": "remax"}, **NO_GROUPS},
    "gae": {"advantage": {"estimator": "gae", "lam": 0.95, "critic": {"alone": 1}}, **NO_GROUPS},
}
"""What each changes of profile `debug`, by its name in docs/reference/estimators.md where it is no estimator's."""

KL = ("actor/kl_loss", "actor/reward_kl_penalty")


@pytest.mark.parametrize("name", RECIPES)
def test_a_stage_trains_to_its_end_and_makes_a_model(debug_root: Path, name: str) -> None:
    ours = settings(RECIPES[name], steps=3)
    summary = run(ours, "rl-1", debug_root)
    rows = iterations(debug_root)
    assert [row["step"] for row in rows] == [1, 2, 3]
    assert [key for row in rows for key, value in row.items() if not math.isfinite(value)] == []
    assert summary.metrics["exported_step"] == 3
    before, after = weights(debug_root / "models/base"), weights(debug_root / "models/rl-1")
    assert before.keys() == after.keys()
    assert any(not value.equal(before[key]) for key, value in after.items())

    ours = ours.rl.stages["rl-1"]
    kl = [[row[key] for key in KL if key in row] for row in rows]
    assert [len(values) for values in kl] == [int(ours.loss.kl_coef > 0) + int(ours.reward.kl_coef > 0)] * 3
    if kl[0]:
        assert kl[0] == [0.0]  # the policy is its reference
        assert kl[2][0] != 0.0
    if name == "remax":
        assert all(-1 <= row["remax/greedy_reward/mean"] <= 1 for row in rows)
    if name == "gae":
        assert ["actor/pg_loss" in row for row in rows] == [False, True, True]  # at first the critic alone
        assert all(row["critic/grad_norm"] > 0 for row in rows)


def test_a_critic_and_an_adaptive_coefficient_go_on_where_they_were(debug_root: Path) -> None:
    controller = {"kl_coef": 0.05, "kl_controller": "adaptive", "kl_target": 1e-6, "kl_horizon": 100}
    recipe = {**RECIPES["gae"], "reward": controller, "checkpoint": {"keep_optimizer": True}}
    run(settings(recipe, steps=2), "rl-1", debug_root)
    (work,) = debug_root.glob("work/rl-1/*/checkpoints/global_step_2")
    assert {path.name for path in work.iterdir()} >= {"actor", "critic", "data.pt"}
    assert list((debug_root / "models/rl-1/optimizer/critic").glob("model_*.pt"))
    run(settings(recipe, steps=3), "rl-1", debug_root)
    rows = iterations(debug_root)
    assert [row["step"] for row in rows] == [1, 2, 3]
    coefficients = [row["actor/reward_kl_penalty_coeff"] for row in rows]
    kl = [row["actor/reward_kl_penalty"] for row in rows]
    for now, then, seen in zip(coefficients[1:], coefficients, kl, strict=False):
        error = min(max(seen / 1e-6 - 1, -0.2), 0.2)
        assert now == pytest.approx(then * (1 + error * 32 / 100))  # 8 problems x 4 responses
    assert rows[2]["critic/values/mean"] != rows[0]["critic/values/mean"]
