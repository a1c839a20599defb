"""`compass rl STAGE --dry-run` prints what a stage would run with, and trains nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from compass.cli import main

TINY = str(Path(__file__).resolve().parents[2] / "profiles" / "tiny.yaml")


def test_without_a_dry_run_it_says_who_trains(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rl", "rl-1", "--params", TINY]) == 1
    assert capsys.readouterr().err == (
        "compass rl: `dvc repro -s rl-1` trains it; `--dry-run` prints its configuration\n"
    )


def test_an_unknown_stage_is_named_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rl", "rl-9", "--dry-run", "--params", TINY]) == 1
    assert capsys.readouterr().err == (f"compass rl: {TINY}: `rl.stages` has no 'rl-9'; there are rl-1, rl-2, rl-3\n")


def test_a_missing_parameter_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rl", "rl-1", "--dry-run", "--params", "none.yaml"]) == 1
    assert capsys.readouterr().err.startswith("compass rl: none.yaml: no such file")


def test_the_configuration_is_complete_and_names_the_stages_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rl", "rl-2", "--dry-run", "--params", TINY]) == 0
    configuration = yaml.safe_load(capsys.readouterr().out)
    assert {"actor_rollout_ref", "algorithm", "data", "trainer"} <= configuration.keys()
    assert configuration["actor_rollout_ref"]["model"]["path"].endswith("models/rl-1")
    assert str(configuration["data"]["train_files"]).find("work/rl-2/train.parquet") >= 0
