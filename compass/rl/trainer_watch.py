"""Watches the trainer of an RL stage, and ends what is left of it: a run that lost a part of itself waits forever, or for minutes.

- `EssentialProcesses`, in the stage's process: Ray's own processes, vLLM's engines and the trainer's ranks, where the stage started them. When
  one of them dies, verl stands still until Ray notices: up to half a minute.
- `ClusterWatch`, in the trainer's process, on a Ray cluster that it joined: there they are Ray's children, on this machine or another, so that
  the stage cannot see them.
- `Watchdog`, in the stage's process: an iteration that takes far longer than those before it. It says which process does what.
- `end_trainer`: ends the trainer and everything that it started.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from compass.processes import is_alive
from compass.rl.progress import read_progress

RAY = ("raylet", "gcs_server")
ENGINE = ("VLLM::EngineCore", "ray::GroupServer", "ray::vLLMHttpServer")
"""Titles of vLLM's engine, and of the Ray actor in front of it: the project's or verl's."""
RANK = "ray::WorkerDict"
"""Title of a rank: verl's worker of the policy, its reference and its critic."""

TITLES = ("ray::", "VLLM::")
"""How the titles begin that Ray's actors and vLLM's engines give themselves."""

GRACE_S = 2.0
"""Seconds between the end of such a process and the trainer's: at a training run's end, when all is saved, they go first."""

POLL_S = 1.0

ENDED_BY_THE_JOB = (4, 5, 6)
"""Ray's numbers (`ActorDiedErrorContext.Reason`) for: killed by `ray.kill`, out of scope, no reference left."""

LAST_LINES, LONGEST_LINE = 4, 300
"""Lines that are kept of each log of a lost process of Ray's, and the characters of one."""

SHOWN = 8
"""How many processes the watchdog's message names."""


class EssentialProcesses:
    """Those that a trainer started; none of Ray's, or of an engine on another machine, where it joined a running cluster."""

    def __init__(self, trainer: int) -> None:
        self._trainer = trainer
        self.started: dict[int, psutil.Process] = {}
        """Every process below the trainer that was seen: those of one that has ended are nobody's children any more."""
        self._seen: dict[int, tuple[str, psutil.Process]] = {}
        self._missed, self._missed_at = "", 0.0
        self._logs: dict[int, Path] = {}
        """Where each of Ray's processes writes its log, a folder that Ray removes with the run's end."""
        self.last_lines = ""
        """What the lost one of Ray's processes wrote last, in lines of their own; empty where it wrote nothing, or is none of Ray's."""

    def find_lost(self) -> str:
        """What the first that ended was, more than `GRACE_S` seconds ago, while the trainer runs on; empty where none did."""
        processes = _processes(self._trainer)
        if not processes:
            return ""
        for process in processes[1:]:
            self.started[process.pid] = process
            if process.pid not in self._seen and (kind := _kind(process)):
                self._seen[process.pid] = kind, process
                if log := _find_log(process):
                    self._logs[process.pid] = log
        ended = [(kind, process.pid) for kind, process in self._seen.values() if not is_alive(process)]
        if not ended:
            return ""
        if not self._missed:  # others end because of it
            (self._missed, pid), self._missed_at = ended[0], time.monotonic()
            self.last_lines = read_last_lines(self._logs[pid]) if pid in self._logs else ""
        return self._missed if time.monotonic() - self._missed_at >= GRACE_S else ""


def _find_log(process: psutil.Process) -> Path | None:
    """Where one of Ray's own processes logs, without the ending; None for any other process."""
    try:
        folders = [word.removeprefix("--log_dir=") for word in process.cmdline() if word.startswith("--log_dir=")]
        return Path(folders[0]) / process.name() if folders and process.name() in RAY else None
    except psutil.Error:
        return None


