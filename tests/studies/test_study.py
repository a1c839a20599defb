"""A study's file: what it may say, and what is refused before anything runs."""

from pathlib import Path

import pytest
import yaml

from compass.errors import UserError
from compass.settings import load_settings
from compass.studies.study import find_model, list_measures, read_study

ROOT = Path(__file__).resolve().parents[2]
GOOD = {
    "question": "Does it help?",
    "profile": "debug",
    "arms": {"plain": {}, "kl": {"rl.loss.kl_coef": 0.1}},
    "seeds": [0, 1],
    "smallest_difference": 3.0,
}


def write(root: Path, **changed) -> Path:
    (root / "studies").mkdir(exist_ok=True)
    (root / "studies/mine.yaml").write_text(yaml.safe_dump({**GOOD, **changed}))
    return root


def test_a_file_is_read(tmp_path: Path) -> None:
    study = read_study("mine", write(tmp_path))
    assert list(study.arms) == ["kl", "plain"]
    assert (study.measure, study.model, study.settings) == ("accuracy", "", {})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"seeds": [0]}, "seeds: one training run per arm says nothing about the next one"),
        ({"seeds": [0, 1, 0]}, "seeds: a seed stands twice"),
        ({"arms": {"plain": {}}}, "arms: a study compares two arms or more"),
        (
            {"arms": {"a b": {}, "c": {}}},
            "an arm's name has letters, digits, and `.`, `_`, `-` between them; found 'a b'",
        ),
        ({"arms": {"a": {"seed": 3}, "b": {}}}, "`arms.a` has `seed`, which the study sets by its own field"),
        ({"settings": {"rl.loss.kl_coef": 0.0}}, "`rl.loss.kl_coef` stands in `settings` and in an arm"),
        ({"smallest_difference": 0.05}, "smallest_difference: is in points: 5 stands for 5%; 0.1 at least, found 0.05"),
        ({"sed": [1]}, "sed: unknown key; allowed here: question, profile"),
        ({"question": ""}, "question: String should have at least 1 character, found ''"),
    ],
)
def test_what_a_file_may_not_say(changed: dict, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        read_study("mine", write(tmp_path, **changed))
    assert said in str(error.value)
    assert str(tmp_path / "studies/mine.yaml") in str(error.value)


@pytest.mark.parametrize("text", ["", "Which is better?\n"])
def test_a_file_without_keys_is_told_what_a_study_has(text: str, tmp_path: Path) -> None:
    write(tmp_path).joinpath("studies/mine.yaml").write_text(text)
    with pytest.raises(UserError, match=r"mine.yaml: not readable as YAML with sections \(question, profile, settings"):
        read_study("mine", tmp_path)


def test_a_study_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"there is no study 'mien' .*; did you mean mine"):
        read_study("mien", write(tmp_path))


def test_the_model_and_the_measure_have_to_be_evaluated(tmp_path: Path) -> None:
    settings = load_settings(ROOT / "profiles/debug.yaml")
    assert list_measures(settings) == ["accuracy", "lenient", "pass@2", "pass@4", "maj@4", "greedy"]
    assert find_model(read_study("mine", write(tmp_path)), settings) == "rl-3"
    assert find_model(read_study("mine", write(tmp_path, model="rl-1", measure="pass@4")), settings) == "rl-1"
    with pytest.raises(
        UserError, match=r"measure: 'pass@8' is not measured with these settings; did you mean pass@4\? there are acc"
    ):
        find_model(read_study("mine", write(tmp_path, measure="pass@8")), settings)
    with pytest.raises(UserError, match="model: 'rl-4' is not evaluated; there are base, rl-1, rl-2, rl-3"):
        find_model(read_study("mine", write(tmp_path, model="rl-4")), settings)
