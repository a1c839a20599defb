"""The cancels of a benchmark: drawn the same way again, every way in turn, and told in one row."""

import importlib
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def cancels(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield importlib.import_module("cancels")
    for name in ("cancels", "cancels_ways", "kills", "kills_checks", "kills_victims"):
        sys.modules.pop(name, None)


def test_a_longer_draw_begins_as_a_shorter_one_and_has_every_way(cancels) -> None:
    ways, stages = list(cancels.WAYS), list(cancels.STAGES)
    few, many = (cancels.draw(count, ways, stages, 3) for count in (7, 20))
    assert many[:7] == few
    assert sorted(drawn.way for drawn in few) == sorted(ways)
    assert any(drawn.stage in cancels.RL for drawn in many)
    assert {drawn.stage for drawn in cancels.draw(9, ways, ["base"], 0)} == {"base"}
    assert all(0 < drawn.share < 1 for drawn in many)


def test_faults_stand_in_the_row(cancels) -> None:
    drawn = cancels.Cancel(4, "ctrl-c run", "rl-1", 0.5)
    assert cancels.Outcome(drawn, 30.0, 6.1, 80.0).row().endswith("30.0 s   6.1 s     80.0 s  ok")
    assert cancels.Outcome(drawn, faults=["left", "held"]).row().endswith("left; held")


def test_locks_that_are_held_are_faults(cancels, tmp_path: Path) -> None:
    from compass.locks import take_turn

    assert cancels._locks(tmp_path) == []
    with take_turn(tmp_path, "a run"):
        [fault] = cancels._locks(tmp_path)
    assert "`a run`" in fault
