"""What each section holds when a parameter file says nothing, and the last values that it allows."""

from typing import Any

import pytest
from pydantic import ValidationError

from compass.settings import (
    Collect,
    Curriculum,
    Dedup,
    Denoise,
    Evaluate,
    Generator,
    Grade,
    Pretrain,
    Report,
    Sampling,
    Source,
    Verify,
)
from compass.settings.advantage import Critic
from compass.settings.recipe import Advantage, Loss, Optimizer, Resources, Reward, Rollout
from compass.settings.section import Section

SAMPLING = {
    "temperature": 1.0,
    "top_p": 1.0,
    "max_tokens": 64,
    "max_model_len": 192,
    "checkpoint_tokens": 128,
    "batch": 2048,
    "dtype": "auto",
    "tensor_parallel": 1,
    "memory": 0.85,
    "kv_cache_gib": 1,
    "prompt": "default",
    "chat_template": "",
    "system_prompt": "",
    "prompt_suffix": "",
}


@pytest.mark.parametrize(
    ("section", "defaults"),
    [
        (Generator(), {"problems_per_level": 400, "benchmark_per_level": 60, "planted_per_kind": 30}),
        (
            Source(name="s", path="p"),
            {
                "name": "s",
                "path": "p",
                "hub": "",
                "revision": "",
                "subset": "",
                "split": "train",
                "stream": False,
                "adapter": "columns",
                "problem_field": "problem",
                "answer_field": "answer",
                "answers_mean": "all",
                "alternatives_field": "",
                "tolerance": "",
                "tolerance_field": "",
                "tolerances": {},
                "other_answer_field": "",
                "unit_field": "",
                "equation_field": "",
                "solution_field": "",
                "id_field": "",
                "level_field": "",
                "level_means": "difficulty",
                "options_field": "",
                "answer_is_index": False,
                "licence": "unknown",
                "strip_prefixes": [],
                "strip_suffixes": [],
                "max_rows": 0,
            },
        ),
        (
            Collect(sources=[], benchmarks=[]),
            {
                "generate": None,
                "sources": [],
                "benchmarks": [],
                "skip_unreadable": False,
                "repair": True,
                "max_problem_chars": 20_000,
                "max_answer_chars": 2_000,
                "max_solution_chars": 100_000,
                "allow_licences": [],
            },
        ),
        (
            Dedup(),
            {
                "threshold": 0.8,
                "ngram": 3,
                "permutations": 128,
                "seed": 1,
                "numbers_must_match": True,
                "conflicts": "majority",
                "memory_mb": 4096,
            },
        ),
        (
            Denoise(),
            {
                "min_problem_chars": 15,
                "max_problem_chars": 4000,
                "languages": ["en"],
                "skip_reasons": [],
                "strictness": "likely",
                "drawing_code": "drop",
                "contamination_ngram": 13,
                "contamination_coverage": 0.5,
                "contamination_similarity": 0.6,
            },
        ),
        (
            Pretrain(),
            {
                "hidden_size": 128,
                "layers": 3,
                "batch_size": 32,
                "learning_rate": 3e-3,
                "skill": 0.5,
                "steps": 900,
                "habit_steps": 60,
                "guesses": 0.55,
                "guess_error": 0.5,
                "careful": 0.30,
                "sloppy_error": 0.30,
            },
        ),
        (Sampling(), SAMPLING),
        (
            Grade(),
            {
                "model": "models/base",
                "revision": "",
                "rollouts": 8,
                "sampling": SAMPLING,
                "max_problems": 0,
                "levels": "quantiles",
                "thresholds": [0.8, 0.6, 0.4, 0.2],
            },
        ),
        (
            Verify(),
            {
                "require_self_equal": True,
                "max_text_words": 4,
                "wordy_golds": "drop",
                "suspicious_agreement": 0.75,
                "suspicious_min_rollouts": 8,
            },
        ),
        (
            Curriculum(mixes={}),
            {
                "mixes": {},
                "problems": 1024,
                "sources": [],
                "solve_rate": [0.0, 1.0],
                "use_source_level": False,
                "doubtful": "keep",
            },
        ),
        (
            Evaluate(),
            {
                "models": [],
                "samples": 8,
                "greedy": True,
                "sampling": SAMPLING,
                "max_problems": 0,
            },
        ),
        (Report(), {"title": "Compass-Thinker pipeline", "viewer_megabytes": 20.0}),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Section) else "",
)
def test_what_is_left_out_has_its_default(section: Section, defaults: dict[str, Any]) -> None:
    assert section.model_dump() == defaults


@pytest.mark.parametrize(
    ("section", "field", "allowed", "refused"),
    [
        (Generator, "problems_per_level", [1], [0]),
        (Generator, "benchmark_per_level", [1], [0]),
        (Generator, "planted_per_kind", [0], [-1]),
        (Dedup, "threshold", [0.01, 1], [0, 1.01]),
        (Dedup, "ngram", [1], [0]),
        (Dedup, "seed", [0], [-1]),
        (Dedup, "conflicts", ["majority", "drop"], ["first"]),
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
        (Rollout, "top_p", [0.01, 1], [0, 1.01]),
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
        (Resources, "attention", ["sdpa", "flash_attention_2"], ["eager"]),
        (Resources, "sequence_parallel", [1], [0]),
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
