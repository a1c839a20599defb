"""Small repositories with the real settings and stages of a moment, which tests run through the real DVC."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

GRAPH = """\
stages:
  collect:
    cmd: echo collect $COMPASS_PIPELINE_RUN >> ran.log && sleep 0.3 && mkdir -p data && echo rows > data/collect.txt
    params: [seed, collect]
    outs: [data/collect.txt]
  grade:
    cmd: echo grade $COMPASS_PIPELINE_RUN >> ran.log && sleep 0.3 && mkdir -p data && echo graded > data/grade.txt
    params: [grade]
    deps: [data/collect.txt]
    outs: [data/grade.txt]
  evaluate:
    cmd: >-
      echo evaluate $COMPASS_PIPELINE_RUN >> ran.log && sleep 0.3 &&
      mkdir -p metrics && grep -A1 evaluate: params.yaml > metrics/evaluate.txt
    params: [evaluate]
    deps: [data/grade.txt]
    outs: [metrics/evaluate.txt]
"""


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository; nothing of this process's own run goes on in it."""
    for name in ("COMPASS_PIPELINE_LOCK", "COMPASS_PIPELINE_RUN", "DVC_EXP_NAME", "DVC_STAGE", "DVC_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    return make_toy(tmp_path / "toy")


@pytest.fixture
def ran() -> Callable[[Path], list[str]]:
    """A function that tells the stages that ran in a repository, in their order."""
    return lambda folder: [line.split()[0] for line in _lines(folder / "ran.log")]


def make_toy(folder: Path, graph: str = GRAPH) -> Path:
    """A committed repository with this dvc.yaml, and the parameters and profiles of the project."""
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    shutil.copy(ROOT / "profiles" / "debug.yaml", folder / "params.yaml")
    (folder / "dvc.yaml").write_text(graph)
    (folder / ".gitignore").write_text("/data/\n/metrics/\n/.compass/\n/work/\n/ran.log\n/mlflow.db*\n")
    for command in (
        ["git", "init", "-q", "-b", "main"],
        ["git", "config", "user.name", "t"],
        ["git", "config", "user.email", "t@localhost"],
        [sys.executable, "-m", "dvc", "init", "-q"],
        [sys.executable, "-m", "dvc", "config", "core.autostage", "false"],
        ["git", "add", "-A"],
        ["git", "commit", "-qm", "toy"],
    ):
        subprocess.run(command, cwd=folder, check=True)
    return folder


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []
