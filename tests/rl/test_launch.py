"""One stage from start to end, with a stand-in for the trainer: a script that writes what verl would write."""

import json
import os
import re
import signal
import sys
import threading
import time
import zipfile  # noqa: F401
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from compass.rl.checkpoint import ACCURACY, whole_checkpoints
from compass.rl.guards.findings import GuardError
from compass.rl.launch import TakenAwayError, TrainingError, train, trainer_environment
from compass.rl.paths import StagePaths
from compass.rl.trainer_watch import EssentialProcesses
from compass.settings.guards import Guards, Watchdog
from compass.settings.recipe import Resources
from tests.conftest import has_ended

TRAINER = """#!{python} -IS
import json, os, subprocess, sys, time, zipfile
from pathlib import Path

{save}
assert sys.argv[1:3] == ["-m", "compass.rl.train"], sys.argv
plan = json.loads(os.environ["PLAN"])
work = Path(sys.argv[3]).parent

def put(name, text):  # whole, as the stage's process may look at any time
    (work / ".part").write_text(text)
    (work / ".part").rename(work / name)

def wait_until_seen(pid):
    while not (work / f"seen-{{pid}}").exists():
        time.sleep(0.05)

put("environment.json", json.dumps(dict(os.environ)))
for name, content in plan["files"].items():
    put(name, content)
print(plan["says"], flush=True)
if plan["starts"]:
    code = "import subprocess, sys, time; print(subprocess.Popen(['sleep', '600']).pid, flush=True); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    grandchild = int(child.stdout.readline())
    put("processes.json", json.dumps([os.getpid(), child.pid, grandchild]))
    wait_until_seen(grandchild)
if plan["reached"]:
    save(work / "checkpoints", plan["reached"])
with open(os.environ["VERL_FILE_LOGGER_PATH"], "w") as live:
    for step in plan["steps"]:
        live.write(json.dumps({{"step": step, "data": plan["metrics"]}}) + "\\n")
        live.flush()
if plan["ray"]:
    ray = subprocess.Popen([plan["ray"], "600"])
    wait_until_seen(ray.pid)
    ray.kill()
    ray.wait()
if plan["notices"]:
    put("progress.json", json.dumps({{"step": 3, "phase": "rollout", "detail": "", "at": 0}}))
    while not (work / "notice").exists():
        time.sleep(0.05)
    if plan["notices"] == "saves":
        save(work / "checkpoints", 2)
        (work / "stopped.json").write_text('{{"step": 2}}')
        (work / "notice").unlink()
time.sleep(plan["sleeps"])
if plan["status"] < 0:
    os.kill(os.getpid(), -plan["status"])
sys.exit(plan["status"])
"""

SAVE = """
def save(checkpoints, step):
    folder = checkpoints / f"global_step_{step}"
    (folder / "actor").mkdir(parents=True)
    names = [f"actor/{kind}_world_size_1_rank_0.pt" for kind in ("model", "optim", "extra_state")]
    for name in [*names, "data.pt"]:
        zipfile.ZipFile(folder / name, "w").close()
    (checkpoints / "latest_checkpointed_iteration.txt").write_text(str(step))
"""
exec(SAVE)

AGREES = {"training/rollout_probs_diff_max": 1e-6, "critic/score/mean": 0.5}
MEASURED = {**AGREES, ACCURACY: 0.5}


class Watched(EssentialProcesses):
    """Has the stand-in know which of its processes were seen."""

    work = Path()

    def find_lost(self) -> str:
        lost = super().find_lost()
        for pid in self.started:
            (self.work / f"seen-{pid}").touch()
        return lost


