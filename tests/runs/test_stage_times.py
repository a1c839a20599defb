"""What is recorded of a stage's run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from compass.files import file_digest, write_json
from compass.machine import cores
from compass.runs.stage_times import FOLDER, read_times, timed, used


def test_a_run_is_recorded_with_its_time_machine_and_versions(tmp_path: Path) -> None:
    with timed("dedup", tmp_path):
        write_json(tmp_path / "metrics" / "dedup.json", {"kept": 7})
    facts = read_times(tmp_path)["dedup"]
    assert facts["stage"] == "dedup"
    assert facts["result"] == file_digest(tmp_path / "metrics" / "dedup.json")
    assert facts["seconds"] >= 0
    assert facts["started"].endswith("+00:00")
    assert facts["machine"]["cores"] == cores()
    assert facts["machine"]["memory_gb"] > 0
    assert "pyarrow" in facts["packages"]


def test_a_run_that_failed_leaves_the_record_of_the_one_before(tmp_path: Path) -> None:
    with timed("dedup", tmp_path):
        pass
    before = read_times(tmp_path)
    with pytest.raises(KeyError), timed("dedup", tmp_path):
        raise KeyError
    assert read_times(tmp_path) == before


def test_a_broken_record_is_no_record(tmp_path: Path) -> None:
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "dedup.json").write_text("{", encoding="utf-8")
    assert read_times(tmp_path) == {}


@pytest.mark.parametrize(("share", "seen"), [(1.0, True), (1e-6, False)], ids=["often", "seldom"])
def test_what_child_processes_take_counts(monkeypatch: pytest.MonkeyPatch, share: float, seen: bool) -> None:
    monkeypatch.setattr("compass.runs.stage_times.LOOK_S", 0.1)
    monkeypatch.setattr("compass.runs.stage_times.MEMORY_SHARE", share)
    work = "import time; held = bytearray(300_000_000); end = time.process_time() + 1.0\nwhile time.process_time() < end: pass"
    before = psutil.Process().memory_full_info().pss / 1e9
    with used() as usage:
        subprocess.run([sys.executable, "-c", work], check=True)
    assert (usage["peak_memory_gb"] - before > 0.3) == seen
    assert 0.5 < usage["cpu_seconds"] < 10
