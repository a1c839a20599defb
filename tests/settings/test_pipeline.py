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
