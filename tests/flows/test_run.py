"""The one way to run: values are checked before anything changes, runs wait for each other, results are kept."""

import difflib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from compass.commands.run import summarize
from compass.errors import UserError
from compass.runs.progress import stage_progress
from compass.runs.run_name import list_changed, read_last_run
from compass.settings import load_settings
from flows.dvc_process import DvcError
from flows.run import RunRequest, RunResult, _recorded, list_experiments, request_rest, run

ALL = ("collect", "grade", "rl-1", "rl-2", "rl-3", "evaluate")


def quiet(request: RunRequest, root: Path):
    return run(request, root, log=lambda line: None)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout


def changed_since(root: Path) -> list[str]:
    return list_changed(root, load_settings(root / "params.yaml"))


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return [line for line in lines if line[0] in "+-" and line[:3] not in ("+++", "---")]


def test_a_run_with_a_value_runs_what_it_changes_and_becomes_an_experiment(toy: Path, ran) -> None:
    lines: list[str] = []
    first = run(RunRequest(), toy, log=lines.append)
    assert first.ran == ALL
    assert not [line for line in lines if "Running stage" in line or "lock file" in line]  # DVC's own
    assert first.experiment == "debug"
    before = (toy / "params.yaml").read_text()

    second = quiet(RunRequest(overrides={"evaluate.samples": 3}), toy)
    assert (second.ran, second.unchanged) == (("evaluate",), ALL[:-1])
    assert changed_lines(before, (toy / "params.yaml").read_text()) == ["-  samples: 4", "+  samples: 3"]
    assert second.command == "dvc exp run -S evaluate.samples=3"
    assert list_experiments(toy) == ["debug-samples=3", "debug"]
    assert (toy / "ran.log").read_text().split()[-1] == read_last_run(toy)["run"]

    assert quiet(RunRequest(), toy).experiment is None  # nothing to do, nothing to keep
    assert quiet(RunRequest(name="final"), toy).experiment == "final"  # but by a name that is given
    assert changed_since(toy) == []
    (toy / "params.yaml").write_text((toy / "params.yaml").read_text().replace("samples: 3", "samples: 5"))
    assert changed_since(toy) == ["evaluate.samples"]  # edited by hand, and compared with the run before
    (toy / "params.yaml").write_text((toy / "params.yaml").read_text().replace("samples: 5", "samples: 3"))
    assert ran(toy) == [*ALL, "evaluate"]
    assert git(toy, "symbolic-ref", "--short", "HEAD") == "main\n"
    assert git(toy, "status", "--porcelain").split() == ["M", "params.yaml", "??", "dvc.lock"]


def test_a_result_is_kept_where_git_does_not_know_its_user(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("user.name", "user.email"):
        git(toy, "config", "--unset", name)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    assert quiet(RunRequest("collect"), toy).experiment == "debug"


def test_saving_an_experiment_leaves_stale_stages_stale(toy: Path) -> None:
    quiet(RunRequest(), toy)
    saved = quiet(RunRequest("grade", scope="only", overrides={"grade.rollouts": 2}), toy)
    assert saved.experiment == "debug-rollouts=2"
    listed = [sys.executable, "-m", "dvc", "status", "--json"]
    status = subprocess.run(listed, cwd=toy, check=True, capture_output=True, text=True)
    assert set(json.loads(status.stdout)) == {"rl-1", "evaluate"}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (RunRequest("colect"), "no stage 'colect'; did you mean collect"),
        (RunRequest(scope="only"), "give the stage"),
        (RunRequest(overrides={"evaluate.sample": 3}), "did you mean `samples`"),
        (RunRequest(name="my run"), "-n 'my run': git takes no such name for an experiment; for example my-run"),
        (RunRequest(name="mine/first"), "for example mine-first"),
        (RunRequest(name="taken"), "there is an experiment of this name; give another, such as taken-2"),
    ],
)
def test_a_request_that_cannot_run_changes_nothing(toy: Path, ran, request_: RunRequest, message: str) -> None:
    head = git(toy, "rev-parse", "HEAD").strip()
    git(toy, "update-ref", f"refs/exps/{head[:2]}/{head[2:]}/taken", head)
    before = (toy / "params.yaml").read_bytes()
    with pytest.raises(UserError, match=message):
        quiet(request_, toy)
    assert (toy / "params.yaml").read_bytes() == before
    assert ran(toy) == []
    assert not (toy / "dvc.lock").exists()


def test_a_failed_stage_is_named_with_its_own_last_lines(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_FAILS", "grade")
    with pytest.raises(DvcError) as caught:
        quiet(RunRequest(), toy)
    what, *last = str(caught.value).splitlines()
    assert what == "stage grade failed: no model"
    assert "grade: no model" in last
    assert caught.value.stage == "grade"
    assert list_experiments(toy) == []


def test_another_try_of_a_forced_run_forces_what_the_first_did_not_finish(
    toy: Path, ran, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet(RunRequest("rl-1"), toy)
    first, key = RunRequest("rl-1", force=True), {"COMPASS_PIPELINE_RUN": "one-run"}
    monkeypatch.setenv("TOY_FAILS", "grade")
    with pytest.raises(DvcError):
        run(first, toy, log=lambda line: None, env=key)
    monkeypatch.delenv("TOY_FAILS")
    rest = request_rest(first, toy, "one-run")
    assert rest.words() == ["--single-item", "--force", "grade", "rl-1"]
    result = run(rest, toy, log=lambda line: None, env=key)
    assert (result.ran, result.unchanged) == (("collect", "grade", "rl-1"), ())
    assert ran(toy)[3:] == ["collect", "grade", "grade", "rl-1"]


@pytest.mark.parametrize(("mode", "asked"), [("off", 0), ("optional", 1)])
def test_the_end_of_a_run_asks_the_tracking_server_only_where_runs_are_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, asked: int
) -> None:
    calls: list[Path] = []
    monkeypatch.setattr("compass.tracking.mlflow_send.end_pipelines", calls.append)
    monkeypatch.setenv("COMPASS_TRACKING", mode)
    monkeypatch.setenv("COMPASS_PIPELINE_RUN", "one-run")
    with _recorded(tmp_path, "dvc repro", "one-run", "report"), stage_progress("collect", tmp_path):
        pass
    assert len(calls) == asked


def test_a_request_is_a_command_of_dvc() -> None:
    assert RunRequest().command() == "dvc repro"
    assert RunRequest("dedup", "only", force=True).command() == "dvc repro --single-item --force dedup"
    assert RunRequest("dedup", "downstream", name="x").command() == "dvc exp run -n x --downstream dedup"
    assert RunRequest("dedup", profile="tiny").command() == "compass profile use tiny && dvc repro dedup"


def test_a_run_that_wrote_the_report_says_where_it_is_and_no_other() -> None:
    def lines(**changed: object) -> list[str]:
        nothing = {"command": "dvc repro", "ran": (), "restored": (), "unchanged": (), "changes": ()}
        return summarize(RunResult(**{**nothing, "experiment": None, "seconds": 5.0, **changed}))

    assert "reports/index.html" in lines(ran=("evaluate", "report"))[-1]
    assert "reports/index.html" in lines(restored=("report",))[-1]
    assert lines(ran=("dedup",), unchanged=("report",)) == ["ran dedup; 1 unchanged (5 s)"]
    nothing, kept = lines(unchanged=("report",), experiment="final")
    assert nothing == "nothing to do: all is up to date"
    assert kept.startswith("kept as the experiment final; ")
