import csv
import json
from pathlib import Path

from compass.rl.metrics import forget_after, recover_metrics, write_curves


def test_lines_after_the_checkpoint_and_cut_lines_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps({"step": step}) + "\n" for step in (1, 2, 3)) + '{"step": 4')
    forget_after(path, 2)
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [1, 2]


def test_metrics_that_a_killed_stage_had_not_taken_over_are_not_lost(tmp_path: Path) -> None:
    live_file, kept = tmp_path / "metrics.live.jsonl", tmp_path / "metrics.jsonl"
    kept.write_text('{"step": 1, "loss": 0.5}\n')
    live = [{"step": step, "data": {"loss": step / 2}} for step in (1, 2, 3)]
    live_file.write_text("".join(json.dumps(line) + "\n" for line in live) + '{"step": 4')
    recover_metrics(live_file, kept, 2)
    assert [json.loads(line) for line in kept.read_text().splitlines()] == [
        {"step": 1, "loss": 0.5},
        {"step": 2, "loss": 1.0},
    ]
    assert not live_file.exists()


def test_curves_hold_every_metric_of_every_iteration(tmp_path: Path) -> None:
    write_curves([{"step": 1, "a": 0.5}, {"step": 2, "a": 0.7, "b": 3}], tmp_path / "steps.csv")
    with (tmp_path / "steps.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows == [{"step": "1", "a": "0.5", "b": ""}, {"step": "2", "a": "0.7", "b": "3"}]
