"""A run as TensorBoard and W&B read it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from compass.cli import main
from compass.report.export import score_points, training_points
from compass.report.run import read_run
from compass.runs.values import flatten


def test_curves_go_on_from_stage_to_stage_and_scores_over_the_models(finished_run: Path) -> None:
    run = read_run(finished_run)
    steps = [point.step for point in training_points(run) if point.name == "train/reward"]
    assert len(steps) == sum(len(curves["step"]) for curves in run.results.curves.values())
    assert steps == sorted(set(steps)), "no iteration of a later stage lies on one of an earlier"
    scores = {(point.name, point.step): point.value for point in score_points(run)}
    for position, model in enumerate(run.models):
        assert scores["accuracy/average", position] == run.results.scores[model]["average"]["accuracy"]


def test_tensorboard_reads_what_was_exported(finished_run: Path, tmp_path: Path, capsys) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    out = tmp_path / "tb"
    assert main(["runs", "export", str(finished_run), "--tensorboard", str(out)]) == 0
    assert f"tensorboard --logdir {out}" in capsys.readouterr().out
    read = EventAccumulator(str(out)).Reload()
    run = read_run(finished_run)
    found = [(event.step, event.value) for event in read.Scalars("accuracy/average")]
    assert found == [
        (number, pytest.approx(run.results.scores[model]["average"]["accuracy"]))
        for number, model in enumerate(run.models)
    ]
    wanted = [point.value for point in training_points(run) if point.name == "train/reward"]
    assert [event.value for event in read.Scalars("train/reward")] == pytest.approx(wanted)
    assert main(["runs", "export", str(finished_run), "--tensorboard", str(out)]) == 1
    assert "holds TensorBoard's events already" in capsys.readouterr().err


def test_what_cannot_be_exported_is_told(tmp_path: Path, finished_run: Path, capsys) -> None:
    assert main(["runs", "export", str(finished_run)]) == 1
    assert "give --tensorboard FOLDER, --wandb FOLDER, or both" in capsys.readouterr().err
    (tmp_path / "empty/metrics").mkdir(parents=True)
    assert main(["runs", "export", str(tmp_path / "empty"), "--tensorboard", "tb"]) == 1
    assert "nothing to export" in capsys.readouterr().err


@pytest.mark.slow
def test_wandb_keeps_an_offline_run(finished_run: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv(
        "WANDB_MODE", "disabled"
    )  # as `make` sets it: an export that is asked for is written all the same
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # whoever sends something fails
    assert main(["runs", "export", str(finished_run), "--wandb", str(tmp_path / "wb")]) == 0
    place = Path(capsys.readouterr().out.partition(";")[0])
    assert place.parent == tmp_path / "wb/wandb"
    (written,) = place.glob("run-*.wandb")
    content = written.read_bytes()
    for word in (b"train/reward", b"accuracy/average", b"iteration", b"rl-2"):
        assert word in content
    assert all(name.encode() in content for name in flatten(read_run(finished_run).parameters))
    assert os.environ["WANDB_MODE"] == "disabled"
