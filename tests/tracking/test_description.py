"""The page of a pipeline's run says in a paragraph what was run and what came of it."""

import subprocess
from pathlib import Path

import pytest

from compass.runs.run_name import Change
from compass.tracking.description import description

SCORES = {
    "base": {"average": {"accuracy": 0.269, "ci95": [0.246, 0.295]}},
    "rl-3": {"average": {"accuracy": 0.774, "ci95": [0.742, 0.8], "over_base": 0.505, "over_base_ci95": [0.47, 0.54]}},
}


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COMPASS_PREFECT_URL", "DVC_EXP_NAME"):
        monkeypatch.delenv(name, raising=False)


def test_a_run_before_evaluation_says_so_and_long_lists_are_counted(tmp_path: Path) -> None:
    changes = [Change(f"s{n}", "0", "1") for n in range(10)]
    text = description("tiny", changes, {}, {}, report=False, folder=tmp_path)
    assert text.count("(profile: 0)") == 8
    assert "and 2 more. Not evaluated yet." in text
    assert description("tiny", [], {}, {}, report=False, folder=tmp_path).startswith("Profile `tiny`, unchanged.")
    assert "not in `profiles/`" in description("own", None, {}, {}, report=False, folder=tmp_path)


def test_it_links_to_the_flow_run_the_report_and_names_commit_and_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPASS_PREFECT_URL", "http://127.0.0.1:4200/runs/flow-run/1")
    monkeypatch.setenv("DVC_EXP_NAME", "tiny-seed=1")
    git = ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@localhost"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
    paragraph, links = description("tiny", [], {}, {}, report=True, folder=tmp_path).split("\n\n")
    assert paragraph.endswith(f"Commit `{head[:10]}`.")
    assert links == (
        "[Prefect flow run](http://127.0.0.1:4200/runs/flow-run/1) · "
        "[report](#/experiments/{experiment}/runs/{run}/artifacts/reports/index.html) · DVC experiment `tiny-seed=1`"
    )
