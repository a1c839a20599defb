"""What is recorded of a stage's run."""

from __future__ import annotations

from pathlib import Path

import pytest

from compass.machine import cores
from compass.runs.stage_times import FOLDER, read_times, timed


def test_a_run_is_recorded_with_its_time_machine_and_versions(tmp_path: Path) -> None:
    with timed("dedup", tmp_path):
        pass
    facts = read_times(tmp_path)["dedup"]
    assert facts["stage"] == "dedup"
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
