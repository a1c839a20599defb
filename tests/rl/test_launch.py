import json
from pathlib import Path

from compass.rl.launch import _forget_after, last_step


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
