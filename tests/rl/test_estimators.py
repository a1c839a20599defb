"""Every estimator's advantages through verl's functions under the project's configuration, worked out by hand on a few responses."""

import math
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from compass.rl.config import verl_config
from compass.rl.weights import load_value_model
from compass.settings.advantage import DIVIDES_BY_STD, GROUP_BASED
from tests.conftest import make_random_model
from tests.rl.by_hand import PATHS, advantages, recipe, token_advantages

ONE_OF_FOUR = {"a": [1.0, -1.0, -1.0, -1.0]}
near = partial(pytest.approx, abs=1e-4)


def estimator(name: str, **values: Any) -> Any:
    """The paper's stage with another estimator."""
    return recipe(advantage={"estimator": name, **values})


@pytest.mark.parametrize(
    ("name", "rewards", "expected"),
    [
        ("grpo", ONE_OF_FOUR, [1.5, -0.5, -0.5, -0.5]),  # less the mean -1/2, by the sample's standard deviation 1
        ("rloo", ONE_OF_FOUR, [2.0, -2 / 3, -2 / 3, -2 / 3]),  # less the mean of the other three: -1; -1/3
        ("opo", ONE_OF_FOUR, [1.5, -0.5, -0.5, -0.5]),  # of equal lengths: less the mean
        ("grpo_passk", ONE_OF_FOUR, [2.0, 0.0, 0.0, 0.0]),  # the best alone, by its lead over the second
        ("grpo_passk", {"a": [1.0, 1.0, -1.0, -1.0]}, [0.0] * 4),
        ("reinforce_plus_plus", ONE_OF_FOUR, [1.5, -0.5, -0.5, -0.5]),  # over all tokens: mean -1/2, variance 1
        ("reinforce_plus_plus_baseline", ONE_OF_FOUR, [1.5, -0.5, -0.5, -0.5]),  # the same, as there is one group
    ],
)
def test_one_group_of_four_responses(name: str, rewards: dict[str, list[float]], expected: list[float]) -> None:
    assert advantages(estimator(name), rewards) == near(expected)


@pytest.mark.parametrize("name", DIVIDES_BY_STD)
def test_without_the_standard_deviation_a_group_counts_by_its_rewards_alone(name: str) -> None:
    divided = advantages(estimator(name), {"a": [1.0, -1.0]})
    undivided = advantages(estimator(name, normalise_by_std=False), {"a": [1.0, -1.0]})
    assert undivided == near([value * math.sqrt(2) for value in divided])  # the deviation of 1 and -1


@pytest.mark.parametrize("name", [name for name in GROUP_BASED if name != "reinforce_plus_plus_baseline"])
@pytest.mark.parametrize("reward", [1.0, -1.0])
def test_a_group_of_equal_rewards_teaches_nothing(name: str, reward: float) -> None:
    both = advantages(estimator(name), {"a": [reward] * 2, "b": [1.0, -1.0]}, [2, 3, 1, 1])
    assert both[:2] == near([0.0, 0.0])


def test_the_optimal_baseline_weighs_responses_by_their_length() -> None:
    """Baseline (1 x 1 + 3 x -1) / 4 = -1/2."""
    assert advantages(estimator("opo"), {"a": [1.0, -1.0]}, [1, 3]) == near([1.5, -0.5])


def test_reinforce_with_the_groups_baseline_is_scaled_over_the_batch() -> None:
    """Less the groups' means 3/2, -1/2 (thrice) and 0 (twice); variance of these six (4.5 - 1.5) / 5 = 0.6."""
    both = advantages(estimator("reinforce_plus_plus_baseline"), {**ONE_OF_FOUR, "b": [1.0, 1.0]})
    scale = math.sqrt(0.6)
    assert both == near([1.5 / scale, -0.5 / scale, -0.5 / scale, -0.5 / scale, 0.0, 0.0])


