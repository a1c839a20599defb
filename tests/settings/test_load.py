"""A parameter file that cannot be used is named, with the key, the value found and what is allowed."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compass.settings import SettingsError, load_settings

ROOT = Path(__file__).resolve().parents[2]
PROFILES = sorted((ROOT / "profiles").glob("*.yaml"))

Changed = Callable[[dict[str, Any]], Path]


@pytest.mark.parametrize("profile", PROFILES, ids=lambda path: path.stem)
def test_every_profile_is_whole_and_named_after_its_file(profile: Path) -> None:
    assert load_settings(profile).profile == profile.stem


def test_what_the_paper_profile_reads_cannot_change_but_for_the_gated_source() -> None:
    paper = load_settings(ROOT / "profiles/paper.yaml")
    read = {"base": paper.base.revision, "grader": paper.grade.revision}
    read |= {source.name: source.revision for source in paper.collect.sources}
    moving = [name for name, revision in read.items() if not re.fullmatch("[0-9a-f]{40}", str(revision))]
    assert moving == ["big-math"]


def test_the_paper_profile_reads_big_maths_share_of_right_solutions_as_one() -> None:
    sources = {source.name: source for source in load_settings(ROOT / "profiles/paper.yaml").collect.sources}
    assert sources["big-math"].level_field == "llama8b_solve_rate"
    assert {name for name, source in sources.items() if source.level_means == "solve_rate"} == {"big-math"}


def test_the_file_in_force_is_a_copy_of_its_profile() -> None:
    profile = load_settings(ROOT / "params.yaml").profile
    assert (ROOT / "params.yaml").read_text() == (ROOT / f"profiles/{profile}.yaml").read_text()


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("denoise.treshold", 0.7, "denoise.treshold: unknown key; allowed here: contamination_coverage, .*, found 0.7"),
        ("treshold", {"a": 1}, "treshold: unknown key; allowed here: base, collect, .*verify, found {'a': 1}"),
        ("collect.generate.kinds", 3, "collect.generate.kinds: unknown key; .* planted_per_kind, .*, found 3"),
        ("collect.sources.1.feild", "x" * 100, f"collect.sources.1.feild: unknown key; .*, found '{'x' * 76}..."),
        ("rl.optimizer.lr", 1e-6, "rl.optimizer.lr: unknown key; allowed here: betas, .*, found 1e-06"),
        ("rl.stages.rl-2.loss.clip", 0.3, "rl.stages.rl-2.loss.clip: unknown key; .*; did you mean `clip_low`?"),
        ("rl.stages.rl-2.rate", 0.3, "rl.stages.rl-2.rate: unknown key; allowed here: advantage, .*, found 0.3"),
        ("rl.stages.rl-2.steps", "40", "rl.stages.rl-2.steps: Input should be a valid integer, found '40'"),
        ("rl.stages.rl-2.steps", None, "rl.stages.rl-2.steps: is missing"),
        ("rl.reward", None, "rl.reward: is missing"),
        ("rl.optimizer", [1], "rl.optimizer: Input should be a valid dictionary .*, found [1]"),
        ("evaluate.samples", 0, "evaluate.samples: Input should be greater than or equal to 1, found 0"),
        ("evaluate.samples", "x" * 78, f"evaluate.samples: Input should be a valid integer, found '{'x' * 78}'"),
        ("evaluate.samples", "x" * 79, f"evaluate.samples: Input should be a valid integer, found '{'x' * 76}..."),
        ("grade.revision", "main", "grade.revision: must be a commit .*huggingface.co/OWNER/NAME` .*, found 'main'"),
        ("base.model", "some/model", "base: give either `model` .* or `pretrain`, not both and not neither"),
    ],
)
def test_a_wrong_value_is_told_once_on_one_line(changed: Changed, key: str, value: Any, told: str) -> None:
    path = changed({key: value})
    with pytest.raises(SettingsError) as error:
        load_settings(path)
    assert re.fullmatch(re.escape(f"{path}: {told}").replace(r"\.\*", ".*"), str(error.value))


def test_every_wrong_value_is_told(changed: Changed) -> None:
    path = changed({"seed": -1, "rl.loss.clip_low": 1.0, "rl.stages.rl-3.loss": {"clip_low": 2.0}})
    with pytest.raises(SettingsError) as error:
        load_settings(path)
    limit = "Input should be less than 1"
    assert str(error.value).splitlines() == [
        f"{path}: seed: Input should be greater than or equal to 0, found -1",
        f"{path}: rl.loss.clip_low: {limit}, found 1.0",
    ]


def test_a_key_that_stands_twice_is_told(changed: Changed) -> None:
    path = changed({})
    path.write_text(path.read_text() + "seed: 3\n")
    with pytest.raises(SettingsError, match=r'line \d+, column \d+: found duplicate key "seed" with value "3"'):
        load_settings(path)


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("seed", "010", 10),
        ("seed", "0x10", 16),
        ("base.pretrain.learning_rate", "1e-3", 0.001),
        ("verify.require_self_equal", "False", False),
        ("collect.sources.0.id_field", "no", "no"),
        ("collect.sources.0.id_field", "1:30", "1:30"),
    ],
)
def test_a_value_is_read_by_yaml_1_2_as_dvc_reads_it(changed: Changed, key: str, written: str, value: object) -> None:
    path = changed({key: "HERE"})
    path.write_text(path.read_text().replace("HERE", written))
    found: Any = load_settings(path).model_dump()
    for part in key.split("."):
        found = found[int(part)] if isinstance(found, list) else found[part]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("key", "written", "told"),
    [
        ("seed", "1:30", "valid integer, found '1:30'"),
        ("base.pretrain.learning_rate", ".inf", "finite number, found inf"),
        ("base.pretrain.learning_rate", ".nan", "finite number, found nan"),
    ],
)
def test_a_value_that_says_something_else_is_refused(changed: Changed, key: str, written: str, told: str) -> None:
    path = changed({key: "HERE"})
    path.write_text(path.read_text().replace("HERE", written))
    with pytest.raises(SettingsError, match=re.escape(told)):
        load_settings(path)


def test_keys_from_a_merge_may_be_given_again(changed: Changed) -> None:
    path = changed({"evaluate": None})
    path.write_text(path.read_text() + "evaluate:\n  <<: {samples: 3}\n  samples: 5\n")
    assert load_settings(path).evaluate.samples == 5


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("evaluate.sampels", 3, "did you mean `samples`?"),
        ("loss", {"clip_low": 0.1}, ""),
        ("rl.advantage.estimator", "grpoo", "did you mean `grpo`?"),
        ("collect.sources.0.licence", 2.0, "YAML takes this for no text: write it in quotes"),
        ("curriculum.mixes.rl-1", {1: 0.5, "2": 0.5}, "YAML takes this for no text: write it in quotes"),
        ("verify.require_self_equal", "Yes", "write true"),
    ],
)
def test_what_was_probably_meant_is_told(changed: Changed, key: str, value: object, hint: str) -> None:
    with pytest.raises(SettingsError) as error:
        load_settings(changed({key: value}))
    assert str(error.value).endswith(f"; {hint}" if hint else "found {'clip_low': 0.1}")


def test_a_missing_or_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nowhere\.yaml: no such file; `compass profile use NAME`"):
        load_settings(tmp_path / "nowhere.yaml")
    (tmp_path / "broken.yaml").write_text("a: [1")
    with pytest.raises(SettingsError, match=r"broken\.yaml: not readable as YAML"):
        load_settings(tmp_path / "broken.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: caf\xe9")
    with pytest.raises(SettingsError, match=r"latin\.yaml: not readable as YAML"):
        load_settings(tmp_path / "latin.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(
        SettingsError,
        match=r"list\.yaml: not readable as YAML with sections \(profile, seed, curation, engines, collect, .*\): it holds a list",
    ):
        load_settings(tmp_path / "list.yaml")
