"""A whole parameter file: the stages it names, and what has to agree between sections."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compass.settings import Dedup, SettingsError, load_settings

ROOT = Path(__file__).resolve().parents[2]
TINY = load_settings(ROOT / "profiles/tiny.yaml")

Changed = Callable[[dict[str, Any]], Path]


def test_stages_stand_in_an_order_in_which_inputs_exist() -> None:
    assert TINY.stages == (
        *("collect", "dedup", "denoise", "base", "grade", "verify", "curriculum"),
        *("rl-1", "rl-2", "rl-3"),
        *("evaluate", "report"),
    )
    assert TINY.models == ("base", "rl-1", "rl-2", "rl-3")


def test_a_stages_settings_are_found_by_its_name() -> None:
    assert TINY.stage("rl-2") is TINY.rl.stages["rl-2"]
    assert TINY.stage("evaluate") is TINY.evaluate
    assert [type(TINY.stage(name)).__name__.lower() for name in TINY.stages[:3]] == ["collect", "dedup", "denoise"]


def test_a_section_that_may_be_left_out_has_its_defaults(changed: Changed) -> None:
    settings = load_settings(changed(dict.fromkeys(("dedup", "denoise", "grade", "verify", "evaluate", "seed"))))
    assert settings.dedup == Dedup()
    assert settings.seed == 0


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            {"curriculum.mixes.rl-3": None},
            "`curriculum.mixes` needs the stages .* (rl-1, rl-2, rl-3), found rl-1, rl-2",
        ),
        ({"curriculum.mixes": {}}, "(rl-1, rl-2, rl-3), found none"),
        (
            {"curriculum.mixes": {name: {"1": 1.0} for name in ("rl-2", "rl-1", "rl-3")}},
            "(rl-1, rl-2, rl-3), found rl-2, rl-1, rl-3",
        ),
        ({"curriculum.sources": ["other"]}, "has 'other'; allowed: tiny-chat, tiny-solutions, tiny-gsm"),
        ({"curriculum.problems": 31}, "(31) must be at least `data.batch_size` of every RL stage; rl-1 has 32"),
        ({"evaluate.models": ["base", "rl-4"]}, "`evaluate.models` has 'rl-4'; allowed: base, rl-1, rl-2, rl-3"),
        (
            {"evaluate.models": ["base", "rl-3"], "report.primary": ["rl-3", "rl-2"]},
            "`report.primary` needs two models that are evaluated (base, rl-3), found rl-3, rl-2",
        ),
        (
            {"evaluate.models": ["rl-3"], "evaluate.until": "verdict", "evaluate.at_most": 64},
            "`evaluate.until: verdict` compares two models, and rl-3 alone is evaluated",
        ),
        ({"report.primary": ["rl-3"]}, "`report.primary` needs two models that are evaluated .*, found rl-3"),
    ],
)
def test_sections_that_contradict_each_other_are_told(changed: Changed, values: dict[str, Any], told: str) -> None:
    path = changed(values)
    with pytest.raises(SettingsError) as error:
        load_settings(path)
    assert str(error.value).startswith(f"{path}: the file: ")
    assert all(part in str(error.value) for part in told.split(".*"))


def test_some_models_may_be_evaluated_alone(changed: Changed) -> None:
    assert load_settings(changed({"evaluate.models": ["rl-3", "base"]})).evaluate.models == ["rl-3", "base"]


HUB = {"name": "tiny-chat", "hub": "owner/name", "revision": "abc"}
FILE = {"name": "tiny-chat", "path": "rows.jsonl"}
CHOICES = FILE | {"adapter": "options", "options_field": "choices"}


@pytest.mark.parametrize(
    ("values", "refused", "fits"),
    [
        ("denoise.min_problem_chars", 4_001, 4_000),  # `max_problem_chars` is 4,000
        ("collect.max_problem_chars", 14, 15),  # `denoise.min_problem_chars` is 15
        ("denoise.languages", [], ["zh"]),
        ("collect.allow_licences", ["none-has-it"], ["Apache-2.0"]),
        ("collect.sources.0", FILE | {"revision": "abc"}, HUB),
        ("collect.sources.0", FILE | {"subset": "main"}, HUB | {"subset": "main"}),
        ("collect.sources.0", FILE | {"stream": True}, HUB | {"stream": True}),
        ("collect.sources.0", FILE | {"split": "test"}, HUB | {"split": "test"}),
        ("collect.sources.0", FILE | {"answer_is_index": True}, CHOICES | {"answer_is_index": True}),
        ("collect.sources.0", CHOICES | {"first_index": 1}, CHOICES | {"answer_is_index": True, "first_index": 1}),
        ("collect.sources.0", FILE | {"options_field": "choices"}, CHOICES),
        ("collect.sources.0", FILE | {"adapter": "options"}, CHOICES),
        (
            "collect.sources.0",
            FILE | {"level_means": "solve_rate"},
            FILE | {"level_means": "solve_rate", "level_field": "x"},
        ),
        ("base.revision", "0" * 40, ""),
        ("grade.revision", "0" * 40, ""),  # the grader is `models/base`
        ("grade.thresholds", [0.9, 0.6, 0.4, 0.2], [0.8, 0.6, 0.4, 0.2]),  # `levels` is quantiles
        ("rl.reward.kl_controller", "adaptive", "fixed"),  # `kl_coef` is 0
        ("grade.sampling.temperature", 0.0, 0.1),  # `grade.rollouts` is 8
        ("evaluate.sampling.temperature", 0.0, 0.1),
        ("evaluate.models", ["base", "base"], ["base", "rl-1"]),
        ("rl.checkpoint.validation_problems", 1_024, 32),
    ],
)
def test_values_that_leave_nothing_or_do_nothing_are_refused(
    changed: Changed, values: str, refused: Any, fits: Any
) -> None:
    load_settings(_with(changed, values, fits))
    with pytest.raises(SettingsError, match=values.split(".")[0]):
        load_settings(_with(changed, values, refused))


@pytest.mark.parametrize(
    ("level", "solve_rate", "refused"),
    [
        ("1", [0.0, 0.7], True),  # level 1 begins at 0.8
        ("1", [0.0, 0.8], False),
        ("2", [0.8, 1.0], True),  # level 2 ends below 0.8
        ("2", [0.7, 1.0], False),
        ("5", [0.2, 1.0], True),
        ("5", [0.0, 0.0], False),
    ],
)
def test_a_level_without_any_problem_is_refused(
    changed: Changed, level: str, solve_rate: list[float], refused: bool
) -> None:
    values = {
        "grade.levels": "thresholds",
        "curriculum.mixes": {name: {level: 1.0} for name in TINY.rl.stages},
        "curriculum.solve_rate": solve_rate,
    }
    if refused:
        with pytest.raises(SettingsError, match=rf"`curriculum\.mixes\.rl-1` wants level {level}, whose solve rates"):
            load_settings(changed(values))
        load_settings(changed(values | {"grade.levels": "operations"}))  # by which a solve rate decides no level
    else:
        load_settings(changed(values))


def test_thresholds_that_no_rule_reads_are_refused(changed: Changed) -> None:
    with pytest.raises(SettingsError, match=r"needs `grade\.levels: thresholds`; `operations` reads no thresholds"):
        load_settings(changed({"grade.levels": "operations", "grade.thresholds": [0.9, 0.6, 0.4, 0.2]}))


def test_problems_that_nothing_reads_are_refused(changed: Changed) -> None:
    nowhere = {"collect.sources": [FILE], "collect.benchmarks": [{"name": "aime-2024"}]}
    with pytest.raises(SettingsError, match="`generate` makes problems that no source or benchmark reads"):
        load_settings(changed(nowhere))
    load_settings(changed(nowhere | {"collect.generate": None}))


def _with(changed: Changed, name: str, value: Any) -> Path:
    """The tiny profile's file with one value; `collect.sources.0` is its first source."""
    if name == "collect.sources.0":
        others = [source.model_dump(exclude_unset=True) for source in TINY.collect.sources[1:]]
        return changed({"collect.sources": [value, *others]})
    return changed({name: value})
