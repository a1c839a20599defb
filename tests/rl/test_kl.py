"""KL to the starting policy, in the loss and in the reward, through verl's functions under the project's configuration."""

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from compass.rl.config import verl_config
from compass.settings.recipe import Loss, Reward
from tests.rl.by_hand import PATHS, loss, recipe

LOG2 = math.log(2)


@pytest.mark.parametrize(
    ("estimator", "value", "slope"),
    [
        # With x = policy - reference = -log 2 in log-probability: its value, and its slope by the policy.
        ("k1", -LOG2, 1.0),
        ("k1+", -LOG2, -LOG2),
        ("k2", LOG2**2 / 2, -LOG2),
        ("k3", 2 - LOG2 - 1, 1 - 2),
        ("k3+", 2 - LOG2 - 1, -LOG2),
        ("abs", LOG2, -1.0),
        ("abs+", LOG2, -LOG2),
    ],
)
def test_a_kl_term_is_added_over_the_same_tokens(
    accepted: Callable[..., Any], estimator: str, value: float, slope: float
) -> None:
    """Two tokens, of which the second is as likely as under the reference."""
    actor = accepted("rl-1", recipe(loss={"kl_coef": 0.1, "kl_estimator": estimator}))
    found, gradient = loss(actor, [[1.0, 1.0]], [0.0], reference=[[LOG2, 0.0]])
    assert found == pytest.approx(0.1 * value / 2)
    at_zero = {"k1": 0.1 / 2}.get(estimator, 0.0)
    assert gradient[0] == pytest.approx([0.1 * slope / 2, at_zero], abs=1e-9)


def in_reward(**values: Any) -> tuple[list[list[float]], dict[str, float], Any]:
    """Rewards of two responses of two tokens after KL was taken off, verl's metrics of it, and its controller."""
    from verl import DataProto
    from verl.trainer.ppo.core_algos import get_kl_controller
    from verl.trainer.ppo.ray_trainer import apply_kl_penalty

    algorithm = verl_config("rl-1", recipe(reward={"kl_coef": 0.1, **values}), PATHS, seed=0).algorithm
    assert algorithm.use_kl_in_reward
    data = DataProto.from_dict(
        tensors={
            "response_mask": torch.tensor([[1.0, 1.0], [1.0, 0.0]]),
            "token_level_scores": torch.tensor([[0.0, 1.0], [-1.0, 0.0]]),
            "old_log_probs": torch.tensor([[-1.0, -2.0], [-1.0, 0.0]]),
            "ref_log_prob": torch.tensor([[-1.4, -2.0], [-1.2, 5.0]]),
        }
    )
    controller = get_kl_controller(algorithm.kl_ctrl)
    data, metrics = apply_kl_penalty(data, kl_ctrl=controller, kl_penalty=algorithm.kl_penalty)
    return data.batch["token_level_rewards"].tolist(), metrics, controller


@pytest.mark.parametrize(
    ("estimator", "per_token"),
    [
        ("k1", lambda x: x),
        ("k2", lambda x: x * x / 2),
        ("k3", lambda x: math.exp(-x) + x - 1),
        ("abs", abs),
    ],
)
def test_kl_is_taken_off_the_reward_of_each_token(estimator: str, per_token: Callable[[float], float]) -> None:
    rewards, _, controller = in_reward(kl_estimator=estimator)
    assert rewards[0] == pytest.approx([-0.1 * per_token(0.4), 1.0])
    assert rewards[1] == pytest.approx([-1 - 0.1 * per_token(0.2), 0.0])  # beyond its end a response has none
    assert controller.value == 0.1


@pytest.mark.parametrize(("target", "factor"), [(0.01, 1.2), (0.2, 1.0), (0.25, 0.8), (10.0, 0.8)])
def test_an_adaptive_coefficient_follows_its_target(target: float, factor: float) -> None:
    """KL 0.4 / 2 and 0.2 / 1 per token: 0.2 on average. At most a fifth of the way per `kl_horizon` responses."""
    _, metrics, controller = in_reward(kl_controller="adaptive", kl_target=target, kl_horizon=256)
    assert metrics["actor/reward_kl_penalty"] == pytest.approx(0.2)
    assert metrics["actor/reward_kl_penalty_coeff"] == 0.1
    assert controller.value == pytest.approx(0.1 * (1 + (factor - 1) * 2 / 256))


def test_without_a_coefficient_no_reference_is_needed() -> None:
    from verl.trainer.ppo.utils import need_reference_policy

    assert not need_reference_policy(verl_config("rl-1", recipe(), PATHS, seed=0))
    assert need_reference_policy(verl_config("rl-1", recipe(reward={"kl_coef": 0.1}), PATHS, seed=0))
    assert Loss().kl_coef == Reward().kl_coef == 0
