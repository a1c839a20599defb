"""Names of runs say what differs from their profile."""

import subprocess
from pathlib import Path

import pytest
import yaml

from compass.runs.run_name import Change, changed_settings, run_name, slug
from compass.settings import Settings, load_settings

PROFILES = Path(__file__).resolve().parents[2] / "profiles"


def tiny(tmp_path: Path, **changes: object) -> Settings:
    """The tiny profile with values set by their names: `evaluate__samples=16`."""
    values = yaml.safe_load((PROFILES / "tiny.yaml").read_text())
    for name, value in changes.items():
        *folders, last = name.split("__")
        section = values
        for folder in folders:
            section = section.setdefault(folder.replace("rl1", "rl-1"), {})
        section[last] = value
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(values, sort_keys=False))
    return load_settings(path)


def test_a_profile_unchanged_is_its_name(tmp_path: Path) -> None:
    assert run_name(tiny(tmp_path), PROFILES) == "tiny"


def test_a_name_says_what_differs_the_seed_first_and_counts_the_rest(tmp_path: Path) -> None:
    assert run_name(tiny(tmp_path, evaluate__samples=16), PROFILES) == "tiny samples=16"
    settings = tiny(
        tmp_path, seed=1, rl__loss__clip_high=0.3, evaluate__samples=16, report__title="x", denoise__languages=["zh"]
    )
    assert run_name(settings, PROFILES) == "tiny seed=1 languages=zh +3"
    names = [change.name for change in changed_settings(settings, PROFILES) or []]
    assert names == ["seed", "denoise.languages", "rl.loss.clip_high", "evaluate.samples", "report.title"]


def test_what_differs_from_the_run_before_comes_first(tmp_path: Path) -> None:
    settings = tiny(tmp_path, seed=1, rl__loss__clip_high=0.3, evaluate__samples=16)
    assert run_name(settings, PROFILES, ["evaluate.samples"]) == "tiny samples=16 seed=1 +1"
    assert run_name(settings, PROFILES, ["grade.rollouts"]).startswith("tiny rollouts=")
    assert run_name(settings, PROFILES, ["grade.rollouts"]).endswith(" seed=1 +2")
    assert run_name(settings, PROFILES, ["", "no.such"]) == run_name(settings, PROFILES)


def test_a_name_that_would_be_too_long_counts_whole_settings_and_cuts_no_value(tmp_path: Path) -> None:
    settings = tiny(tmp_path, seed=123, collect__generate__problems_per_level=1200)
    assert run_name(settings, PROFILES, longest=39) == "tiny seed=123 problems_per_level=1200"
    assert run_name(settings, PROFILES, longest=36) == "tiny seed=123 +1"
    assert run_name(settings, PROFILES, longest=1) == "tiny +2"


def test_a_shared_value_is_told_once_and_a_stages_own_under_its_name(tmp_path: Path) -> None:
    shared = changed_settings(tiny(tmp_path, rl__optimizer__learning_rate=1e-4), PROFILES)
    assert shared == [Change("rl.optimizer.learning_rate", "0.0002", "0.0001")]
    own = tiny(tmp_path, rl__stages__rl1__steps=30)
    assert changed_settings(own, PROFILES) == [Change("rl.stages.rl-1.steps", "20", "30")]
    assert run_name(own, PROFILES) == "tiny rl-1.steps=30"


def test_another_stage_is_told_by_what_is_its_own(tmp_path: Path) -> None:
    stages = {"rl-1": {"init_from": "base", "steps": 20}, "rl-9": {"init_from": "rl-1", "steps": 5}}
    mixes = {"rl-1": {"1": 0.5, "2": 0.5}, "rl-9": {"3": 1.0}}
    settings = tiny(tmp_path, rl__stages=stages, curriculum__mixes=mixes)
    names = [change.name for change in changed_settings(settings, PROFILES) or [] if change.after != "(absent)"]
    assert names == ["curriculum.mixes.rl-9.3", "rl.stages.rl-9.init_from", "rl.stages.rl-9.steps"]


def test_sources_are_told_by_their_names(tmp_path: Path) -> None:
    values = yaml.safe_load((PROFILES / "tiny.yaml").read_text())
    sources = [values["collect"]["sources"][0]]
    changes = changed_settings(tiny(tmp_path, collect__sources=sources), PROFILES) or []
    assert changes[0] == Change("collect.sources", "tiny-chat,tiny-solutions,tiny-gsm", "tiny-chat")


def test_long_values_are_cut_and_a_missing_profile_is_no_error(tmp_path: Path) -> None:
    settings = tiny(tmp_path, report__title="a" * 100)
    assert run_name(settings, PROFILES) == f"tiny title={'a' * 23}…"
    assert run_name(settings, tmp_path / "none") == "tiny"
    assert changed_settings(settings, tmp_path / "none") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tiny", "tiny"),
        ("tiny seed=1 rl.loss.clip_high=0.3 +2", "tiny-seed=1-rl.loss.clip_high=0.3-+2"),
        ("..a..b~^:?*[\\ c.lock", "a.b-c"),
        ("über", "ber"),
        ("///", "run"),
        ("a b…", "a-b"),
    ],
)
def test_a_slug_is_a_git_ref(name: str, expected: str) -> None:
    assert slug(name) == expected
    subprocess.run(["git", "check-ref-format", f"refs/exps/{slug(name)}"], check=True)
