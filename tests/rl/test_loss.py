"""The loss of the report (section 3, its variant of GRPO), through verl's own functions with the project's configuration.

Every expected value is worked out by hand from the formulas, on a few tokens. Ratios are those of new to old policy.
"""

import math
from collections.abc import Callable
from typing import Any, get_args

import pytest
import torch

from compass.rl.config import verl_config
from compass.settings.recipe import Loss
from tests.rl.by_hand import PAPER, PATHS, advantages, loss, recipe

Accepted = Callable[..., Any]


@pytest.mark.parametrize(
    ("aggregation", "expected"),
    [
        ("token-mean", -(2 * 1 - 1 * 3) / 4),  # the report's: every token weighs the same
        ("seq-mean-token-mean", -(2 - 1) / 2),  # GRPO's: every response weighs the same
        ("token-sum", -(2 * 1 - 1 * 3)),
        ("seq-mean-token-sum", -(2 * 1 - 1 * 3) / 2),
        ("seq-mean-token-sum-norm", -(2 * 1 - 1 * 3) / 2 / 3072),  # Dr. GRPO's: by the longest response allowed
    ],
)
def test_tokens_are_averaged_as_the_setting_says(accepted: Accepted, aggregation: str, expected: float) -> None:
    actor = accepted("rl-1", recipe(loss={"aggregation": aggregation}))
    value, _ = loss(actor, [[1.0], [1.0, 1.0, 1.0]], [2.0, -1.0])
    assert value == pytest.approx(expected)


def test_the_mean_is_over_the_tokens_of_the_whole_update_however_it_is_cut_into_passes(accepted: Accepted) -> None:
    """Not over each group's tokens, as in the report's formula: a group of long responses weighs more."""
    actor = accepted("rl-1", PAPER)
    short, _ = loss(actor, [[1.0]], [2.0], of=(4, 2))
    long, _ = loss(actor, [[1.0, 1.0, 1.0]], [-1.0], of=(4, 2))
    assert (short, long) == (pytest.approx(-0.5), pytest.approx(0.75))
    assert short + long == pytest.approx(loss(actor, [[1.0], [1.0, 1.0, 1.0]], [2.0, -1.0])[0])


