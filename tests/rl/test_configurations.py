"""Two profiles, with and without a KL term, for every estimator, device and number of nodes, is one that verl accepts; so is every stage of every profile."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, get_args

import pytest

from compass.rl import config
from compass.settings import Settings
from compass.settings.advantage import GROUP_BASED, Advantage
from tests.conftest import changed_profile

ROOT = Path(__file__).resolve().parents[2]
PROFILES = sorted(path.stem for path in (ROOT / "profiles").glob("*.yaml"))
ESTIMATORS = get_args(Advantage.model_fields["estimator"].annotation)
HARDWARE = {"cpu": (0, 1), "2 nodes of CPUs": (0, 2), "gpu": (1, 1), "2 nodes of 8": (8, 2)}
"""GPUs per node and nodes, by name."""


def settings(profile: str, *, kl: float, estimator: str, gpus: int, nodes: int) -> Settings:
    """A profile with some of its values changed, KL in the loss and in the reward. Its batch holds problems enough for 16 GPUs; what it says of its own hardware is left out."""
    values = {
        "rl.loss.kl_coef": kl,
        "rl.reward.kl_coef": kl,
        "rl.advantage": {"estimator": estimator},
        "rl.rollout.dynamic_sampling": estimator in GROUP_BASED,
        "rl.resources": {"gpus": gpus, "nodes": nodes, "dtype": "bfloat16" if gpus else "float32"},
    }
    return Settings.model_validate(changed_profile(profile, values))


@pytest.mark.parametrize(
    ("profile", "kl", "estimator", "hardware"), list(product(("tiny", "paper"), (0.0, 0.01), ESTIMATORS, HARDWARE))
)
def test_verl_accepts(profile: str, kl: float, estimator: str, hardware: str, accepted: Callable[..., Any]) -> None:
    gpus, nodes = HARDWARE[hardware]
    stages = settings(profile, kl=kl, estimator=estimator, gpus=gpus, nodes=nodes).rl.stages
    name = next(iter(stages))
    actor = accepted(name, stages[name])
    assert actor.use_kl_loss == (kl > 0)
    assert actor.strategy == "fsdp2"
    assert actor.engine.mixed_precision["reduce_dtype"] == "fp32"


@pytest.mark.parametrize("profile", PROFILES)
def test_verl_accepts_every_stage_of_a_profile(profile: str, accepted: Callable[..., Any]) -> None:
    for name, stage in Settings.model_validate(changed_profile(profile, {})).rl.stages.items():
        accepted(name, stage)


def test_a_kl_term_without_the_references_batch_size_is_refused_by_verl(
    accepted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is verl's own: the tests above would fail if the key were gone."""
    ours = config.overrides_by_setting
    gone = {"gone": {"actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": None}}
    monkeypatch.setattr(config, "overrides_by_setting", lambda *given, **named: ours(*given, **named) | gone)
    stages = settings("tiny", kl=0.1, estimator="grpo", gpus=0, nodes=1).rl.stages
    with pytest.raises(ValueError, match=r"actor_rollout_ref\.ref\.log_prob_micro_batch_size"):
        accepted("rl-1", stages["rl-1"])
