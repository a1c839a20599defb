"""How a run is started and cancelled (`benchmarks/cancels.py`)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trials

PROGRAM = {
    "run": [sys.executable, "-m", "compass.cli", "run", "--only"],
    "dvc": [sys.executable, "-m", "dvc", "repro", "--single-item"],
}
"""What a user types, before the stage's name: `compass run --only` and `dvc repro -s`."""

SIGNALS = {
    "ctrl-c run": ("run", signal.SIGINT),
    "ctrl-c dvc": ("dvc", signal.SIGINT),
    "terminate run": ("run", signal.SIGTERM),
    "hang up dvc": ("dvc", signal.SIGHUP),
    "kill -9 run": ("run", signal.SIGKILL),
}
"""Ways that are a signal: to the whole foreground group for Ctrl-C and a closed terminal, else to the one process."""

DVCS_OWN = (252, 255)
"""How DVC ends after Ctrl-C: interrupted itself, or because its stage was."""

PREFECT = ("cancel in prefect", "kill the worker")
WAYS = (*SIGNALS, *PREFECT)
PORT = int(os.environ.get("CANCELS_PREFECT_PORT", "6290"))
API = f"http://127.0.0.1:{PORT}/api"
RUN_S = 120.0
"""Seconds that Prefect has to start a run."""


@dataclass
class Started:
    """A run that is going to be cancelled."""

    way: str
    stage: str
    root: Path
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen | None = None
    flow_run: str = ""

    def ended(self) -> bool:
        """Whether it has ended by itself."""
        if self.process is not None:
            return self.process.poll() is not None
        return _call("GET", f"/flow_runs/{self.flow_run}")["state_type"] in ("COMPLETED", "FAILED", "CRASHED")

    def said(self) -> str:
        """What the user was shown."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def faults(self) -> list[str]:
        """What is wrong with what the user was told; call it once all has ended."""
        if self.process is None:
            if self.way == "kill the worker":
                return []  # nobody is left who could tell
            state = _call("GET", f"/flow_runs/{self.flow_run}")["state_type"]
            return [] if state in ("CANCELLED", "COMPLETED") else [f"Prefect calls the run {state}"]
        status = self.process.wait()
        program, number = SIGNALS[self.way]
        if number == signal.SIGKILL or status == 0:  # the stage was quicker
            return []
        said = self.said()
        told = self._is_in_status() if number == signal.SIGHUP else "Run it again" in said
        faults = [] if told else ["the user was not told how to go on"]
        faults += ["the user saw a traceback"] if "Traceback" in said else []
        wanted = DVCS_OWN if program == "dvc" and number == signal.SIGINT else (128 + number, -number)
        return faults if status in wanted else [*faults, f"exit status {status}, none of {wanted}"]

    def _is_in_status(self) -> bool:
        """Whether `compass status` names the stage as one that the next run takes: a terminal that was closed shows nothing."""
        command = [sys.executable, "-m", "compass.cli", "status"]
        shown = subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, text=True).stdout
        listed = (line.removeprefix("next run") for line in shown.splitlines() if line.startswith("next run"))
        return any(self.stage in line.replace(",", " ").split() for line in listed)


def start(way: str, stage: str, root: Path, environment: Mapping[str, str], log: Path) -> Started:
    """Start the stage alone, as this way is cancelled."""
    log.unlink(missing_ok=True)
    started = Started(way, stage, root, dict(environment), log)
    if way in PREFECT:
        deployment = _call("GET", f"/deployments/name/{stage}/{stage}")
        made = _call(
            "POST", f"/deployments/{deployment['id']}/create_flow_run", {"parameters": {"run": _alone(deployment)}}
        )
        started.flow_run = made["id"]
        return started
    started.process = trials.start([*PROGRAM[SIGNALS[way][0]], stage], root, dict(environment), log)
    return started


def cancel(started: Started) -> None:
    """Cancel the run."""
    if started.way == "cancel in prefect":
        _call("POST", f"/flow_runs/{started.flow_run}/set_state", {"state": {"type": "CANCELLING"}})
    elif started.way == "kill the worker":
        services = json.loads((started.root / ".compass" / "services.json").read_text())
        os.kill(services["deployments"]["pid"], signal.SIGKILL)
    else:
        assert started.process is not None
        number = SIGNALS[started.way][1]
        if started.process.poll() is None:
            whole = number in (signal.SIGINT, signal.SIGHUP)
            (os.killpg if whole else os.kill)(started.process.pid, number)


def up(root: Path, environment: Mapping[str, str]) -> None:
    """Start Prefect and the deployments of the copy."""
    words = ["up", "--no-mlflow", "--no-live", "--prefect-port", str(PORT)]
    _compass(words, root, environment)


def down(root: Path, environment: Mapping[str, str]) -> None:
    """End them."""
    _compass(["down", "--force"], root, environment)


def _compass(words: list[str], root: Path, environment: Mapping[str, str]) -> None:
    command = [sys.executable, "-m", "compass.cli", *words]
    subprocess.run(command, cwd=root, env=dict(environment), check=True, stdout=subprocess.DEVNULL)


def _alone(deployment: Mapping[str, Any]) -> str:
    """The form's word for "this stage alone"."""
    return next(word for word in deployment["parameter_openapi_schema"]["properties"]["run"]["enum"] if "alone" in word)


def _call(method: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(API + path, data, {"Content-Type": "application/json"}, method=method)
    for attempt in range(5):
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:
            raise
        except OSError:
            if attempt == 4:
                raise
            time.sleep(2)
    return None