@pytest.mark.parametrize(
    ("ratio", "advantage", "term", "slope"),
    [
        (1.1, 1.0, 1.1, 1.1),
        (1.27, 1.0, 1.27, 1.27),  # beyond 1 + 0.2, below the raised bound 1 + 0.28
        (1.29, 1.0, 1.28, 0.0),
        (3.0, 1.0, 1.28, 0.0),
        (0.5, 1.0, 0.5, 0.5),  # a better response that has become less likely is always pulled back
        (0.9, -1.0, -0.9, -0.9),
        (0.81, -1.0, -0.81, -0.81),
        (0.79, -1.0, -0.8, 0.0),
        (0.1, -1.0, -0.8, 0.0),
        (1.5, -1.0, -1.5, -1.5),  # a worse response that has become likelier is always pushed back
        (9.9, -1.0, -9.9, -9.9),
        (10.1, -1.0, -10.0, 0.0),  # up to the dual clip, which the report's formula does not have
    ],
)
def test_ratios_are_clipped_at_the_two_bounds(
    accepted: Accepted, ratio: float, advantage: float, term: float, slope: float
) -> None:
    value, gradient = loss(accepted("rl-1", PAPER), [[ratio]], [advantage])
    assert value == pytest.approx(-term, rel=1e-6)
    assert gradient[0][0] == pytest.approx(-slope, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("ratio", [3.1, 1e4, 4e8])
def test_without_the_dual_clip_the_loss_is_the_reports(accepted: Accepted, ratio: float) -> None:
    value, gradient = loss(accepted("rl-1", recipe(loss={"dual_clip": 0.0})), [[ratio]], [-1.0])
    assert (value, gradient[0][0]) == (pytest.approx(ratio, rel=1e-5), pytest.approx(ratio, rel=1e-5))


UPDATE = [[1.5, 0.6, 1.1], [0.7, 1.4]], [1.0, -1.0]
"""Ratios of two responses' tokens, and their advantages."""


def gspo_by_hand() -> tuple[float, list[list[float]]]:
    """The mean log-ratio of each response is clipped; its tokens share the gradient (GSPO, equations 5 to 7, with token-mean)."""
    ratios, advantages = UPDATE
    value, gradient = 0.0, []
    for row, advantage in zip(ratios, advantages, strict=True):
        whole = math.exp(sum(map(math.log, row)) / len(row))
        clipped = min(max(whole, 1 - 0.2), 1 + 0.28)
        term = min(whole * advantage, clipped * advantage)
        value -= term * len(row) / 5
        gradient.append([-whole * advantage / 5 if term == whole * advantage else 0.0] * len(row))
    return value, gradient


def cispo_by_hand() -> tuple[float, list[list[float]]]:
    """Each token's log-probability times its advantage and its clipped ratio, through which no gradient goes (CISPO, equation 4)."""
    weights = [
        [min(max(ratio, 1 - 0.2), 1 + 0.28) * advantage for ratio in row]
        for row, advantage in zip(*UPDATE, strict=True)
    ]
    value = -sum(
        weight * math.log(ratio)
        for own, row in zip(weights, UPDATE[0], strict=True)
        for weight, ratio in zip(own, row, strict=True)
    )
    return value / 5, [[-weight / 5 for weight in row] for row in weights]


def clip_cov_by_hand() -> tuple[float, list[list[float]]]:
    """The clipped loss without the tokens whose product of centred advantage and log-probability lies between the bounds (Clip-Cov)."""
    ratios, advantages = UPDATE
    logs = [math.log(ratio) for row in ratios for ratio in row]
    mean_log, mean_advantage = sum(logs) / 5, (3 * 1.0 - 2 * 1.0) / 5
    value, gradient = 0.0, []
    for row, advantage in zip(ratios, advantages, strict=True):
        gradient.append([])
        for ratio in row:
            clipped = min(max(ratio, 1 - 0.2), 1 + 0.28) * advantage
            term, acts = min(ratio * advantage, clipped), ratio * advantage <= clipped
            product = (advantage - mean_advantage) * (math.log(ratio) - mean_log)
            if acts and 0.1 < product < 5.0:
                term, acts = 0.0, False
            value -= term / 5
            gradient[-1].append(-ratio * advantage / 5 if acts else 0.0)
    return value, gradient


@pytest.mark.parametrize(
    ("mode", "by_hand", "own"),
    [
        ("gspo", gspo_by_hand, {}),
        ("cispo", cispo_by_hand, {}),
        ("clip_cov", clip_cov_by_hand, {"clip_cov_lb": 0.1, "clip_cov_ratio": 1.0}),
    ],
)
def test_other_losses_are_those_of_their_papers(
    accepted: Accepted, mode: str, by_hand: Callable[[], tuple[float, list[list[float]]]], own: dict[str, float]
) -> None:
    stage = recipe(loss={"mode": mode})
    keys = {f"actor_rollout_ref.actor.policy_loss.{name}": value for name, value in own.items()}
    actor = accepted("rl-1", stage.model_copy(update={"verl": keys}))
    value, gradient = loss(actor, *UPDATE)
    expected, slopes = by_hand()
    assert value == pytest.approx(expected, abs=1e-6)
    for found, wanted in zip(gradient, slopes, strict=True):
        assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("mode", get_args(Loss.model_fields["mode"].annotation))
def test_verl_has_a_loss_of_every_mode_that_pulls_towards_the_better_response(accepted: Accepted, mode: str) -> None:
    value, gradient = loss(accepted("rl-1", recipe(loss={"mode": mode})), [[1.0, 1.0], [1.0, 1.0]], [1.0, -1.0])
    assert math.isfinite(value)
    assert [[slope < 0 for slope in row] for row in gradient] == [[True, True], [False, False]]


def test_groups_are_compared_within_themselves_alone() -> None:
    both = advantages(PAPER, {"a": [1.0, -1.0], "b": [5.0, 3.0, 4.0]})
    assert both[:2] == pytest.approx(advantages(PAPER, {"a": [1.0, -1.0]}))
    assert both[2:] == pytest.approx([1.0, -1.0, 0.0], abs=1e-5)


def test_mini_batches_are_drawn_anew_in_every_pass_and_the_same_again_for_the_same_seed(accepted: Accepted) -> None:
    """verl hands over responses in the order in which they ended: unshuffled, the first mini-batch has the shortest."""
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu

    def passes(seed: int) -> list[list[int]]:
        config = verl_config("rl-1", recipe(optimizer={"epochs": 4}), PATHS, seed=seed)
        actor = config.actor_rollout_ref.actor
        data = TensorDict({"length": torch.arange(64)}, batch_size=[64])
        batches = tu.make_iterator(
            data,
            mini_batch_size=16,
            epochs=actor.ppo_epochs,
            seed=actor.data_loader_seed,
            dataloader_kwargs={"shuffle": actor.shuffle},
        )
        return [batch["length"].tolist() for batch in batches]

    drawn = passes(seed=0)
    assert len(drawn) == 16  # 4 passes of 4
    for first in range(0, 16, 4):
        one = drawn[first : first + 4]
        assert sorted(length for batch in one for length in batch) == list(range(64))
        assert all(max(batch) - min(batch) > 32 for batch in one)
    assert drawn[:4] != drawn[4:8]
    assert passes(seed=0) == drawn
    assert passes(seed=1) != drawn
