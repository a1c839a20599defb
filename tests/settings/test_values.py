"""The last values that each section allows, and that no value is converted."""

from typing import Any

import pytest
from pydantic import ValidationError

from compass.settings import (
    Dedup,
    Denoise,
    Generator,
    Grade,
    Pretrain,
    Sampling,
    Verify,
)
from compass.settings.advantage import Critic
from compass.settings.recipe import Advantage, Loss, Optimizer, Resources, Reward, Rollout
from compass.settings.section import Section


@pytest.mark.parametrize(
    ("section", "field", "allowed", "refused"),
    [
        (Generator, "problems_per_level", [1], [0]),
        (Generator, "benchmark_per_level", [1], [0]),
        (Generator, "planted_per_kind", [0], [-1]),
        (Dedup, "threshold", [0.01, 1], [0, 1.01]),
        (Dedup, "ngram", [1], [0]),
        (Dedup, "seed", [0], [-1]),
        (Dedup, "conflicts", ["majority", "preferred", "drop"], ["first"]),
        (Denoise, "languages", [["en", "zh"]], [["de"]]),
        (Denoise, "contamination_coverage", [0.01, 1], [0, 1.01]),
        (Denoise, "contamination_similarity", [0.01, 1], [0, 1.01]),
        (Pretrain, "hidden_size", [32, 64], [31, 33, 16, 0]),
        (Pretrain, "learning_rate", [1e-9], [0]),
        (Pretrain, "skill", [0.01, 0.99], [0, 1]),
        (Pretrain, "guesses", [0, 0.7], [-0.01, 0.71]),  # with `careful` at 0.3
        (Pretrain, "guess_error", [0, 1], [-0.01, 1.01]),
        (Sampling, "temperature", [0], [-0.01]),
        (Sampling, "top_p", [0.01, 1], [0, 1.01]),
        (Sampling, "memory", [0.01, 1], [0, 1.01]),
        (Sampling, "max_tokens", [191], [192]),  # below `max_model_len`
        (Sampling, "dtype", ["float32", "bfloat16", "auto"], ["float16"]),
        (Grade, "levels", ["quantiles", "thresholds"], ["ranks"]),
        (
            Grade,
            "thresholds",
            [[1, 0.5, 0.25, 0]],
            [[0.2, 0.4, 0.6, 0.8], [0.8, 0.6, 0.4], [0.8, 0.6, 0.4, 0.2, 0.1], [0.8, 0.6, 0.6, 0.2]],
        ),
        (Verify, "suspicious_agreement", [0, 1], [-0.01, 1.01]),
        (Rollout, "group_size", [1], [0]),
        (Rollout, "temperature", [0.01], [0]),
        (Rollout, "top_p", [1.0], [0, 0.99, 1.01]),
        (Reward, "overlong_penalty", [0], [-0.01]),
        (Reward, "kl_coef", [0], [-0.01]),
        (Reward, "kl_estimator", ["k1", "k2", "k3", "abs"], ["k3+", "full"]),  # a reward has no gradient
        (Reward, "kl_controller", ["fixed", "adaptive"], ["off"]),
        (Reward, "kl_target", [0.01], [0]),
        (Reward, "kl_horizon", [1], [0]),
        (Advantage, "estimator", ["grpo", "opo", "grpo_passk", "rloo"], ["ppo", "gpg", 1]),
        (Advantage, "estimator", ["remax", "gae", "reinforce_plus_plus"], ["dr_grpo", "gdpo"]),
        (Critic, "learning_rate", [1e-9], [0]),
        (Critic, "warmup_steps", [0], [-1]),
        (Critic, "alone", [0], [-1]),
        (Critic, "value_clip", [0.01], [0]),
        (Loss, "clip_low", [0.01, 0.99], [0, 1]),
        (Loss, "clip_high", [0.01, 3], [0]),
        (Loss, "dual_clip", [0, 1.01], [-0.01, 0.5, 1]),
        (Loss, "kl_coef", [0], [-0.01]),
        (Loss, "entropy_coef", [0], [-0.01]),
        (Loss, "entropy_target", [0, 0.2], [-0.01]),
        (Loss, "entropy_step", [1e-9], [0]),
        (Loss, "entropy_coef_max", [1e-9], [0]),
        (Loss, "kl_estimator", ["k1", "k1+", "k2", "k3", "k3+", "abs", "abs+"], ["k2+", "low_var_kl", "full"]),
        (Loss, "aggregation", ["token-mean", "token-sum", "seq-mean-token-mean"], ["sum"]),
        (Loss, "aggregation", ["seq-mean-token-sum", "seq-mean-token-sum-norm"], ["seq-mean"]),
        (Optimizer, "learning_rate", [1e-9], [0]),
        (Optimizer, "weight_decay", [0], [-0.01]),
        (Optimizer, "warmup_steps", [0], [-1]),
        (Optimizer, "grad_clip", [0.01], [0]),
        (Resources, "gpus", [0], [-1]),
        (Resources, "nodes", [1], [0]),
        (Resources, "ranks", [1, 2], [0]),
        (Resources, "ray_address", ["", "head:6379", "127.0.0.1:6300"], ["head", "ray://head:10001", "a b:1", "head:"]),
        (Resources, "micro_batch_tokens", [1], [0]),
        (Resources, "kv_cache_gib", [1], [0, 0.5]),
        (Resources, "offload", ["none", "idle", "always"], ["cpu", True]),
        (Resources, "rollout_memory", [0.01, 1], [0, 1.01]),
        (Resources, "dtype", ["float32", "bfloat16"], ["auto"]),
    ],
)
def test_a_value_is_allowed_up_to_its_limit(
    section: type[Section], field: str, allowed: list[Any], refused: list[Any]
) -> None:
    for value in allowed:
        assert getattr(section(**{field: value}), field) == value
    for value in refused:
        with pytest.raises(ValidationError):
            section(**{field: value})


def test_no_value_is_converted_and_no_section_changed_after_reading() -> None:
    for wrong in ("3", 3.0, True):
        with pytest.raises(ValidationError):
            Dedup(ngram=wrong)
    with pytest.raises(ValidationError, match="frozen"):
        Dedup().ngram = 4


def test_every_field_says_what_it_means() -> None:
    def undocumented(section: type[Section]) -> list[str]:
        return [
            f"{section.__name__}.{name}"
            for name, field in section.model_fields.items()
            if not field.description and not _is_section(field.annotation)
        ]

    assert [name for section in _sections(Section) for name in undocumented(section)] == []


def _is_section(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, Section)


def _sections(above: type[Section]) -> list[type[Section]]:
    return [one for below in above.__subclasses__() for one in (below, *_sections(below))]
