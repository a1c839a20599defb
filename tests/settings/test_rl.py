"""The RL stages: one shared recipe, a stage's own values over it, and a chain of models."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compass.settings import SettingsError, load_settings
from compass.settings.advantage import GROUP_BASED

Changed = Callable[[dict[str, Any]], Path]


GAE = {"estimator": "gae"}
PPO = {"rollout": {"dynamic_sampling": False}}


def stages(**stages: dict[str, Any]) -> dict[str, Any]:
    """Settings with these RL stages and a mix for each; `_` in a name stands for `-`."""
    named = {name.replace("_", "-"): {"init_from": "base", "steps": 1} | own for name, own in stages.items()}
    return {"rl.stages": named, "curriculum.mixes": {name: {"1": 1.0} for name in named}}


def test_a_stages_own_value_wins_over_the_shared_recipe_and_leaves_the_rest(changed: Changed) -> None:
    rl = load_settings(
        changed({"rl.stages.rl-2.optimizer": {"learning_rate": 5e-5}, "rl.stages.rl-3.rollout": {"group_size": 4}})
    ).rl
    assert [stage.optimizer.learning_rate for stage in rl.stages.values()] == [2e-4, 5e-5, 2e-4]
    assert [stage.rollout.group_size for stage in rl.stages.values()] == [8, 8, 4]
    assert rl.optimizer.learning_rate == 2e-4
    assert rl.stages["rl-2"].optimizer == rl.optimizer.model_copy(update={"learning_rate": 5e-5})
    assert rl.stages["rl-1"].model_dump(exclude={"init_from", "revision", "steps"}) == rl.model_dump(exclude={"stages"})


def test_stages_have_any_names_and_number(changed: Changed) -> None:
    settings = load_settings(changed(stages(warm={}, hard={"init_from": "warm"}, very_hard_2={"init_from": "base"})))
    assert list(settings.rl.stages) == ["warm", "hard", "very-hard-2"]
    assert settings.models == ("base", "warm", "hard", "very-hard-2")
    assert settings.stages[6:] == ("curriculum", "warm", "hard", "very-hard-2", "evaluate", "report")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"rl.stages": {}}, "rl.stages: Dictionary should have at least 1 item"),
        (stages(Warm={}), "rl: `stages` has 'Warm'; a name is lower-case letters, digits, `-` and `_`"),
        ({"rl.stages": {"a.b": {"init_from": "base", "steps": 1}}}, "`stages` has 'a.b'"),
        (stages(verify={}), "`rl.stages.verify`: another stage has this name"),
        (stages(report={}), "`rl.stages.report`: another stage has this name"),
        (stages(warm={"init_from": "hard"}, hard={}), "rl: `stages.warm.init_from` is 'hard'; allowed: base, a path"),
        (stages(warm={"init_from": "warm"}), "rl: `stages.warm.init_from` is 'warm'; allowed: base, a path"),
        (stages(a={}, b={}, c={"init_from": "d"}), "`stages.c.init_from` is 'd'; allowed: base, a, b, a path"),
        (
            stages(a={}, b={"init_from": "a", "checkpoint": {"carry_optimizer": True}}),
            "rl: `stages.b.checkpoint.carry_optimizer` needs `stages.a.checkpoint.keep_optimizer: true`",
        ),
        (
            stages(a={"checkpoint": {"carry_optimizer": True}}),
            "rl.stages.a: `checkpoint.carry_optimizer` needs an RL stage in `init_from`; the base has no optimizer state",
        ),
        ({"rl.optimizer.mini_batch_size": 5}, "rl.stages.rl-1: `optimizer.mini_batch_size` (5)"),
        ({"rl.stages.rl-2.data": {"batch_size": 16}}, "rl.stages.rl-2: `optimizer.mini_batch_size` (32)"),
        ({"rl.reward.overlong_buffer": 48}, "rl.stages.rl-1: `reward.overlong_buffer` (48)"),
        ({"rl.advantage.estimator": "ppo"}, "rl.advantage.estimator: PPO with a critic is `estimator: gae`"),
        ({"rl.advantage.estimator": "dr_grpo"}, "rl.advantage.estimator: Dr. GRPO is `estimator: grpo`"),
        (
            {"rl.advantage": {"estimator": "rloo", "normalise_by_std": False}},
            "rl.advantage: `normalise_by_std: false` acts on `estimator: grpo` and `estimator: grpo_passk` alone",
        ),
        ({"rl.advantage": {"gamma": 0.99}}, "rl.advantage: `gamma: 0.99` acts on `estimator: gae` and"),
        ({"rl.advantage": {"lam": 0.95}}, "rl.advantage: `lam: 0.95` acts on `estimator: gae` alone"),
        *[
            (
                {"rl.advantage": {"estimator": estimator}, "rl.rollout.group_size": 1},
                f"rl.stages.rl-1: `rollout.group_size` (1) must be at least 2: `advantage.estimator: {estimator}` compares",
            )
            for estimator in GROUP_BASED
        ],
        *[
            (
                {"rl.advantage": {"estimator": estimator}},
                "rl.stages.rl-1: `rollout.dynamic_sampling: true` ",
            )
            for estimator in ("reinforce_plus_plus", "remax", "gae")
        ],
        (
            {"rl.stages.rl-2": {"init_from": "rl-1", "steps": 5, **PPO, "advantage": {"critic": {"alone": 5}, **GAE}}},
            "rl.stages.rl-2: `advantage.critic.alone` (5) leaves none of the 5 iterations to the policy",
        ),
        (
            stages(
                a={"checkpoint": {"keep_optimizer": True}},
                b={"init_from": "a", "checkpoint": {"carry_optimizer": True}, "advantage": GAE, **PPO},
            ),
            "rl: `stages.b.checkpoint.carry_optimizer` would take over a critic",
        ),
        (
            stages(
                a={"checkpoint": {"keep_optimizer": True}},
                b={"init_from": "a", "checkpoint": {"carry_optimizer": True}, "resources": {"ranks": 2}},
            ),
            "rl: `stages.b.checkpoint.carry_optimizer` takes over one file per rank: a has 1 rank, b 2 ranks; give both",
        ),
        (
            {"rl.loss.overlong_filter": True, "rl.advantage": {"estimator": "opo"}},
            "`loss.overlong_filter` cannot go with `advantage.estimator: opo`",
        ),
        ({"rl.reward.kl_coef": 0.01, "rl.rollout.dynamic_sampling": False}, "rl.stages.rl-1: `reward.kl_coef` (0.01)"),
        (
            {"rl.reward": {"kl_coef": 0.01, "kl_controller": "adaptive", "kl_horizon": 255}},
            "rl.stages.rl-1: `reward.kl_horizon` (255) must be at least ",
        ),
        (
            {"rl.loss.overlong_filter": True, "rl.rollout.dynamic_sampling": False},
            "`loss.overlong_filter` needs `rollout.dynamic_sampling: true`",
        ),
        (
            {"rl.loss.overlong_filter": True, "rl.rollout.correction.bypass": True},
            "`loss.overlong_filter` cannot go with `rollout.correction.bypass`",
        ),
        (
            {
                "rl.advantage": {**GAE, "critic": {"alone": 15}},
                "rl.rollout.dynamic_sampling": False,
                "rl.optimizer.warmup_steps": 5,
            },
            "`optimizer.warmup_steps` (5) must be less than the 5 iterations that `advantage.critic.alone` (15) leaves",
        ),
        (
            {"rl.loss": {"entropy_target": 0.2, "entropy_coef": 0.01}},
            "`entropy_coef` (0.01) must be at most `entropy_coef_max` (0.005)",
        ),
        (
            {"rl.loss.mode": "gspo", "rl.rollout.correction.bypass": True},
            "`rollout.correction.bypass` has losses of its own",
        ),
        (
            {"rl.lora.rank": 8, "rl.checkpoint.keep_optimizer": True},
            "`checkpoint.keep_optimizer` conflicts with `lora.rank` (8): every stage begins with new matrices",
        ),
        (
            {"rl.lora.rank": 8, "rl.advantage": GAE, "rl.rollout.dynamic_sampling": False},
            "`advantage.estimator: gae` conflicts with `lora.rank` (8)",
        ),
        ({"rl.loss.dual_clip": 0.5}, "rl.loss: `dual_clip` (0.5) must be more than 1, or 0, which turns it off"),
    ],
)
def test_an_impossible_stage_is_refused(changed: Changed, values: dict[str, Any], told: str) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(changed(values))
    assert told in str(error.value)


@pytest.mark.parametrize(
    "values",
    [
        {"rl.optimizer.mini_batch_size": 16},
        {"rl.reward.overlong_buffer": 47},
        {"rl.advantage": {"estimator": "gae", "gamma": 0.99, "lam": 0.95}, "rl.rollout.dynamic_sampling": False},
        {"rl.advantage": {"estimator": "remax"}, "rl.rollout": {"group_size": 1, "dynamic_sampling": False}},
        {"rl.reward": {"kl_coef": 0.01, "kl_controller": "adaptive", "kl_horizon": 256}},
        {"rl.reward": {"kl_coef": 0.01}, "rl.rollout.dynamic_sampling": False, "rl.advantage.normalise_by_std": False},
        {"rl.reward": {"kl_coef": 0.01}, "rl.rollout.dynamic_sampling": False, "rl.advantage": {"estimator": "rloo"}},
        # Impossible in the shared recipe, and mended by every stage.
        {"rl.data.batch_size": 8, **{f"rl.stages.rl-{n}.optimizer": {"mini_batch_size": 4} for n in (1, 2, 3)}},
        stages(
            a={"checkpoint": {"keep_optimizer": True}}, b={"init_from": "a", "checkpoint": {"carry_optimizer": True}}
        ),
    ],
)
def test_a_possible_stage_is_read(changed: Changed, values: dict[str, Any]) -> None:
    assert load_settings(changed(values)).profile == "tiny"


@pytest.mark.parametrize("value", [None, "fast", [1]])
def test_a_group_or_stage_that_is_no_mapping_is_told(changed: Changed, value: Any) -> None:
    with pytest.raises(SettingsError, match=r"params\.yaml: rl: Input should be"):
        load_settings(changed({"rl": value or "null"}))
    with pytest.raises(SettingsError, match=r"params\.yaml: rl\.stages\.rl-2: Input should be"):
        load_settings(changed({"rl.stages.rl-2": value or "null"}))
    with pytest.raises(SettingsError, match=r"params\.yaml: rl\.stages: Input should be"):
        load_settings(changed({"rl.stages": value or "null"}))
