"""Two trainer ranks and two rollout engines train as one of each does, and a stage that loses one of them goes on afterwards.

Ten iterations of the debug profile with the real verl, vLLM and Ray; three minutes on two idle cores.
"""

from pathlib import Path
from typing import Any

import pytest

from compass.rl.launch import TrainingError
from tests.rl.several import (
    assert_same_training,
    assert_same_weights,
    killing,
    make_policy,
    run,
    stage,
    still_running,
    titled,
    weights,
)

pytestmark = pytest.mark.recipes
STEPS = 10


@pytest.fixture(scope="module")
def policy(finished_debug: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_policy(finished_debug, tmp_path_factory.mktemp("policy"))


@pytest.fixture(scope="module")
def alone(policy: Path) -> tuple[list[dict[str, Any]], Path]:
    """One rank and one engine, undisturbed."""
    work = policy / "alone"
    return run(policy, work, stage(STEPS)), work


def test_two_ranks_with_two_engines_train_as_one(policy: Path, alone: tuple[list[dict[str, Any]], Path]) -> None:
    rows, work = alone
    together = policy / "together"
    assert_same_training(run(policy, together, stage(STEPS, ranks=2)), rows)
    saved = together / f"checkpoints/global_step_{STEPS}/actor"
    assert sorted(path.name for path in saved.glob("model_*")) == [
        "model_world_size_2_rank_0.pt",
        "model_world_size_2_rank_1.pt",
    ]
    ends = (weights(policy, one, STEPS) for one in (together, work))
    assert_same_weights(*ends, weights(policy, work, 0))


def test_a_lost_rank_engine_or_raylet_ends_the_stage_which_then_goes_on_to_the_same_end(
    policy: Path, alone: tuple[list[dict[str, Any]], Path]
) -> None:
    rows, undisturbed = alone
    work, two = policy / "killed", stage(STEPS, ranks=2)
    lost = {
        "ray::WorkerDict": "a rank of the trainer",
        "ray::GroupServer": "vLLM's engine",
        "raylet": "Ray's raylet",
    }
    for after, (title, name) in zip((2, 4, 6), lost.items(), strict=True):
        with killing(lambda title=title: titled(title), work, after) as family, pytest.raises(TrainingError) as error:
            run(policy, work, two)
        assert not still_running(family, seconds=15)
        message = str(error.value)
        assert f"of {STEPS}" in message
        told = (name, "ActorDiedError", "Connection closed by peer", "Raylet is terminated")  # by whoever sees it first
        assert any(one in message for one in told), message
    assert_same_training(run(policy, work, two), rows)
    ends = (weights(policy, one, STEPS) for one in (work, undisturbed))
    assert_same_weights(*ends, weights(policy, work, 0))