def read_last_lines(log: Path) -> str:
    """The last lines of `LOG.out` and `LOG.err`, each on a line of its own; empty where both are."""
    lines = []
    for ending in (".out", ".err"):
        path = Path(f"{log}{ending}")
        if path.exists():
            lines += path.read_text(encoding="utf-8", errors="replace").splitlines()[-LAST_LINES:]
    return "".join(f"\n  {log.name}: {line[:LONGEST_LINE]}" for line in lines if line.strip())


def _kind(process: psutil.Process) -> str:
    """What an essential process is; empty for any other.

    A process that starts has its name first, then its command line, which says where it logs, and some time later its title: until
    then it is empty, and asked for again.
    """
    try:
        name, command = process.name(), process.cmdline()
    except psutil.Error:
        return ""
    if not command:
        return ""
    if name in RAY:
        return f"Ray's {name}"
    title = command[0]
    if title.startswith(RANK):
        return "a rank of the trainer"
    return "vLLM's engine" if title.startswith(ENGINE) else ""


class ClusterWatch:
    """Ends this process, the trainer, when a node or a process of its own is lost; as a context, for as long as the training runs."""

    def __init__(self, lost: Path, *, end: Callable[[int], object] = os._exit) -> None:
        """Watch from `__enter__` on.

        Args:
            lost: the file that tells the stage what was lost.
            end: ends this process.
        """
        self._lost, self._end = lost, end
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cluster watch", daemon=True)

    def __enter__(self) -> ClusterWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        import ray
        from ray._private.state import actors  # ray's public function asks the dashboard, which a cluster may lack

        job = ray.get_runtime_context().get_job_id()
        missed_at = 0.0
        while not self._over.wait(POLL_S):
            try:
                seen = find_lost_on_cluster(ray.nodes(), actors().values(), job)
            except Exception as error:  # Ray has many for one that no longer answers
                seen = f"the head of the Ray cluster does not answer ({type(error).__name__}: {error})"
            if not seen:
                missed_at = 0.0
                continue
            missed_at = missed_at or time.monotonic()
            if time.monotonic() - missed_at >= GRACE_S:
                self._lost.write_text(seen, encoding="utf-8")
                print(f"ended by compass.rl.trainer_watch: {seen}", flush=True)
                self._end(1)
                return


def find_lost_on_cluster(nodes: Iterable[Mapping[str, Any]], actors: Iterable[Mapping[str, Any]], job: str) -> str:
    """What of a job ended, in words; empty where nothing did.

    Args:
        nodes: as `ray.nodes()` gives them; one that had left before the job held nothing of it.
        actors: as Ray's table has them.
        job: the job's id.
    """
    dead = [
        actor
        for actor in actors
        if actor["JobID"] == job
        and actor["State"] == "DEAD"
        and actor["DeathCause"].actor_died_error_context.reason not in ENDED_BY_THE_JOB
    ]
    left = {node["NodeID"]: node["NodeName"] for node in nodes if not node["Alive"]}
    for actor in dead:
        if address := left.get(actor["Address"]["NodeID"]):
            return f"node {address} left the Ray cluster, with {actor['ActorClassName']} on it"
    return f"{dead[0]['ActorClassName']} (pid {dead[0]['Pid']}) ended on the Ray cluster" if dead else ""


