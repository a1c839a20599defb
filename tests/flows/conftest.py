"""Small repositories with the real settings and stages of a moment, which tests run through the real DVC."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

STAGES = {
    "collect": ("collect", [], "data/collect"),
    "grade": ("grade", ["data/collect"], "data/grade"),
    "rl-1": ("rl.stages.rl-1", ["data/grade", "models/${rl.stages.rl-1.init_from}"], "models/rl-1"),
    "rl-2": ("rl.stages.rl-2", ["models/${rl.stages.rl-2.init_from}"], "models/rl-2"),
    "rl-3": ("rl.stages.rl-3", ["models/${rl.stages.rl-3.init_from}"], "models/rl-3"),
    "evaluate": ("evaluate", ["data/grade", "models/rl-3"], "data/evaluate"),
}
"""Stage to the setting it reads, its inputs and its output."""

SCRIPT = """\
import os, pathlib, subprocess, sys, time
from compass.errors import UserError
from compass.runs.progress import stage_progress
name, out = sys.argv[-2:]
try:
    with stage_progress(name):
        with open("ran.log", "a") as log:
            print(name, os.environ.get("COMPASS_PIPELINE_RUN"), file=log)
        time.sleep(float(os.environ.get("TOY_SECONDS", 0)))
        if name == os.environ.get("TOY_FAILS"):
            print("noise")
            raise UserError("no model")
        if os.path.exists(f"{name}.sh"):
            subprocess.run(["sh", f"{name}.sh"], check=True)
        pathlib.Path(out).mkdir(parents=True, exist_ok=True)
        pathlib.Path(out, "result.txt").write_text(pathlib.Path("params.yaml").read_text().split(f"{name}:")[1])
except UserError as error:
    sys.exit(f"{name}: {error}")
"""
"""What every stage does: write its progress, note that it ran, wait, write what its settings are."""


def _graph() -> str:
    lines = ["stages:"]
    for name, (setting, deps, out) in STAGES.items():
        program = f"rl {name}" if name.startswith("rl-") else f"toy {name}"
        lines += [f"  {name}:", f"    cmd: python -m stages.{program} {out}", f"    params: [{setting}]"]
        lines += [f"    deps: {json.dumps(deps)}"] if deps else []
        lines.append(f"    outs: [{out}]")
    return "\n".join(lines) + "\n"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository; nothing of this process's own run goes on in it."""
    for name in ("COMPASS_PIPELINE_LOCK", "COMPASS_PIPELINE_RUN", "DVC_EXP_NAME", "DVC_STAGE", "DVC_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "prefect"))
    return make_toy(tmp_path / "toy")


SHORT_GRAPH = """\
stages:
  collect:
    cmd: python toy.py collect data/collect
    params: [seed, collect]
    outs: [data/collect]
  grade:
    cmd: python toy.py grade data/grade
    params: [grade]
    deps: [data/collect]
    outs: [data/grade]
  evaluate:
    cmd: python toy.py evaluate data/scores
    params: [evaluate]
    deps: [data/grade]
    outs: [data/scores]
"""


@pytest.fixture
def short_toy(toy: Path) -> Path:
    """A small repository of three stages, none in a package `stages`: Prefect's processes import the project's own."""
    shutil.rmtree(toy / "stages")
    (toy / "toy.py").write_text(SCRIPT)
    (toy / "dvc.yaml").write_text(SHORT_GRAPH)
    return toy


@pytest.fixture
def ran() -> Callable[[Path], list[str]]:
    """A function that tells the stages that ran in a repository, in their order."""
    return lambda folder: [line.split()[0] for line in _lines(folder / "ran.log")]


def make_toy(folder: Path) -> Path:
    """A committed repository with small stages, and the parameters and profiles of the project."""
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / "profiles", folder / "profiles")
    shutil.copy(ROOT / "profiles" / "debug.yaml", folder / "params.yaml")
    (folder / "dvc.yaml").write_text(_graph())
    (folder / "models/base").mkdir(parents=True)
    (folder / "models/base/weights.txt").write_text("untrained")
    (folder / "stages").mkdir()
    (folder / "stages" / "__init__.py").touch()
    for module in ("toy", "rl"):
        (folder / "stages" / f"{module}.py").write_text(SCRIPT)
    (folder / ".gitignore").write_text("/data/\n/models/\n/.compass/\n/work/\n/ran.log\n__pycache__\n")
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