def test_reinforce_discounts_towards_the_first_token_and_learns_from_equal_groups() -> None:
    """Returns 1/2, 1 and -1: mean 1/6, variance (1/9 + 25/36 + 49/36) / 2 = 13/12."""
    settings = estimator("reinforce_plus_plus", gamma=0.5)
    rows, returns = token_advantages(settings, {"a": [1.0], "b": [-1.0]}, [2, 1])
    assert returns == [[0.5, 1.0], [-1.0]]
    scale = math.sqrt(13 / 12)
    assert rows[0] == near([(1 / 2 - 1 / 6) / scale, (1 - 1 / 6) / scale])
    assert rows[1] == near([(-1 - 1 / 6) / scale])


def test_remax_compares_with_the_greedy_response() -> None:
    """Groups of equal rewards teach something where the greedy response did otherwise."""
    rows, _ = token_advantages(
        estimator("remax"),
        {"a": [1.0, -1.0], "b": [1.0, 1.0], "c": [1.0]},
        [1, 2, 1, 3, 1],
        greedy={"a": 1.0, "b": -1.0, "c": 1.0},
    )
    assert rows == [[0.0], [-2.0, -2.0], [2.0], [2.0, 2.0, 2.0], [0.0]]


def test_ppo_takes_the_critics_values() -> None:
    """Second token: 1 - 0.4 = 0.6. First: 0.9 x 0.4 - 0.2 + 0.9 x 0.5 x 0.6 = 0.43. Another response: -1 - 0."""
    settings = estimator("gae", gamma=0.9, lam=0.5)
    rows, returns = token_advantages(settings, {"a": [1.0, -1.0]}, [2, 1], values=[[0.2, 0.4], [0.0]])
    assert returns[0] == near([0.43 + 0.2, 0.6 + 0.4])
    assert returns[1] == near([-1.0])
    mean, scale = 0.01, math.sqrt((0.42**2 + 0.59**2 + 1.01**2) / 2)  # over all tokens
    assert rows[0] == near([(0.43 - mean) / scale, (0.6 - mean) / scale])
    assert rows[1] == near([(-1 - mean) / scale])


@pytest.mark.parametrize(
    ("prediction", "loss"),
    [
        (0.3, 0.5 * (0.3 - 2) ** 2),
        (1.0, 0.5 * (0.5 - 2) ** 2),  # moved further than 0.5 from the value before: counts as at the bound
        (-0.4, 0.5 * (-0.4 - 2) ** 2),
        (-1.0, 0.5 * (-1 - 2) ** 2),  # away from the return: the worse of the two counts
    ],
)
def test_a_value_moves_at_most_by_the_clip(prediction: float, loss: float) -> None:
    from verl.trainer.ppo.core_algos import compute_value_loss

    config = verl_config("rl-1", estimator("gae"), PATHS, seed=0).critic
    one = torch.ones(1, 1)
    value, _ = compute_value_loss(
        vpreds=one * prediction,
        returns=one * 2,
        values=one * 0,
        response_mask=one,
        cliprange_value=config.cliprange_value,
        loss_agg_mode=config.loss_agg_mode,
    )
    assert value.item() == pytest.approx(loss)


def test_a_critic_has_the_policys_weights_and_a_head_that_the_seed_decides(tmp_path: Path) -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    folder = make_random_model(tmp_path / "base", 0)
    before = torch.get_rng_state()

    def load(seed: int) -> Any:
        config = AutoConfig.from_pretrained(folder, num_labels=1, attn_implementation="sdpa")
        config.value_head_seed = seed  # as verl sets what `override_config` holds
        return load_value_model(str(folder), torch.float32, config, trust_remote_code=False)

    critic, policy = load(3), AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    assert torch.equal(torch.get_rng_state(), before)
    weights = dict(critic.model.named_parameters())
    assert all(torch.equal(weights[name], value) for name, value in policy.model.named_parameters())
    assert critic.config._attn_implementation == "sdpa"
    assert critic(torch.tensor([[1, 2, 3]])).logits.shape == (1, 3, 1)
    assert torch.equal(critic.score.weight, load(3).score.weight)
    assert not torch.equal(critic.score.weight, load(4).score.weight)
