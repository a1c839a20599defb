"""Which of a stage's work folders is that of its last run."""

import os
from pathlib import Path

from compass.commands.run import describe_resume
from compass.rl.checkpoint import TRACKER
from compass.rl.paths import StagePaths, find_newest


def write_run(root: Path, course: str, when: int, done: int | None) -> StagePaths:
    """A work folder that a run wrote into last at `when`, with a checkpoint of iteration `done`."""
    paths = StagePaths(Path(), Path(), root / "work" / "rl-1" / course)
    paths.work.mkdir(parents=True)
    paths.log.touch()
    if done is not None:
        paths.checkpoints.mkdir()
        (paths.checkpoints / TRACKER).write_text(str(done))
        os.utime(paths.checkpoints, (when, when))
    os.utime(paths.log, (when, when))
    return paths


def test_the_folder_that_was_written_into_last_is_gone_on_from(tmp_path: Path) -> None:
    assert find_newest(tmp_path, "rl-1") is None
    (tmp_path / "work/rl-1/empty").mkdir(parents=True)
    assert find_newest(tmp_path, "rl-1") is None
    write_run(tmp_path, "a", 100, done=12)
    assert describe_resume(tmp_path, "rl-1") == "rl-1 goes on from iteration 12"
    newest = write_run(tmp_path, "b", 200, done=None)  # with other settings, and stopped before its first checkpoint
    assert find_newest(tmp_path, "rl-1") == newest
    assert describe_resume(tmp_path, "rl-1") == "it begins rl-1 again; the stages before it are done"
