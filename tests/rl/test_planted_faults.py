"""A fault in a configuration is told before a stage starts, with the setting and what to do about it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from compass.errors import UserError
from compass.rl import config
from compass.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]


def edited(folder: Path, profile: str, changes: dict[str, Any]) -> Path:
    """A profile's file with some values changed; dots reach into sections."""
    tree = yaml.safe_load((ROOT / f"profiles/{profile}.yaml").read_text())
    for key, value in changes.items():
        *sections, last = key.split(".")
        section = tree
        for name in sections:
            section = section[name]
        section[last] = value
    path = folder / "params.yaml"
    path.write_text(yaml.safe_dump(tree, sort_keys=False))
    return path


def start(accepted: Callable[..., Any], path: Path, **given: Any) -> None:
    """All that stands between a parameter file and a stage."""
    accepted("rl-1", load_settings(path).rl.stages["rl-1"], **given)


@pytest.mark.parametrize(
    ("profile", "changes", "setting", "remedy"),
    [
        ("tiny", {"rl.advantage.estimator": "ppo"}, "rl.advantage.estimator", "`estimator: gae`"),
        ("tiny", {"rl.advantage.estimator": "remax"}, "`rollout.dynamic_sampling: true`", "dynamic_sampling: false`"),
        (
            "tiny",
            {"rl.advantage.estimator": "rloo", "rl.advantage.normalise_by_std": False},
            "`normalise_by_std: false`",
            "set `normalise_by_std: true`",
        ),
        (
            "tiny",
            {"rl.optimizer.mini_batch_size": 5},
            "`optimizer.mini_batch_size` (5)",
            "must divide `data.batch_size`",
        ),
        ("tiny", {"rl.resources.gpus": 3}, "`optimizer.mini_batch_size` x `rollout.group_size`", "a multiple of the 3"),
        ("tiny", {"rl.rollout.top_p": 0.95}, "`rollout.top_p` (0.95)", "must be 1 on a CPU"),
        ("tiny", {"rl.resources.offload": "idle"}, "`resources.offload` (idle)", "leave it out, or name the GPUs"),
        ("tiny", {"curriculum.problems": 31}, "`curriculum.problems` (31)", "at least `data.batch_size`"),
        (
            "paper",
            {"rl.resources.tensor_parallel": 3},
            "`resources.tensor_parallel` (3)",
            "must divide `resources.gpus`",
        ),
        ("paper", {"rl.resources.tensor_parallel": 8}, "`resources.tensor_parallel` (8)", "possible: 1, 2, 4, 7"),
        (
            "paper",
            {"rl.resources.sequence_parallel": 2},
            "`resources.sequence_parallel` (2)",
            "`resources.attention: flash",
        ),
        ("paper", {"rl.resources.attention": "flash_attention_2"}, "`resources.attention:", "set `attention: sdpa`"),
        (
            "paper",
            {"rl.resources.micro_batch_tokens": 4095},
            "`resources.micro_batch_tokens` (4095)",
            "must hold the longest",
        ),
        ("paper", {"rl.data.max_prompt_tokens": 2048}, "`data.max_prompt_tokens`", "lower one of them"),
        ("paper", {"rl.loss.dual_clip": 1.0}, "`dual_clip` (1)", "must be more than 1, or 0"),
        ("paper", {"rl.loss.klcoef": 0.1}, "rl.loss.klcoef: unknown key", "kl_coef"),
        (
            "tiny",
            {"rl.verl": {"algorithm.filter_group.enable": True}},
            "`rl.verl` has `algorithm.filter_group.enable`",
            "the nearest is `algorithm.filter_groups.enable`",
        ),
    ],
)
def test_a_planted_fault_is_told(
    tmp_path: Path,
    accepted: Callable[..., Any],
    profile: str,
    changes: dict[str, Any],
    setting: str,
    remedy: str,
) -> None:
    start(accepted, edited(tmp_path, profile, {}))
    with pytest.raises(UserError) as error:
        start(accepted, edited(tmp_path, profile, changes))
    assert setting in str(error.value)
    assert remedy in str(error.value)


def test_too_few_problems_are_told(tmp_path: Path, accepted: Callable[..., Any]) -> None:
    pq.write_table(pa.table({"prompt": ["1 + 1"] * 31}), tmp_path / "few.parquet")
    with pytest.raises(UserError, match=r"31 training problems are fewer than `rl\.data\.batch_size` \(32\)"):
        start(accepted, edited(tmp_path, "tiny", {}), train=tmp_path / "few.parquet")


def test_a_cluster_without_the_cores_is_told(tmp_path: Path, accepted: Callable[..., Any]) -> None:
    with pytest.raises(
        UserError, match="the Ray cluster has 27 CPUs free and the stage needs 28: join nodes with more cores"
    ):
        start(accepted, edited(tmp_path, "paper", {}), cluster={"CPU": 27.0, "GPU": 8.0})


def test_a_kl_term_without_the_references_batch_size_is_refused_by_verl(
    tmp_path: Path, accepted: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first test of the matrix would miss if the key were gone: the check is verl's own."""
    ours = config.overrides_by_setting
    gone = {"gone": {"actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": None}}
    monkeypatch.setattr(config, "overrides_by_setting", lambda *given, **named: ours(*given, **named) | gone)
    with pytest.raises(ValueError, match=r"actor_rollout_ref\.ref\.log_prob_micro_batch_size"):
        start(accepted, edited(tmp_path, "tiny", {"rl.loss.kl_coef": 0.1}))
