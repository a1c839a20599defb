"""`compass status` tells what is stale and why, what would run, who runs, and what the last run gave."""

import fcntl
import json
from pathlib import Path

import pytest

from compass.commands.status import format_status
from compass.commands.status import status as command
from flows.run import RunRequest, run
from flows.status import read_status


def quiet(request: RunRequest, root: Path):
    return run(request, root, log=lambda line: None)


def test_a_repository_from_its_first_run_to_a_changed_setting(toy: Path, capsys, monkeypatch) -> None:
    first = read_status(toy)
    assert str(first.stale["collect"][0]) == "output has not been made yet"
    text = (toy / "params.yaml").read_text()
    # A number that YAML 1.1 takes for a text, and that DVC writes otherwise.
    (toy / "params.yaml").write_text(text.replace("  rollouts: ", "  stop_when_certain: 0e-6\n  rollouts: ", 1))
    quiet(RunRequest(), toy)
    assert [line.split()[0] for line in format_status(read_status(toy))] == ["now", "last", "stale"]

    text = (toy / "params.yaml").read_text()
    (toy / "params.yaml").write_text(text.replace("  rollouts: ", "  rollouts: 1", 1))
    (toy / "models" / "rl-1" / "result.txt").unlink()
    found = read_status(toy)
    rollouts = text.split("  rollouts: ")[1].split()[0]
    assert {stage: [str(one) for one in reasons] for stage, reasons in found.stale.items()} == {
        "grade": [f"setting grade.rollouts: {rollouts} → 1{rollouts}"],
        "rl-1": ["output models/rl-1 changed"],
        "rl-2": ["input models/rl-1 changed"],
    }
    assert list(found.following) == ["rl-3", "evaluate"]
    assert (found.last["state"], found.last["experiment"]) == ("finished", "debug")

    monkeypatch.chdir(toy)
    assert command() == 0
    assert "grade" in capsys.readouterr().out
    assert command(json=True) == 0
    assert list(json.loads(capsys.readouterr().out)["stale"]) == ["grade", "rl-1", "rl-2"]


def test_parameters_that_cannot_be_used_are_told(toy: Path) -> None:
    text = (toy / "params.yaml").read_text()
    (toy / "params.yaml").write_text(text.replace("rollouts: ", "rollout: "))
    assert list(format_status(read_status(toy)))[-1].startswith("stale     params.yaml: grade.rollout: unknown key")
    (toy / "params.yaml").unlink()
    assert "no such file" in read_status(toy).fault


def test_what_keeps_dvc_from_telling_is_told(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (toy / ".dvc" / "tmp").mkdir(exist_ok=True)
    with open(toy / ".dvc" / "tmp" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as a DVC at work
        assert "since it is at work; ask again" in read_status(toy).fault
    text = (toy / "dvc.yaml").read_text()
    (toy / "dvc.yaml").write_text(text.replace("outs: [data/evaluate]", 'outs: ["data/${no.such}"]'))
    assert read_status(toy).fault == (
        "DVC cannot tell what is stale: failed to parse 'stages.evaluate.outs' in 'dvc.yaml': Could not find 'no.such'; "
        "`dvc status` says all of it"
    )
    monkeypatch.setattr("flows.status.LONGEST_S", 0.01)
    assert "did not say within 0.01 s" in read_status(toy).fault


def test_a_failed_run_is_told(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_FAILS", "rl-1")
    with pytest.raises(RuntimeError):
        quiet(RunRequest(), toy)
    last = next(line for line in format_status(read_status(toy)) if line.startswith("last run"))
    assert last.endswith("`dvc repro`: failed in rl-1, ran collect, grade")
