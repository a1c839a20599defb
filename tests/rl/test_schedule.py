"""The learning rate of each iteration, as verl's schedule gives it under a stage's settings."""

import math
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from compass.rl.checkpoint import first_share
from compass.rl.config import verl_config
from compass.rl.course import course
from compass.rl.paths import StagePaths
from compass.settings import RlStage, load_settings
from tests.conftest import make_random_model

ROOT = Path(__file__).resolve().parents[2]
PATHS = StagePaths(Path("models/base"), Path("train.parquet"), Path("work"))


def stage(steps: int, **optimizer: Any) -> RlStage:
    """The first stage of profile `tiny` with another optimizer."""
    tiny = load_settings(ROOT / "profiles/tiny.yaml").rl.stages["rl-1"].model_dump()
    tiny["steps"] = steps
    tiny["optimizer"] |= {"learning_rate": 1e-3, **optimizer}
    return RlStage.model_validate(tiny)


def rates(settings: RlStage) -> list[float]:
    """The learning rate of every iteration, by verl's schedulers, chosen as its FSDP engine does."""
    import torch
    from verl.utils.config import omega_conf_to_dataclass
    from verl.utils.torch_functional import get_constant_schedule_with_warmup, get_cosine_schedule_with_warmup

    ours = omega_conf_to_dataclass(verl_config("rl-1", settings, PATHS, seed=0).actor_rollout_ref.actor.optim)
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=ours.lr)
    if ours.lr_scheduler_type == "constant":
        schedule = get_constant_schedule_with_warmup(optimizer, ours.lr_warmup_steps)
    else:
        schedule = get_cosine_schedule_with_warmup(
            optimizer,
            ours.lr_warmup_steps,
            settings.steps,  # the trainer sets it so
            min_lr_ratio=ours.min_lr_ratio,
            num_cycles=ours.num_cycles,
            zero_indexed_step=ours.zero_indexed_step,
        )
    found = []
    for _ in range(settings.steps):
        found += schedule.get_last_lr()
        optimizer.step()
        schedule.step()
    return found


def test_a_constant_rate_rises_from_0_over_the_warm_up() -> None:
    assert rates(stage(5, warmup_steps=2)) == pytest.approx([0.0, 5e-4, 1e-3, 1e-3, 1e-3])


def test_a_cosine_falls_to_the_lowest_rate_at_the_end_of_the_stage() -> None:
    half = 0.5 * (1e-3 + 1e-4)
    wave = [half + 0.5 * (1e-3 - 1e-4) * math.cos(math.pi * step / 8) for step in range(8)]
    assert rates(stage(8, schedule="cosine", min_learning_rate=1e-4)) == pytest.approx(wave)
    later = rates(stage(10, schedule="cosine", min_learning_rate=1e-4, warmup_steps=2))
    assert later == pytest.approx([0.0, 5e-4, *wave])
    assert rates(stage(10, schedule="cosine", min_learning_rate=1e-4, warmup_steps=2, zero_indexed=False))[
        :-1
    ] == pytest.approx(later[1:])


def test_a_whole_period_rises_again() -> None:
    wave = [0.5e-3 * (1 + math.cos(2 * math.pi * step / 8)) for step in range(8)]
    assert rates(stage(8, schedule="cosine", cycles=1.0)) == pytest.approx(wave)


def test_a_schedule_of_its_own_length_does_not_follow_the_stages() -> None:
    whole = rates(stage(12, schedule="cosine", warmup_steps=2))
    for steps in (3, 7, 12):
        part = rates(stage(steps, schedule="cosine", warmup_steps=2, schedule_steps=12))
        assert part == pytest.approx(whole[:steps])


@pytest.mark.parametrize(
    ("warmup", "schedule", "zero", "length"), list(product((0, 1, 3), ("constant", "cosine"), (True, False), (0, 20)))
)
def test_the_first_rate_after_a_carried_state_is_verls(warmup: int, schedule: str, zero: bool, length: int) -> None:
    given: dict[str, Any] = {"warmup_steps": warmup, "schedule": schedule}
    if schedule == "cosine":
        given |= {"zero_indexed": zero, "schedule_steps": length, "min_learning_rate": 2e-4, "cycles": 0.7}
    for steps in (
        (9, 1) if length and schedule == "cosine" else (9,)
    ):  # one iteration may be all warm-up where the schedule is longer
        ours = stage(steps, **given)
        assert 1e-3 * first_share(ours.optimizer, steps) == pytest.approx(rates(ours)[0])


def test_more_steps_are_another_course_only_where_the_rate_follows_them(tmp_path: Path) -> None:
    start = make_random_model(tmp_path / "base", 0)
    (tmp_path / "train.parquet").write_bytes(b"problems")

    def named(steps: int, **optimizer: Any) -> str:
        return course(stage(steps, **optimizer), seed=0, start=start, training_set=tmp_path / "train.parquet")

    assert named(8) == named(9)
    assert named(8, schedule="cosine") != named(9, schedule="cosine")
    assert named(8, schedule="cosine", schedule_steps=20) == named(9, schedule="cosine", schedule_steps=20)


def test_adams_constants_reach_torch() -> None:
    import torch
    from verl.utils.config import omega_conf_to_dataclass
    from verl.workers.config.optimizer import build_optimizer

    settings = stage(8, betas=[0.8, 0.95], eps=1e-6)
    ours = omega_conf_to_dataclass(verl_config("rl-1", settings, PATHS, seed=0).actor_rollout_ref.actor.optim)
    (group,) = build_optimizer([torch.zeros(1, requires_grad=True)], ours).param_groups
    assert (list(group["betas"]), group["eps"], group["lr"], group["weight_decay"]) == ([0.8, 0.95], 1e-6, 1e-3, 0.01)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"betas": [0.9]}, r"`betas` must be two numbers"),
        ({"betas": [0.9, 1.0]}, r"less than 1"),
        ({"min_learning_rate": 1e-5}, r"`min_learning_rate` needs `schedule: cosine`"),
        ({"schedule_steps": 9}, r"`schedule_steps` needs `schedule: cosine`"),
        ({"cycles": 1.0}, r"`cycles` needs `schedule: cosine`"),
        ({"zero_indexed": False}, r"`zero_indexed` needs `schedule: cosine`"),
        ({"schedule": "cosine", "min_learning_rate": 2e-3}, r"must be at most `learning_rate` \(0.001\)"),
        (
            {"schedule": "cosine", "schedule_steps": 7},
            r"`optimizer.schedule_steps` \(7\) must be at least `steps` \(8\)",
        ),
        (
            {"warmup_steps": 8},
            r"`optimizer.warmup_steps` \(8\) must be less than the 8 iterations",
        ),
        (
            {"schedule": "cosine", "warmup_steps": 8},
            r"`optimizer.warmup_steps` \(8\) must be less than the 8 iterations",
        ),
    ],
)
def test_a_setting_without_effect_or_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        stage(8, **given)
