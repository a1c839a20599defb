"""What is killed in a run, and when (`benchmarks/kills.py`)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
from trials import find_processes, words

PARTS = {
    "other": ("dvc", "stage", "guard", "group", "tree"),
    "rl": ("dvc", "stage", "guard", "trainer", "ray worker", "raylet", "vllm engine", "group", "tree"),
}
"""By kind of stage; `guard` is a process of `compass.process_tree`, `group` the process group of `dvc`, `tree` every process at once."""


TRAINING_S = 12.0
"""About how long a stage of `debug` trains, from the start of vLLM's engine."""


@dataclass(frozen=True)
class Run:
    """A `dvc repro` that is going to be killed; its processes carry `token` in COMPASS_KILLS."""

    dvc: subprocess.Popen
    root: Path
    stage: str
    token: str


def moments(kind: str, part: str) -> tuple[str, ...]:
    """The moments at which a part of a stage is killed: at a random time, while it trains, and when files are half made."""
    if kind != "rl":
        return ("time",)
    events = ("saving", "saved", "exporting")
    alone = {"trainer": ("saving", "saved"), "ray worker": ("saving",), "raylet": ("saved",), "vllm engine": ()}
    return ("time", "training", *alone.get(part, events))


def wait_for(run: Run, moment: str, share: float, seconds: float, longest: float) -> None:
    """Wait until the moment has come, or the run has ended.

    Args:
        run: the run.
        moment: `time`; `training` (the first iteration is going on, or a later one); `saving` (a checkpoint is half
            written); `saved` (it is whole, and its iteration is not recorded yet); `exporting` (the model is half written).
        share: what part of `seconds` (for `time`) or of the training has gone by.
        seconds: what the stage took unkilled.
        longest: seconds after which a moment that does not come is given up.
    """
    came: dict[str, Callable[[], bool]] = {
        "time": lambda: time.monotonic() - began >= share * seconds,
        "training": lambda: (
            bool(_engine(find_processes(run.root, run.token))) and (run.root / "work" / run.stage).exists()
        ),
        "saving": lambda: any(run.root.glob(f"work/{run.stage}/*/checkpoints/global_step_*/actor/*.pt")),
        "saved": lambda: any(run.root.glob(f"work/{run.stage}/*/checkpoints/latest_checkpointed_iteration.txt")),
        "exporting": lambda: any(run.root.glob(f"work/{run.stage}/*/model/*")),
    }
    began = time.monotonic()
    while not came[moment]() and run.dvc.poll() is None and time.monotonic() - began < longest:
        time.sleep(0.2 if moment == "training" else 0.002)
    if moment == "training":
        time.sleep(share * TRAINING_S)


def kill(run: Run, part: str, chance: random.Random) -> list[str]:
    """Kill a part without warning; the names of the processes that were killed, with their numbers."""
    processes = find_processes(run.root, run.token)
    victims = _victims(run, part, processes, chance)
    for victim in victims:
        try:
            victim.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    return [f"{_name(victim)} {victim.pid}" for victim in victims[:4]]


def _victims(run: Run, part: str, processes: list[psutil.Process], chance: random.Random) -> list[psutil.Process]:
    tree = [process for process in processes if process.pid != run.dvc.pid]
    stages = [
        process for process in tree if f"stages.{'rl' if run.stage.startswith('rl-') else run.stage}" in words(process)
    ]
    if part == "dvc":
        return [psutil.Process(run.dvc.pid)] if run.dvc.poll() is None else []
    if part == "tree":
        return processes
    if part == "group":
        return [process for process in processes if _group(process) == run.dvc.pid]
    if part == "stage":
        return stages[-1:]
    if part == "guard":
        return [chance.choice(stages[:2])] if stages else []
    candidates = {
        "trainer": [process for process in tree if "compass.rl.train" in words(process)][:1],
        "ray worker": [process for process in tree if words(process).startswith("ray::")],
        "raylet": [process for process in tree if _name(process) == "raylet"],
        "vllm engine": _engine(tree),
    }[part]
    return [chance.choice(candidates)] if candidates else []


def _engine(processes: list[psutil.Process]) -> list[psutil.Process]:
    """vLLM's engine: a process of its own, or the Ray actor that holds it."""
    return [process for process in processes if "VLLM::" in words(process) or "ray::GroupServer" in words(process)]


def _name(process: psutil.Process) -> str:
    try:
        return process.name()
    except psutil.Error:
        return "?"


def _group(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return 0
