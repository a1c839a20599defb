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
import os, pathlib, sys, time
name, out = sys.argv[-2:]
with open("ran.log", "a") as log:
    print(name, os.environ.get("COMPASS_PIPELINE_RUN"), file=log)
time.sleep(float(os.environ.get("TOY_SECONDS", 0)))
if name == os.environ.get("TOY_FAILS"):
    sys.exit(f"noise\\n{name}: no model")
pathlib.Path(out).mkdir(parents=True, exist_ok=True)
pathlib.Path(out, "result.txt").write_text(pathlib.Path("params.yaml").read_text().split(f"{name}:")[1])
"""
"""What every stage does: note that it ran, wait, write what its settings are."""


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


SHELL_GRAPH = """\
stages:
  collect:
    cmd: echo collect $COMPASS_PIPELINE_RUN >> ran.log && mkdir -p data && echo rows > data/collect.txt
    params: [seed, collect]
    outs: [data/collect.txt]
  grade:
    cmd: echo grade $COMPASS_PIPELINE_RUN >> ran.log && mkdir -p data && echo graded > data/grade.txt
    params: [grade]
    deps: [data/collect.txt]
    outs: [data/grade.txt]
  evaluate:
    cmd: echo evaluate $COMPASS_PIPELINE_RUN >> ran.log && mkdir -p data && grep -A1 evaluate params.yaml > data/scores.txt
    params: [evaluate]
    deps: [data/grade.txt]
    outs: [data/scores.txt]
"""


@pytest.fixture
def shell_toy(toy: Path) -> Path:
    """A small repository whose three stages are shell commands: Prefect's processes import the project's own `stages`."""
    shutil.rmtree(toy / "stages")
    (toy / "dvc.yaml").write_text(SHELL_GRAPH)
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
