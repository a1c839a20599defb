"""`compass rl show` prints what a stage would run with, and trains nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from compass.cli import main

ROOT = Path(__file__).resolve().parents[2]
TINY = str(ROOT / "profiles" / "tiny.yaml")


def test_an_unknown_stage_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rl", "show", "rl-9", "--params", TINY]) == 2
    assert capsys.readouterr().err == (f"compass rl: {TINY}: `rl.stages` has no 'rl-9'; there are rl-1, rl-2, rl-3\n")


@pytest.mark.parametrize(
    ("where", "told"), [(["--params", "none.yaml"], "none.yaml"), (["--profile", "none"], "profiles/none.yaml")]
)
def test_a_missing_parameter_file_is_named(where: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rl", "show", "rl-1", *where]) == 1
    assert capsys.readouterr().err.startswith(f"compass rl: {told}: no such file")


@pytest.mark.parametrize("words", [[], ["show"], ["rl-1", "--dry-run"]])
def test_what_to_show_has_to_be_said(words: list[str]) -> None:
    assert main(["rl", *words]) == 2


def test_the_configuration_is_complete_and_names_the_stages_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rl", "show", "rl-2", "--params", TINY, "--whole"]) == 0
    text = capsys.readouterr().out
    configuration = yaml.safe_load(text)
    assert {"actor_rollout_ref", "algorithm", "data", "trainer"} <= configuration.keys()
    assert configuration["actor_rollout_ref"]["model"]["path"] == "models/rl-1"
    assert configuration["data"]["train_files"] == "work/rl-2/train.parquet"
    assert "${" not in text


def test_the_short_view_is_a_page_of_the_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rl", "show", "rl-2", "--params", TINY]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"rl-2 of {TINY}: starts from rl-1, 20 iterations, seed 0"
    assert "32 problems x 8 responses = 256 responses, 1 update of 32 problems" in lines[1]
    assert len(lines) < 40
    assert all(len(line) <= 110 for line in lines[1:-1])
    text = " ".join(" ".join(lines).split())
    assert "learning_rate 0.0002 *," in text
    assert "clip_high 0.28," in text
    assert "critic.learning_rate 1e-05," in text
    assert "warn: gradient_spike" in text


def test_a_profile_is_shown_by_its_name(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["rl", "show", "rl-2", "--profile", "paper", "--whole"]) == 0
    configuration = yaml.safe_load(capsys.readouterr().out)
    assert configuration["trainer"]["n_gpus_per_node"] == 8
    assert configuration["actor_rollout_ref"]["ref"]["log_prob_max_token_len_per_gpu"] == 4096
