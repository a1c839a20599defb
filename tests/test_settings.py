from pathlib import Path
from typing import Any

import pytest
import yaml

from compass.settings import RL_STAGES, SettingsError, load_settings

ROOT = Path(__file__).resolve().parents[1]
PROFILES = sorted((ROOT / "profiles").glob("*.yaml"))


def changed(tmp_path: Path, key: str, value: Any) -> Path:
    """The tiny profile with one key (dots reach into sections) set to a value."""
    values = yaml.safe_load((ROOT / "profiles/tiny.yaml").read_text())
    *sections, last = key.split(".")
    section = values
    for name in sections:
        section = section[int(name)] if isinstance(section, list) else section[name]
    section[last] = value
    path = tmp_path / "params.yaml"
    path.write_text(yaml.safe_dump(values))
    return path


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.stem)
def test_every_profile_is_whole_and_named_after_its_file(profile: Path) -> None:
    assert load_settings(profile).profile == profile.stem


def test_the_file_in_force_is_the_tiny_profile() -> None:
    assert (ROOT / "params.yaml").read_text() == (ROOT / "profiles/tiny.yaml").read_text()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("dedup.treshold", 0.7, r"params\.yaml: dedup\.treshold: unknown key; allowed here: .*threshold.*, found 0\.7"),
        ("rl.lr", 1e-6, r"rl-1\.lr: unknown key; allowed here: .*learning_rate"),
        ("collect.sources.0.feild", "x", r"collect\.sources\.0\.feild: unknown key; allowed here: .*problem_field"),
        ("rl-2.steps", "twenty", r"rl-2\.steps: Input should be a valid integer, found 'twenty'"),
        ("evaluate.samples", 0, r"evaluate\.samples: .*greater than or equal to 1, found 0"),
        ("curriculum.mixes.rl-1", {"1": 0.7}, r"curriculum: `mixes\.rl-1` adds up to 0\.7, not 1"),
        ("rl-1.init_from", "rl-2", r"`rl-1\.init_from` is 'rl-2'; allowed: base"),
        ("rl-2.carry_optimizer", True, r"`rl-2\.carry_optimizer` needs `rl-1\.keep_optimizer: true`"),
        ("rl.mini_batch_size", 5, r"`mini_batch_size` \(5\) must divide `batch_size` \(32\)"),
        ("base.model", "some/model", r"base: give either `model` .* or `pretrain`"),
        ("grade.thresholds", [0.2, 0.4, 0.6, 0.8], r"four falling solve rates"),
    ],
)
def test_a_wrong_setting_is_named_with_what_is_allowed(tmp_path: Path, key: str, value: Any, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load_settings(changed(tmp_path, key, value))


def test_a_stages_own_value_wins_over_the_shared_recipe(tmp_path: Path) -> None:
    settings = load_settings(changed(tmp_path, "rl-2.learning_rate", 5e-5))
    assert [settings.stage(stage).learning_rate for stage in RL_STAGES] == [2e-4, 5e-5, 2e-4]


def test_a_missing_or_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml: no such file; `compass profile use NAME`"):
        load_settings(tmp_path / "nowhere.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1")
    with pytest.raises(SettingsError, match=r"broken\.yaml: not readable as YAML"):
        load_settings(tmp_path / "broken.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(SettingsError, match=r"list\.yaml: must hold sections"):
        load_settings(tmp_path / "list.yaml")
