"""Run `dvc` for a flow: in a process group of its own, its lines streamed to the flow's log, ended whole on cancel."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from compass import environment

GRACE_S = 15.0
"""Seconds between asking a process group to end and killing it; verl needs some to close its checkpoint."""

_KEY = re.compile(r"[A-Za-z_][\w-]*(\.[\w-]+)*")


class ReproError(RuntimeError):
    """`dvc` ended with an error; the message has its exit status and last lines."""


def dvc_command(target: str | None, *, single: bool = False, parameters: Mapping[str, Any] | None = None) -> list[str]:
    """The `dvc` call that brings `target` (a stage; None for all) up to date.

    With `parameters` (`{"evaluate.samples": 4}`) it is an experiment, so that the values are recorded where DVC looks
    for them, in `params.yaml`, and are always visible. `single` runs the stage without those it depends on.

    Raises:
        ValueError: a parameter's name is not one, or its value has no form on DVC's command line.
    """
    # The flag stands before the verb; without it DVC gives up on a busy lock after 3 s.
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", *(["exp", "run"] if parameters else ["repro"])]
    for key, value in (parameters or {}).items():
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is not the name of a parameter; give it as in params.yaml: evaluate.samples")
        if isinstance(value, Mapping):
            raise ValueError(f"{key}: give each of its keys by itself ({key}.{next(iter(value), 'NAME')}=...)")
        command += ["--set-param", f"{key}={json.dumps(value)}"]
    return [*command, *(["--single-item"] if single else []), *([target] if target else [])]


def run_group(
    command: list[str], *, folder: str | Path, log: Callable[[str], object], env: Mapping[str, str] | None = None
) -> None:
    """Run a command in a new process group and pass on its output line by line.

    If this process is interrupted (Ctrl-C, a cancelled flow run, any exception) the whole group ends with it, and so do
    descendants that have left the group, as Ray's do.

    Raises:
        ReproError: the command's exit status is not 0.
    """
    environment.apply()
    # Stages call `python`: this one, whatever is on the path of the process that started the flow. A pipe makes
    # Python's output block-buffered; the log is to show a stage's lines as they are written.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    variables = {**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", **(env or {})}
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    last: list[str] = []
    try:
        # Lines end at "\n" alone: each redrawing of a progress bar would be a line of its own otherwise.
        for line in io.TextIOWrapper(process.stdout, encoding="utf-8", errors="replace", newline="\n"):
            line = line.rstrip().rsplit("\r", 1)[-1]  # of a progress bar only what it shows in the end
            if line:
                log(line)
                last = [*last[-19:], line]
        status = process.wait()
    finally:
        if process.poll() is None:
            end_group(process.pid)
            process.wait()
    if status:
        raise ReproError(f"{' '.join(command[2:])} ended with status {status}:\n" + "\n".join(last))


def end_group(leader: int, grace_s: float = GRACE_S) -> None:
    """End the process group of `leader` and all its descendants: asked first, killed after `grace_s` seconds."""
    try:
        root = psutil.Process(leader)
    except psutil.NoSuchProcess:
        return
    everyone = [root, *root.children(recursive=True)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):  # an empty group; descendants outside of it may live on
            os.killpg(leader, number)
        for process in everyone:
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                continue
        deadline = time.monotonic() + grace_s
        while time.monotonic() < deadline and any(_alive(process) for process in everyone):
            time.sleep(0.05)


def _alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def parse_parameters(words: list[str]) -> dict[str, Any]:
    """`["evaluate.samples=4"]` as `{"evaluate.samples": 4}`; values are YAML, as in params.yaml."""
    import yaml

    pairs = [word.partition("=") for word in words]
    for key, separator, _ in pairs:
        if not separator:
            raise ValueError(f"{key!r}: give a parameter as NAME=VALUE")
    return {key: yaml.safe_load(value) for key, _, value in pairs}