class Watchdog:
    """The guard `watchdog`: fires once when an iteration takes far longer than those before it.

    Args:
        settings: `limit`, `least_seconds` and `start_seconds` of `rl.guards.watchdog`.
        progress: the file in which the trainer says where it is.
        trainer: its process id.
    """

    def __init__(self, settings: Mapping[str, Any], progress: Path, trainer: int) -> None:
        self.settings = settings
        self.progress = progress
        self.trainer = trainer
        self.seconds: list[float] = []
        self.last = time.monotonic()
        self.known: dict[int, str] = {}
        self.fired = False

    def note_iteration(self, metrics: Mapping[str, Any]) -> None:
        """Note the end of an iteration; `metrics` are verl's."""
        self.seconds.append(float(metrics.get("timing_s/step") or 0.0))
        self.last = time.monotonic()
        self.fired = False
        if len(self.seconds) == 1:
            self.known = {process.pid: _describe(process)[0] for process in _processes(self.trainer)}

    @property
    def allowed(self) -> float:
        """Seconds that may pass until the next iteration ends."""
        if not self.seconds:
            return self.settings["start_seconds"]
        return max(self.settings["least_seconds"], self.settings["limit"] * median(self.seconds))

    def find_standstill(self) -> str | None:
        """What stands still, in words; None while all is well, and after it was reported once."""
        waited = time.monotonic() - self.last
        if self.fired or waited <= self.allowed:
            return None
        self.fired = True
        usual = f"the median is {median(self.seconds):.0f} s" if self.seconds else "it is the first of this run"
        return (
            f"no iteration ended for {waited:.0f} s ({usual}, allowed are {self.allowed:.0f} s). {self._phase()} "
            f"{self._culprits()} To do: look for the process that neither computes nor answers in the stage's train.log; run the "
            "stage again, it goes on from its last checkpoint"
        )

    def _phase(self) -> str:
        progress = read_progress(self.progress)
        if progress is None:
            return "The trainer is still starting: engines, model and weights."
        detail = f" ({progress['detail']})" if progress["detail"] else ""
        return (
            f"The trainer is in iteration {progress['step']}, phase `{progress['phase']}`{detail}, and said so "
            f"{time.time() - progress['at']:.0f} s ago."
        )

    def _culprits(self) -> str:
        """The trainer's processes: first those that neither run nor wait (stopped, dead), then actors, whose titles name the call that they
        are in, then by load."""
        processes = _processes(self.trainer)
        for process in processes:
            _describe(process)  # its load counts from the first call
        time.sleep(0.5)
        shown = [(*_describe(process), process.pid) for process in processes]
        shown.sort(key=lambda one: (one[1] in ("running", "sleeping", "idle"), not one[0].startswith(TITLES), -one[2]))
        busy = "; ".join(
            f"{name} (pid {pid}) {status}, {load:.0f}% of a core" for name, status, load, pid in shown[:SHOWN]
        )
        here = {process.pid for process in processes}
        gone = [f"{name} (pid {pid})" for pid, name in self.known.items() if pid not in here]
        lost = f" Ended since the first iteration: {'; '.join(gone[:SHOWN])}." if gone else ""
        return f"Its processes: {busy or 'none'}.{lost}"


def _processes(trainer: int) -> list[psutil.Process]:
    """The trainer and all that it started; none where it has ended."""
    try:
        parent = psutil.Process(trainer)
        return [parent, *parent.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _describe(process: psutil.Process) -> tuple[str, str, float]:
    """A process's name (its title, or its program and the actor that started it), status, and percent of a core since the last call."""
    try:
        words, status, load = process.cmdline(), process.status(), process.cpu_percent()
        title = " ".join(words).strip()
        if title.startswith(TITLES):
            return title[:60], status, load
        name = words[words.index("-m") + 1] if "-m" in words[:-1] else process.name()
        # vLLM's engine is a child of the actor that serves it, and on the CPU has the trainer's command line
        parent = process.parent()
        above = " ".join(parent.cmdline()).strip() if parent else ""
        return (f"{name} started by {above[:60]}" if above.startswith(TITLES) else name), status, load
    except psutil.Error:
        return "a process that just ended", "ended", 0.0


def end_trainer(trainer: subprocess.Popen, seen: Iterable[psutil.Process]) -> None:
    """End the trainer and everything that it started, which `seen` holds as far as it was seen while the trainer ran."""
    children = [*seen, *_processes(trainer.pid)[1:]]
    trainer.terminate()
    try:
        trainer.wait(timeout=10)
    except subprocess.TimeoutExpired:
        trainer.kill()
        trainer.wait()
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess):  # psutil tells a later process with the same number apart
            child.kill()
