"""The entropy coefficient that follows a target, by hand."""

from pathlib import Path

import pytest

from compass.rl.adaptive_entropy import COEFFICIENT, find_applied_coefficient, move_coefficient
from compass.rl.config import verl_config
from compass.rl.paths import StagePaths
from tests.rl.debug_stage import settings

LOSS = {"entropy_coef": 0.02, "entropy_target": 0.3, "entropy_step": 0.01, "entropy_coef_max": 0.035}


def test_the_coefficient_rises_below_the_target_and_falls_elsewhere_within_its_bounds() -> None:
    found: list[tuple[float, float]] = []
    history: list[dict[str, float]] = []
    for entropy in (0.2, 0.1, 0.29, 0.3, 0.5, 0.4, 0.4, 0.2):
        metrics = {"actor/entropy": entropy, COEFFICIENT: move_coefficient(history, entropy, LOSS)}
        history.append(metrics)
        found.append((metrics[COEFFICIENT], find_applied_coefficient(metrics, LOSS["entropy_target"])))
    expected = [0.03, 0.035, 0.035, 0.025, 0.015, 0.005, 0.0, 0.01]
    assert [coefficient for coefficient, _ in found] == pytest.approx(expected)
    # from the target upwards nothing raises entropy
    assert [applied for _, applied in found] == pytest.approx([0.03, 0.035, 0.035, 0, 0, 0, 0, 0.01])


def test_an_iteration_after_some_without_an_update_begins_with_the_setting() -> None:
    assert move_coefficient([{"step": 1.0}], 0.1, LOSS) == pytest.approx(0.03)


def test_the_loss_that_the_actor_gets_has_the_coefficient() -> None:
    """As `StageTrainer` makes it: verl's loss of the stage's configuration with another coefficient."""
    pytest.importorskip("verl")
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.utils.losses import ppo_loss

    from tests.rl.test_policy_loss import micro_batch, own_log_probabilities, passed

    stage = settings({"loss": {"entropy_target": 0.2}}, steps=2).rl.stages["rl-1"]
    paths = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))
    actor = verl_config("rl-1", stage, paths, seed=0).actor_rollout_ref.actor
    found = []
    for coefficient in (0.0, 0.03):
        actor.entropy_coeff = coefficient
        loss, metrics = ppo_loss(omega_conf_to_dataclass(actor), passed()[0], micro_batch(own_log_probabilities()))
        found.append(loss.item())
    entropy = metrics["actor/entropy_loss"].aggregate()
    assert entropy != 0
    assert found[1] == pytest.approx(found[0] - 0.03 * entropy)
