"""Runs of the `debug` pipeline that are disturbed, made good by another run, and checked: what `kills.py` and `cancels.py` share.

The pipeline runs once, undisturbed, in a copy of the repository. For each trial that copy is restored with one stage undone, the stage
is started and disturbed, and started again to its end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol

import psutil
import yaml

ROOT = Path(__file__).resolve().parents[1]
RL = ("rl-1", "rl-2", "rl-3")
STAGES = ("collect", "dedup", "denoise", "base", "grade", "verify", "curriculum", *RL, "evaluate", "report")
LONGEST_S = 900
GONE_S = 20.0
"""Seconds in which everything must be gone."""

LINE = "{number:>3}  {what:<24} {stage:<10} {after:>8}  {gone:>6}  {recovery:>9}  {verdict}"
"""The table: what was done to which stage after how many seconds, when all was gone, and what the next run took."""


class Drawn(Protocol):
    """A trial as drawn; a dataclass."""

    number: int
    stage: str

    @property
    def what(self) -> str:
        """What is done to the run, for the table."""


@dataclass
class Outcome:
    """What a trial led to; seconds. `missed`: the run had ended before it could be disturbed."""

    drawn: Drawn
    victims: list[str] = field(default_factory=list)
    after_s: float = 0.0
    gone_s: float = 0.0
    recovery_s: float = 0.0
    faults: list[str] = field(default_factory=list)
    missed: bool = False

    def entry(self) -> dict:
        """The line of the log."""
        seconds = {name: round(getattr(self, name), 1) for name in ("after_s", "gone_s", "recovery_s")}
        row = LINE.format(
            number=self.drawn.number,
            what=self.drawn.what,
            stage=self.drawn.stage,
            after=f"{self.after_s:.1f} s",
            gone=f"{self.gone_s:.1f} s",
            recovery=f"{self.recovery_s:.1f} s",
            verdict="; ".join(self.faults) or ("missed" if self.missed else "ok"),
        )
        rest = {"victims": self.victims, "missed": self.missed, "faults": self.faults, "row": " ".join(row.split("\n"))}
        return {**asdict(self.drawn), **seconds, **rest}


def parse(description: str, name: str, count: int) -> argparse.ArgumentParser:
    """The options that both commands have; `name` is the word for their trials."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.set_defaults(name=name)
    parser.add_argument(f"--{name}", dest="count", type=int, default=count)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--folder", type=Path, default=Path("/tmp", name), help="a short path: sockets are made below")
    parser.add_argument("--out", type=Path, default=None, help=f"default: {name}.jsonl in the folder")
    return parser


def run_trials(drawn: Iterable[Drawn], attempt: Callable[[Drawn, float], Outcome], options: argparse.Namespace) -> int:
    """Make trials until `options.count` were not missed; those that the log has, as they are drawn now, are kept. 1 if any has faults, else 0."""
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.out or options.folder / f"{options.name}.jsonl"
    seconds = prepare(options.folder)
    lines = path.read_text().splitlines() if path.exists() else []
    log = {entry["number"]: entry for entry in map(json.loads, lines)}
    print(
        LINE.format(number="", what="what", stage="stage", after="after", gone="gone", recovery="next run", verdict="")
    )
    faulty = done = 0
    for one in drawn:
        if done == options.count:
            break
        drawn_before = {name: log.get(one.number, {}).get(name) for name in asdict(one)}
        if drawn_before != json.loads(json.dumps(asdict(one))):  # none, or of another seed or other stages
            log[one.number] = attempt(one, seconds[one.stage]).entry()
            with open(path, "a", encoding="utf-8") as out:
                out.write(json.dumps(log[one.number]) + "\n")
        print(log[one.number]["row"][:600], flush=True)
        faulty += bool(log[one.number]["faults"])
        done += not log[one.number]["missed"]
    print(f"{done} {options.name}, {faulty} with faults; the log is {path}")
    return int(faulty > 0)


def dvc(stage: str) -> list[str]:
    """DVC's command line for one stage."""
    return [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item", stage]


def environment(root: Path, temporary: Path, token: str) -> dict[str, str]:
    """This environment with the copy's modules, an empty temporary folder of the run's own, and the token that names its processes."""
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("MLFLOW_", "COMPASS_", "RAY_"))
    }
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    return {
        **inherited,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(root),
        "TMPDIR": str(temporary),
        "COMPASS_KILLS": token,
    }