class Stage:
    """A stage of three iterations whose trainer follows a plan."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.monkeypatch = monkeypatch
        script = folder / "python"
        script.write_text(TRAINER.format(python=sys.executable, save=SAVE))
        script.chmod(0o700)
        monkeypatch.setattr(sys, "executable", str(script))
        monkeypatch.setattr("compass.rl.launch.verl_config", lambda *_, seed: {"seed": seed})
        self.paths = StagePaths(folder / "base", folder / "train.parquet", folder / "work")
        monkeypatch.setattr("compass.rl.launch.EssentialProcesses", Watched)
        monkeypatch.setattr(Watched, "work", self.paths.work)

    def train(
        self, *, gpus: int = 0, validation: int = 0, guards: Guards | None = None, **plan: Any
    ) -> list[dict[str, Any]]:
        whole = {
            "steps": [],
            "metrics": AGREES,
            "reached": 0,
            "says": "",
            "starts": False,
            "ray": "",
            "notices": "",
            "files": {},
            "sleeps": 0,
            "status": 0,
            **plan,
        }
        self.monkeypatch.setenv("PLAN", json.dumps(whole))
        resources = Resources(gpus=gpus, dtype="float32")
        checkpoint = SimpleNamespace(carry_optimizer=False, validation_problems=validation)
        settings = SimpleNamespace(steps=3, resources=resources, checkpoint=checkpoint, guards=guards or Guards())
        return train("rl-1", settings, self.paths, seed=5)

    def checkpoint(self, step: int) -> None:
        save(self.paths.checkpoints, step)  # noqa: F821


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    return Stage(tmp_path, monkeypatch)


def test_a_stage_is_done_when_its_last_checkpoint_is_its_last_iteration(stage: Stage) -> None:
    metrics = stage.train(steps=[1, 2, 3], reached=3, says="training")
    assert metrics == [{"step": step, **AGREES} for step in (1, 2, 3)]
    assert (stage.paths.work / "train.log").read_text() == "training\n"
    assert (stage.paths.work / "verl.yaml").read_text() == "seed: 5\n"
    told = json.loads((stage.paths.work / "environment.json").read_text())
    assert told["VERL_PLATFORM"] == "cpu"
    assert told["VERL_FILE_LOGGER_PATH"] == str(stage.paths.live_metrics)


@pytest.mark.parametrize(
    ("before", "plan", "told"),
    [
        (0, {"steps": [1, 2], "reached": 2, "says": "out of luck"}, r"iteration 2 of 3; .*train\.log\nout of luck$"),
        (0, {"status": -signal.SIGKILL}, r"iteration 0 of 3, without a new one in this run: SIGKILL .*memory"),
        (2, {}, "iteration 2 of 3, without a new one in this run"),
    ],
)
def test_an_end_before_the_last_iteration_is_an_error_with_its_cause(
    stage: Stage, before: int, plan: dict[str, Any], told: str
) -> None:
    """Also after an exit without an error."""
    if before:
        stage.checkpoint(before)
        stage.paths.metrics.write_text("".join(f'{{"step": {step + 1}}}\n' for step in range(before)))
    with pytest.raises(TrainingError, match=f"rl-1: stopped at {told}"):
        stage.train(**plan)


def test_a_trainer_whose_ray_died_is_ended_and_told(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compass.rl.trainer_watch.GRACE_S", 0.1)
    program = tmp_path / "raylet"
    program.symlink_to("/bin/sleep")
    with pytest.raises(
        TrainingError, match="stopped at iteration 1 of 3: Ray's raylet ended, and the trainer with it"
    ) as error:
        stage.train(steps=[1], reached=1, ray=str(program), sleeps=600)
    assert re.search(
        r"; \d+\.\d of \d+\.\d GB of memory are free, and the load is \d+\.\d on \d+ cores", str(error.value)
    )


def test_a_stage_goes_on_from_its_last_checkpoint_and_drops_what_came_after(stage: Stage) -> None:
    with pytest.raises(TrainingError, match=r"\nof the first run$"):
        stage.train(steps=[1, 2], reached=1, says="of the first run")
    stage.paths.rewards.write_text('{"step": 1}\n{"step": 2}\n')
    stage.paths.rollouts.mkdir(parents=True)
    for step in (1, 2):
        (stage.paths.rollouts / f"{step:06d}.parquet").touch()
    stage.paths.progress.write_text("of the killed run")
    with pytest.raises(TrainingError, match=r"\nof the second run$"):
        stage.train(says="of the second run")
    metrics = stage.train(steps=[2, 3], reached=3)
    assert [row["step"] for row in metrics] == [1, 2, 3]
    assert stage.paths.rewards.read_text() == '{"step": 1}\n'
    assert [path.name for path in stage.paths.rollouts.iterdir()] == ["000001.parquet"]
    assert not stage.paths.progress.exists()
    assert [path.name for path in stage.paths.checkpoints.glob("global_step_*")] == ["global_step_3"]


def test_a_checkpoint_whose_validation_was_cut_off_is_trained_and_measured_again(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    """verl saves, validates and only then logs: a kill in between leaves the metrics that were written before the checkpoint."""
    stage.checkpoint(1)
    stage.checkpoint(2)
    stage.paths.metrics.write_text(json.dumps({"step": 1, **MEASURED}) + "\n")
    stage.paths.saved_metrics.write_text(json.dumps({"step": 2, "data": AGREES}) + "\n")
    metrics = stage.train(validation=4, steps=[2, 3], metrics=MEASURED, reached=3)
    assert [row[ACCURACY] for row in metrics] == [0.5, 0.5, 0.5]
    assert "iteration 2 was not validated" in capsys.readouterr().out


def test_a_finished_stage_starts_no_trainer(stage: Stage) -> None:
    stage.checkpoint(3)
    rows = [{"step": step, **AGREES} for step in (1, 2, 3)]
    stage.paths.metrics.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert stage.train() == rows
    assert not (stage.paths.work / "train.log").exists()


def test_fewer_steps_than_the_last_checkpoint_has_are_refused_and_it_stays(stage: Stage) -> None:
    stage.checkpoint(2)
    stage.checkpoint(5)
    with pytest.raises(TrainingError, match=r"its last checkpoint is of iteration 5, and `steps` is 3; .* or delete "):
        stage.train()
    assert sorted(whole_checkpoints(stage.paths.checkpoints)) == [2, 5]


def finding(step: int, level: str) -> str:
    line = {"step": step, "guard": "cut_off", "level": level, "message": f"iteration {step}: cut off", "samples": ""}
    return json.dumps(line) + "\n"


def test_what_a_guard_warns_of_is_told_and_the_stage_goes_on(stage: Stage, capsys: pytest.CaptureFixture) -> None:
    stage.train(steps=[1, 2, 3], reached=3, files={"guards.jsonl": finding(2, "warn") + finding(3, "warn")})
    said = capsys.readouterr().err
    assert said.count("rl-1: warn: iteration 2: cut off") == 1
    assert said.count("rl-1: warn: iteration 3: guard `rl.guards.cut_off` again") == 1
    assert "iteration 3: cut off" not in said


def test_what_a_guard_stopped_is_the_error_and_the_stage_can_go_on(stage: Stage) -> None:
    findings = finding(1, "warn") + finding(2, "stop")
    with pytest.raises(GuardError, match=r"^iteration 2: cut off$"):
        stage.train(steps=[1], reached=1, says="a traceback", files={"guards.jsonl": findings}, status=1)
    stage.train(steps=[2, 3], reached=3)
    assert stage.paths.findings.read_text() == finding(1, "warn")


def test_a_stage_that_stands_still_is_stopped_with_phase_process_and_progress(stage: Stage) -> None:
    hasty = Guards(watchdog=Watchdog(level="stop", limit=2.0, least_seconds=1, start_seconds=60))
    told = json.dumps({"step": 2, "phase": "rollout", "detail": "3 groups finished", "at": time.time()})
    metrics = {**AGREES, "timing_s/step": 0.6}
    with pytest.raises(GuardError) as stopped:
        stage.train(steps=[1], metrics=metrics, files={"progress.json": told}, sleeps=600, guards=hasty, starts=True)
    message = str(stopped.value)
    assert message.startswith("iteration 2: no iteration ended for ")
    assert "the median is 1 s" in message
    assert "The trainer is in iteration 2, phase `rollout` (3 groups finished)" in message
    assert "compass.rl.train (pid " in message
    assert "sleep (pid " in message
    assert has_ended(json.loads((stage.paths.work / "processes.json").read_text())[2])


def test_an_error_of_the_trainers_own_is_said_first(stage: Stage) -> None:
    own = "compass.rl.mixed_groups.SaturatedError: iteration 1 threw away 81 groups (0 all right, 81 all wrong)"
    log = f'Traceback (most recent call last):\n  File "train.py", line 1\n{own}'
    with pytest.raises(TrainingError) as stopped:
        stage.train(steps=[1], reached=1, says=log)
    first, second = str(stopped.value).splitlines()
    assert first == "rl-1: iteration 1 threw away 81 groups (0 all right, 81 all wrong)"
    assert second.startswith("stopped at iteration 1 of 3; line 3 of ")


def test_an_iteration_saved_but_not_recorded_is_trained_again(stage: Stage) -> None:
    with pytest.raises(TrainingError, match="stopped at iteration 1 of 3"):
        stage.train(steps=[1], reached=3)
    assert [row["step"] for row in stage.train(steps=[1, 2, 3], reached=3)] == [1, 2, 3]


def test_a_kill_between_the_last_checkpoint_and_its_log_loses_nothing(stage: Stage) -> None:
    line = json.dumps({"step": 3, "data": AGREES}) + "\n"
    with pytest.raises(TrainingError, match="stopped at iteration 2 of 3"):
        stage.train(steps=[1, 2], reached=3, files={"metrics.saved.jsonl": line})
    assert stage.train(says="started again") == [{"step": step, **AGREES} for step in (1, 2, 3)]
    assert "started again" not in (stage.paths.work / "train.log").read_text()


def test_iterations_of_before_and_new_ones_are_recorded_in_the_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[str, Any]] = []
    run = SimpleNamespace(curves=told.extend, artifact=lambda path: None)
    monkeypatch.setattr("compass.rl.launch.current_run", lambda: run)
    stage.checkpoint(2)
    rows = [{"step": step, **AGREES} for step in (1, 2)]
    stage.paths.metrics.write_text("".join(json.dumps(row) + "\n" for row in rows))
    stage.train(steps=[3], reached=3)
    assert told == [*rows, {"step": 3, **AGREES}]


@pytest.mark.parametrize("interrupted", [True, False])
def test_a_stage_that_ends_early_ends_the_trainer_and_all_that_it_started(stage: Stage, interrupted: bool) -> None:
    written = stage.paths.work / "processes.json"

    def interrupt_when_it_runs() -> None:
        while not written.exists():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGUSR1)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGUSR1, interrupt)  # SIGINT is ignored where the tests run in the background
    if interrupted:
        threading.Thread(target=interrupt_when_it_runs, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt if interrupted else TrainingError):
            stage.train(starts=True, sleeps=600 if interrupted else 0, status=1)
    finally:
        signal.signal(signal.SIGUSR1, previous)
    assert all(map(has_ended, json.loads(written.read_text())))


def terminate_when(condition: Any) -> None:
    """Send this process SIGTERM as soon as `condition()` holds."""

    def run() -> None:
        while not condition():
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=run, daemon=True).start()


def test_sigterm_has_the_trainer_save_and_the_next_start_goes_on_from_there(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    stage.paths.work.mkdir()
    (stage.paths.stopped).write_text('{"step": 7}')  # of an earlier machine
    terminate_when(stage.paths.progress.exists)
    with pytest.raises(TakenAwayError, match=r"^rl-1: ended by SIGTERM; iteration 2 of 3 is saved\."):
        stage.train(steps=[1, 2], notices="saves", sleeps=600)
    told = capsys.readouterr().err
    assert (
        "SIGTERM: iteration 2 is saved before the stage ends; if the machine ends before it is whole, iterations 1 to 2"
        in told
    )
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert [row["step"] for row in stage.train(validation=4, steps=[3], metrics=MEASURED, reached=3)] == [1, 2, 3]


def test_a_trainer_that_has_begun_nothing_is_ended_at_once(stage: Stage) -> None:
    terminate_when((stage.paths.work / "environment.json").exists)
    with pytest.raises(TakenAwayError, match="iteration 0 of 3 is saved"):
        stage.train(sleeps=600)


def environment(given: dict[str, str], **resources: Any) -> dict[str, str]:
    return trainer_environment(given, Resources(**resources), live_metrics=Path("work/metrics.live.jsonl"))


def test_the_trainer_on_gpus_keeps_the_users_environment_and_gets_a_token_of_its_own() -> None:
    variables = environment({"HOME": "/here", "OMP_NUM_THREADS": "4"}, gpus=8)
    token = variables.pop("RAY_AUTH_TOKEN")
    assert variables == {
        "HOME": "/here",
        "OMP_NUM_THREADS": "4",
        "RAY_AUTH_MODE": "token",
        "VERL_FILE_LOGGER_PATH": os.path.abspath("work/metrics.live.jsonl"),
        "RAY_DEDUP_LOGS": "0",
        "TQDM_DISABLE": "1",
    }
    assert len(bytes.fromhex(token)) == 32
    assert token != environment({}, gpus=8)["RAY_AUTH_TOKEN"]


def test_where_adamw_runs_on_the_nodes_cores_its_ranks_share_them() -> None:
    from compass.machine import cores

    shared = environment({}, gpus=2, offload="always")
    assert (shared["OMP_NUM_THREADS"], shared["OMP_WAIT_POLICY"]) == (str(max(1, cores() // 2)), "PASSIVE")
    assert environment({"OMP_NUM_THREADS": "7"}, gpus=2, offload="always")["OMP_NUM_THREADS"] == "7"
    assert "OMP_NUM_THREADS" not in environment({}, gpus=2, offload="idle")


@pytest.mark.parametrize(("gpus", "platform"), [(0, "cpu"), (1, None), (8, None)])
def test_on_one_node_no_other_ray_cluster_is_looked_for(gpus: int, platform: str | None) -> None:
    variables = environment({"RAY_ADDRESS": "nonsense.invalid:6379", "RAY_AUTH_TOKEN": "the cluster's"}, gpus=gpus)
    assert "RAY_ADDRESS" not in variables
    assert variables["RAY_AUTH_TOKEN"] != "the cluster's"
    assert variables.get("VERL_PLATFORM") == platform


@pytest.mark.parametrize("resources", [{"gpus": 8, "nodes": 2}, {"ray_address": "head:6379"}])
@pytest.mark.parametrize("given", [{"RAY_ADDRESS": "head:6379", "RAY_AUTH_TOKEN": "the cluster's"}, {}])
def test_a_running_cluster_is_joined_as_the_user_says(given: dict[str, str], resources: dict[str, Any]) -> None:
    variables = environment(given, **resources)
    assert {name: value for name, value in variables.items() if name.startswith("RAY_A")} == given
