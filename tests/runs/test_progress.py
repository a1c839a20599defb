import io
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from compass.durations import duration
from compass.errors import UserError
from compass.progress import Step, report
from compass.runs import progress, progress_display
from compass.runs.progress import Speed, read_progress, stage_progress
from compass.runs.progress_display import Display, describe_step

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.02)


def wait_for(root: Path, stage: str, **wanted: object) -> progress.StageProgress:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = read_progress(root).get(stage)
        if found and all(getattr(found, name) == value for name, value in wanted.items()):
            return found
        time.sleep(0.01)
    raise AssertionError(f"{found} never had {wanted}")


def test_a_stage_is_running_with_its_counts_and_then_finished(tmp_path: Path, quick: None) -> None:
    with stage_progress("grade", tmp_path):
        first = wait_for(tmp_path, "grade", state="running", done=0)
        assert first.pid == os.getpid()
        report(30, 120, "responses", "rollouts", detail="510 tokens/s")
        running = wait_for(tmp_path, "grade", done=30)
        assert (running.total, running.unit, running.phase) == (120, "responses", "rollouts")
        assert running.detail == "510 tokens/s"
        for done in (31, 32, 33):
            report(done, 120, "responses", "rollouts")
            wait_for(tmp_path, "grade", done=done)
        assert wait_for(tmp_path, "grade", done=33).seconds_left > 0
    ended = read_progress(tmp_path)["grade"]
    assert (ended.state, ended.done, ended.error, ended.seconds_left) == ("finished", 33, "", None)
    assert ended.updated >= running.updated >= first.started
    assert [path.name for path in (tmp_path / "work/progress").iterdir()] == ["grade.json"]


def test_the_page_of_a_run_is_the_newest_and_stays_known_at_the_end(tmp_path: Path, quick: None) -> None:
    told = {"MLflow run (after make up)": "http://127.0.0.1:5000/1"}
    with stage_progress("rl-1", tmp_path, pages=lambda: told):
        wait_for(tmp_path, "rl-1", pages=told)
        told = {"MLflow run": "http://127.0.0.1:5001/1"}
        wait_for(tmp_path, "rl-1", pages=told)
        told = {}
    assert read_progress(tmp_path)["rl-1"].pages == {"MLflow run": "http://127.0.0.1:5001/1"}


def test_an_error_is_told_by_its_first_line(tmp_path: Path) -> None:
    with pytest.raises(UserError), stage_progress("dedup", tmp_path):
        raise UserError("data/x.parquet: no such file\nrun collect")
    assert (read_progress(tmp_path)["dedup"].state, read_progress(tmp_path)["dedup"].error) == (
        "failed",
        "data/x.parquet: no such file",
    )
    with pytest.raises(KeyError), stage_progress("dedup", tmp_path):
        raise KeyError
    assert read_progress(tmp_path)["dedup"].error == "KeyError"
    with pytest.raises(KeyboardInterrupt), stage_progress("dedup", tmp_path):
        raise KeyboardInterrupt
    assert read_progress(tmp_path)["dedup"].state == "killed"


def test_a_process_that_was_killed_is_no_longer_running(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom pathlib import Path\n"
        "from compass.progress import report\nfrom compass.runs.progress import stage_progress\n"
        "with stage_progress('rl-1', Path(sys.argv[1])):\n"
        "    report(3, 20, 'iterations', 'update')\n"
        "    time.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, tmp_path], cwd=ROOT)
    try:
        assert wait_for(tmp_path, "rl-1", done=3).state == "running"
    finally:
        process.kill()
        process.wait()
    killed = read_progress(tmp_path)["rl-1"]
    assert (killed.state, killed.phase, killed.seconds_left) == ("killed", "update", None)


@pytest.mark.parametrize("text", ["", '{"stage": "rl', "[]", "null", '{"stage": "rl-1"}', "\x00\xff"])
def test_a_file_that_is_not_whole_is_left_out(tmp_path: Path, text: str) -> None:
    with stage_progress("grade", tmp_path):
        pass
    (tmp_path / "work/progress/rl-1.json").write_bytes(text.encode("latin-1"))
    assert list(read_progress(tmp_path)) == ["grade"]


def test_a_folder_that_cannot_be_written_costs_a_line_and_not_the_stage(
    tmp_path: Path, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "work").write_text("a file where the folder would be")
    with stage_progress("grade", tmp_path):
        time.sleep(0.2)
    said = capsys.readouterr().err
    assert said.count("cannot be written") == 1
    assert "the stage continues" in said


def test_the_speed_is_the_recent_one_without_the_start_up() -> None:
    speed = Speed()
    speed.note(0, Step(0, 20, "iterations"))
    assert speed.seconds_left(30) is None
    speed.note(60, Step(1, 20, "iterations"))  # the engines started first
    speed.note(62, Step(2, 20, "iterations"))
    assert speed.seconds_left(62) == pytest.approx(36)
    assert speed.seconds_left(63) == pytest.approx(35)
    assert speed.seconds_left(64) == speed.seconds_left(600) == pytest.approx(34)  # the next one is late
    speed.note(63, Step(2, 20, "iterations", phase="update"))
    speed.note(70, Step(3, 20, "iterations"))
    assert speed.seconds_left(70) == pytest.approx(17 * 5)


def test_another_unit_total_or_beginning_has_a_speed_of_its_own() -> None:
    speed = Speed()
    for now, done in enumerate((0, 10, 20)):
        speed.note(now, Step(done, 100, "rows"))
    assert speed.seconds_left(2) == pytest.approx(8)
    speed.note(3, Step(0, 100, "rows"))
    assert speed.seconds_left(3) is None
    speed.note(4, Step(5, None, "rows"))
    speed.note(5, Step(9, None, "rows"))
    assert speed.seconds_left(5) is None


def test_lines_say_what_is_left() -> None:
    step = Step(1200, 4000, "responses", "rollouts", "510 tokens/s")
    assert describe_step(step, 30.4) == "rollouts, 1,200 of 4,000 responses, 30 s left, 510 tokens/s"
    assert describe_step(Step(7, None, "rows"), None) == "7 rows"
    assert describe_step(Step(phase="reading inputs"), None) == "reading inputs"
    assert [duration(seconds) for seconds in (0, 59, 93, 7500)] == ["0 s", "59 s", "1 min 33 s", "2 h 05 min"]


def test_without_a_terminal_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    page = io.StringIO()
    clock = [100.0]
    monkeypatch.setattr(progress_display, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    display = Display("dedup", Console(file=page, width=30))
    step = Step(10, 50, "rows", "reading [bold]x[/bold]")
    display.show(step, None)
    assert page.getvalue() == ""
    clock[0] += 10
    display.show(step, 40)
    clock[0] += 10
    display.show(step, 30)  # nothing new
    assert page.getvalue() == "dedup: reading [bold]x[/bold], 10 of 50 rows, 40 s left\n"


def test_a_terminal_has_a_bar_that_goes_away() -> None:
    page = io.StringIO()
    display = Display("rl-1", Console(file=page, width=120, force_terminal=True))
    display.show(Step(3, 20, "iterations", "update", "reward +0.10"), 200)
    display.end()
    assert "rl-1: update" in page.getvalue()
    assert "3 of 20 iterations  reward +0.10" in page.getvalue()
    assert "3 min 20 s left" in page.getvalue()