def prepare(folder: Path) -> dict[str, float]:
    """Run the whole pipeline in `folder/run`, keep the result in `folder/unkilled`; each stage's seconds."""
    run, unkilled = folder / "run", folder / "unkilled"
    durations = folder / "durations.json"
    if durations.exists():
        return json.loads(durations.read_text())
    for path in (run, unkilled):
        shutil.rmtree(path, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file():
            (run / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, run / name)
    (run / "dvc.lock").unlink(missing_ok=True)
    variables = environment(run, folder / "tmp", "prepare")
    for command in (
        [sys.executable, "-m", "compass.cli", "profile", "use", "debug", "--force"],
        ["git", "init", "-q"],
        ["git", "add", "-A"],
        ["git", "-c", "user.name=trials", "-c", "user.email=trials@localhost", "commit", "-qm", "debug"],
    ):
        subprocess.run(command, cwd=run, env=variables, check=True, stdout=subprocess.DEVNULL)
    seconds = {}
    for stage in STAGES:
        began = time.monotonic()
        subprocess.run(dvc(stage), cwd=run, env=variables, check=True)
        seconds[stage] = time.monotonic() - began
    run.rename(unkilled)
    durations.write_text(json.dumps(seconds))
    return seconds


def restore(folder: Path, stage: str) -> Path:
    """The unkilled run again in `folder/run`, with one stage undone: no outputs, no lock entry, no run cache, no work."""
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    shutil.copytree(folder / "unkilled", run, symlinks=True)
    lock = yaml.safe_load((run / "dvc.lock").read_text())
    entry = lock["stages"].pop(stage)
    (run / "dvc.lock").write_text(yaml.safe_dump(lock, sort_keys=False))
    for out in entry["outs"]:
        path = run / out["path"]
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    shutil.rmtree(run / ".dvc/cache/runs", ignore_errors=True)
    shutil.rmtree(run / "work" / stage, ignore_errors=True)
    return run


def start(command: Sequence[str], root: Path, variables: dict[str, str], log: Path) -> subprocess.Popen:
    """Start a command in a session of its own, as a terminal does, with what it says in a file."""
    with open(log, "w") as file:
        return subprocess.Popen(
            command,
            cwd=root,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def run_again(command: Sequence[str], root: Path, variables: dict[str, str], log: Path) -> tuple[float, list[str]]:
    """Run the stage to its end; seconds, and faults."""
    began = time.monotonic()
    again = start(command, root, variables, log)
    try:
        status: int | None = again.wait(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        status = None
        for process in find_processes(root, variables["COMPASS_KILLS"]):
            process.kill()
        again.wait()
    text = log.read_text(errors="replace")[-3000:]
    ended = f"the next run ended with status {status} (None: not within {LONGEST_S} s): {text}"
    return time.monotonic() - began, [] if status == 0 else [ended]


def find_processes(root: Path, token: str) -> list[psutil.Process]:
    """Every process of a run, oldest first: by the token in its environment, or, where that was overwritten, by where it works."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                continue
            if process.environ().get("COMPASS_KILLS") == token or Path(process.cwd()).is_relative_to(root):
                found.append((process.create_time(), process.pid, process))
        except psutil.Error:
            continue
    return [process for *_, process in sorted(found, key=lambda one: one[:2])]


def wait_until_gone(root: Path, token: str, spared: Collection[psutil.Process] = ()) -> tuple[float, list[str]]:
    """Seconds until no process of the run is left but those `spared`, and what was left after `GONE_S`, which is then killed."""
    began = time.monotonic()
    while (left := set(find_processes(root, token)) - set(spared)) and time.monotonic() - began < GONE_S:
        time.sleep(0.2)
    seconds = time.monotonic() - began
    faults = [f"left after {GONE_S:.0f} s: {process.pid} {words(process)[:100]}" for process in left]
    for process in left:  # the run that follows would meet them
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    return seconds, faults


def words(process: psutil.Process) -> str:
    """A process's command line; empty where it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
