"""Values for a run: their lines alone change in params.yaml, and what no setting takes is refused."""

import difflib
from pathlib import Path

import pytest
import yaml

from compass.errors import UserError
from compass.settings.load import check_values
from flows.overrides import change_text, format_parameters, parse_parameters

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "profiles" / "tiny.yaml").read_text()


def changed(*words: str, text: str = TEXT) -> list[str]:
    after, _ = change_text(text, parse_parameters(words))
    lines = difflib.unified_diff(text.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]


def test_only_the_lines_concerned_change() -> None:
    assert changed("evaluate.samples=16") == ["-  samples: 8", "+  samples: 16"]
    assert changed("rl.stages.rl-2.steps=40") == [
        "-    rl-2: {init_from: rl-1, steps: 20}",
        "+    rl-2: {init_from: rl-1, steps: 40}",
    ]
    assert changed("collect.sources.0.name=chat") == ["-    - name: tiny-chat", "+    - name: chat"]
    assert changed("evaluate.samples=8") == []


def test_a_setting_that_the_file_does_not_name_is_added() -> None:
    assert changed("rl.stages.rl-2.optimizer.learning_rate=1e-4") == [
        "-    rl-2: {init_from: rl-1, steps: 20}",
        "+    rl-2: {init_from: rl-1, steps: 20, optimizer: {learning_rate: 0.0001}}",
    ]


@pytest.mark.parametrize("profile", sorted(path.name for path in (ROOT / "profiles").glob("*.yaml")))
def test_comments_and_order_of_every_profile_stay(profile: str) -> None:
    text = (ROOT / "profiles" / profile).read_text()
    assert changed("seed=123456", text=text) == ["-seed: 0", "+seed: 123456"]


def test_the_command_of_a_run_gives_the_same_values_again() -> None:
    values = {"a": 1, "b": [1, "x"], "d": "true", "e": "a b", "f": "[1", "g": 5e-5, "h": None, "i": "g=a"}
    assert parse_parameters(format_parameters(values)) == values
    assert parse_parameters(["a.b=[1, x]", "c=1e-3"]) == {"a.b": [1, "x"], "c": 0.001}


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("x", "give a setting as NAME=VALUE"),
        ("a b=1", "not the name of a setting"),
        ("profile=small", "`compass profile use NAME` changes them"),
        ("a=[1", "the value is not YAML"),
        ("rl.stages.rl-2.step=1", "rl-2.step: unknown key.*did you mean `steps`"),
        ("evaluate.samples.more=1", "is the value 8 and holds no settings"),
        ("collect.sources.99.name=x", "'99' is no entry of a list"),
        ("evaluate={samples: 1}", "give each of its settings by itself"),
        ("evaluate.models=[rl-9]", "rl-9"),
    ],
)
def test_what_no_setting_takes_is_refused(word: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        change_text(TEXT, parse_parameters([word]))


@pytest.mark.parametrize(
    ("word", "written"), [("5e-5", "5.0e-05"), ("1.0e-4", "0.0001"), ("0.002", "0.002"), ("1", "1")]
)
def test_a_small_number_stays_one_in_the_file(word: str, written: str) -> None:
    text = (ROOT / "profiles/debug.yaml").read_text()
    after, _ = change_text(text, parse_parameters([f"rl.optimizer.learning_rate={word}"]))
    assert f"  learning_rate: {written}\n" in after
    assert check_values(yaml.safe_load(after)).rl.optimizer.learning_rate == float(word)
