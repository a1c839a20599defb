"""Which kills are drawn, and that the checks see what a kill may leave."""

import importlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def kills() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module("kills")
    finally:
        sys.path.remove(str(FOLDER))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_thirty_kills_are_of_every_stage_and_every_part(kills: ModuleType, seed: int) -> None:
    drawn = kills.draw(30, kills.STAGES, seed)
    assert Counter(kill.stage for kill in drawn).keys() == set(kills.STAGES)
    parts = {kill.part for kill in drawn if kill.stage in kills.RL}
    assert parts == set(kills.PARTS["rl"])
    assert {kill.part for kill in drawn if kill.stage not in kills.RL} == set(kills.PARTS["other"])
    assert drawn == kills.draw(30, kills.STAGES, seed)
    assert drawn[:10] == kills.draw(10, kills.STAGES, seed)


def test_what_a_kill_leaves_is_seen(kills: ModuleType, tmp_path: Path) -> None:
    checks = kills.checks
    root, temporary = tmp_path / "run", tmp_path / "tmp"
    for path in (root / "models" / ".rl-1.part", temporary / "compass-1"):
        path.mkdir(parents=True)
    assert len(checks.folders(root, temporary)) == 2
    environment = checks.environment(root, temporary, "a-token")
    left = subprocess.Popen(["sleep", "60"], env=environment)
    try:
        run = kills.Run(left, root, "rl-1", "a-token")
        assert [line.split()[:2] for line in kills.checks.processes_left(run)] == [["sleep", str(left.pid)]]
    finally:
        left.kill()
        left.wait()
    assert kills.checks.processes_left(run) == []


def test_a_result_that_differs_from_the_unkilled_runs_is_seen(kills: ModuleType, tmp_path: Path) -> None:
    for name, digest, files in (("run", "a", ["kept.parquet"]), ("unkilled", "b", ["kept.parquet", "dropped.parquet"])):
        (tmp_path / name / "data/dedup").mkdir(parents=True)
        for file in files:
            (tmp_path / name / "data/dedup" / file).touch()
        entry = {"outs": [{"path": "data/dedup", "md5": digest}]}
        (tmp_path / name / "dvc.lock").write_text(yaml.safe_dump({"stages": {"dedup": entry}}))
    differs, lacks = kills.checks.outputs(tmp_path / "run", tmp_path / "unkilled", "dedup")
    assert differs == "data/dedup differs from the unkilled run's"
    assert lacks == "data/dedup has other files than the unkilled run's: ['data/dedup/dropped.parquet']"


def test_iterations_with_a_checkpoint_and_a_record_count(kills: ModuleType, tmp_path: Path) -> None:
    work = tmp_path / "work/rl-1/0123"
    (work / "checkpoints").mkdir(parents=True)
    assert kills.checks.recorded(tmp_path, "rl-1") == {}
    rows = [{"step": step, "data": {"critic/score/mean": step / 10}} for step in (1, 2, 3)]
    (work / "metrics.live.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows)[:-5])
    (work / "checkpoints/latest_checkpointed_iteration.txt").write_text("2")
    assert kills.checks.recorded(tmp_path, "rl-1") == {1: 0.1, 2: 0.2}
