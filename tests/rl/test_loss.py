"""The loss of the report (section 3, its variant of GRPO), through verl's own functions with the project's configuration.

Every expected value is worked out by hand from the formulas, on a few tokens. Ratios are those of new to old policy.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from compass.rl.config import verl_config
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
        (2.9, -1.0, -2.9, -2.9),
        (3.1, -1.0, -3.0, 0.0),  # up to the dual clip, which the report's formula does not have
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


def test_groups_are_compared_within_themselves_alone() -> None:
    both = advantages(PAPER, {"a": [1.0, -1.0], "b": [5.0, 3.0, 4.0]})
    assert both[:2] == pytest.approx(advantages(PAPER, {"a": [1.0, -1.0]}))
    assert both[2:] == pytest.approx([1.0, -1.0, 0.0], abs=1e-5)


def test_mini_batches_are_drawn_anew_in_every_pass_and_the_same_again_for_the_same_seed(accepted: Accepted) -> None:
    """verl hands over responses in the order in which they ended: unshuffled, the first mini-batch has the shortest."""
    from tensordict import TensorDict
    from verl.utils import tensordict_utils as tu

    def passes(seed: int) -> list[list[int]]:
        config = verl_config("rl-1", PAPER, PATHS, seed=seed)
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
