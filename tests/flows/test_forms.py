"""Forms show the settings in force, and only what a user changes in them becomes an override."""

import pytest
from pydantic import ValidationError

from compass.settings import Settings, load_settings
from flows.forms import build_form, collect_overrides, prefix


@pytest.fixture(scope="module")
def settings() -> Settings:
    return load_settings("profiles/tiny.yaml")


def test_a_form_has_every_setting_that_can_be_drawn(settings: Settings) -> None:
    schema = build_form(settings.stage("denoise"), "denoise").model_json_schema()
    threshold = schema["properties"]["contamination_coverage"]
    assert threshold == {
        "default": 0.5,
        "description": "Share of a benchmark item's n-grams that a training problem must hold to count as contaminated. "
        "(more than 0, at most 1)",
        "exclusiveMinimum": 0,
        "maximum": 1,
        "title": "contamination_coverage",
        "type": "number",
    }
    assert schema["properties"]["strictness"]["enum"] == ["possible", "likely", "sure"]
    assert "sources" not in build_form(settings.stage("collect"), "collect").model_fields


@pytest.mark.parametrize("stage", load_settings("profiles/tiny.yaml").stages)
def test_an_untouched_form_overrides_nothing(settings: Settings, stage: str) -> None:
    form = build_form(settings.stage(stage), stage)
    shown = form().model_dump(mode="json")
    assert collect_overrides(form.model_validate(shown), prefix(stage, settings)) == {}


def test_what_is_changed_is_named_as_in_the_parameter_file(settings: Settings) -> None:
    form = build_form(settings.stage("rl-2"), "rl-2")
    shown = form().model_dump(mode="json")
    changed = {**shown, "steps": 7, "loss": {**shown["loss"], "clip_high": 0.3}}
    assert collect_overrides(form.model_validate(changed), prefix("rl-2", settings)) == {
        "rl.stages.rl-2.steps": 7,
        "rl.stages.rl-2.loss.clip_high": 0.3,
    }
    assert prefix("denoise", settings) == "denoise"


@pytest.mark.parametrize("wrong", [{"min_problem_chars": 0}, {"strictness": "never"}, {"nonsense": 1}])
def test_what_no_setting_allows_is_refused(settings: Settings, wrong: dict) -> None:
    with pytest.raises(ValidationError):
        build_form(settings.stage("denoise"), "denoise").model_validate(wrong)
