import json
from pathlib import Path

from compass.rl.config import StagePaths
from compass.rl.launch import _forget_after, _recover_metrics, last_step


def test_no_checkpoint_is_iteration_zero(tmp_path: Path) -> None:
    assert last_step(tmp_path) == 0


def test_the_last_checkpoint_is_the_trackers(tmp_path: Path) -> None:
    (tmp_path / "latest_checkpointed_iteration.txt").write_text("15")
    assert last_step(tmp_path) == 15


def test_lines_after_the_checkpoint_and_cut_lines_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps({"step": step}) + "\n" for step in (1, 2, 3)) + '{"step": 4')
    _forget_after(path, 2)
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [1, 2]


def test_metrics_that_a_killed_stage_had_not_taken_over_are_not_lost(tmp_path: Path) -> None:
    paths = StagePaths(tmp_path, tmp_path, tmp_path)
    paths.metrics.write_text('{"step": 1, "loss": 0.5}\n')
    live = [{"step": step, "data": {"loss": step / 2}} for step in (1, 2, 3)]
    paths.live_metrics.write_text("".join(json.dumps(line) + "\n" for line in live) + '{"step": 4')
    _recover_metrics(paths, 2)
    assert [json.loads(line) for line in paths.metrics.read_text().splitlines()] == [
        {"step": 1, "loss": 0.5},
        {"step": 2, "loss": 1.0},
    ]
    assert not paths.live_metrics.exists()
