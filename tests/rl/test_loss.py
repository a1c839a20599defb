"""The loss of the report (section 3, its variant of GRPO), through verl's own functions with the project's configuration.

Every expected value is worked out by hand from the formulas, on a few tokens. Ratios are those of new to old policy.
"""

import math
from collections.abc import Callable
from typing import Any, get_args

import pytest

from compass.settings.recipe import Loss
from tests.rl.by_hand import PAPER, advantages, loss, recipe

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


@pytest.mark.parametrize("mode", get_args(Loss.model_fields["mode"].annotation))
def test_verl_has_a_loss_of_every_mode_that_pulls_towards_the_better_response(accepted: Accepted, mode: str) -> None:
    value, gradient = loss(accepted("rl-1", recipe(loss={"mode": mode})), [[1.0, 1.0], [1.0, 1.0]], [1.0, -1.0])
    assert math.isfinite(value)
    assert [[slope < 0 for slope in row] for row in gradient] == [[True, True], [False, False]]


def test_groups_are_compared_within_themselves_alone() -> None:
    both = advantages(PAPER, {"a": [1.0, -1.0], "b": [5.0, 3.0, 4.0]})
    assert both[:2] == pytest.approx(advantages(PAPER, {"a": [1.0, -1.0]}))
    assert both[2:] == pytest.approx([1.0, -1.0, 0.0], abs=1e-5)
