"""Cancel runs of the `debug` pipeline at random moments, in every way there is, and see what is left and whether the next run ends right.

    python benchmarks/cancels.py                                  # twenty cancels: about 40 minutes on two idle cores
    python benchmarks/cancels.py --cancels 6 --ways ctrl-c dvc --seed 7 --folder /tmp/cancels

As `benchmarks/kills.py`, whose folder and checks it shares: a finished run is copied with one stage undone, the stage is started
again, and cancelled in one of `WAYS`. After each cancel:

1. within 20 s no process of the run, nothing in its temporary folder and no lock is left; servers that were started before stay;
2. the user was told in one line how to go on, without a traceback; settings and the branch are as they were;
3. a plain `dvc repro` then ends well, trains no iteration again that had a checkpoint, and makes what an undisturbed run makes.

Each cancel is a line of a table, and a JSON line in `--out`, where it is found again: started once more, the same command goes on
with those that are missing. The exit status is 1 if any cancel has faults.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent))

import kills_checks as checks
from cancels_ways import PREFECT, PROGRAM, WAYS, Started, cancel, down, start, up
from kills import LONGEST_S, RL, STAGES, prepare, restore
from kills_victims import Run, belongs

LINE = "{number:>3}  {way:<18} {stage:<10} {after:>8}  {gone:>6}  {recovery:>9}  {verdict}"
"""The table: what was cancelled how, after how many seconds, when all was gone, and what the next run took."""


@dataclass(frozen=True)
class Cancel:
    """One cancel as drawn: `share` is the part of the stage's undisturbed duration after which it comes."""

    number: int
    way: str
    stage: str
    share: float


@dataclass
class Outcome:
    """What a cancel led to; seconds."""

    cancel: Cancel
    after_s: float = 0.0
    gone_s: float = 0.0
    recovery_s: float = 0.0
    faults: list[str] = field(default_factory=list)

    def row(self) -> str:
        """The line of the table."""
        return LINE.format(
            number=self.cancel.number,
            way=self.cancel.way,
            stage=self.cancel.stage,
            after=f"{self.after_s:.1f} s",
            gone=f"{self.gone_s:.1f} s",
            recovery=f"{self.recovery_s:.1f} s",
            verdict="; ".join(self.faults) or "ok",
        )


def draw(count: int, ways: Sequence[str], stages: Sequence[str], seed: int) -> list[Cancel]:
    """`count` cancels: every way in turn, RL stages as often as all others together."""
    chance = random.Random(seed)
    trained, others = [stage for stage in stages if stage in RL], [stage for stage in stages if stage not in RL]
    cancels: list[Cancel] = []
    turns: list[str] = []
    while len(cancels) < count:
        if not turns:
            turns = list(ways)
            chance.shuffle(turns)
        stage = chance.choice((trained or others) if chance.random() < 0.5 else (others or trained))
        cancels.append(Cancel(len(cancels), turns.pop(), stage, chance.uniform(0.05, 0.95)))
    return cancels


def attempt(drawn: Cancel, folder: Path, seconds: float) -> Outcome:
    """Start a stage, cancel it, run it again, and check."""
    outcome = Outcome(drawn)
    root, temporary = restore(folder, drawn.stage), folder / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    token = f"cancel-{time.time_ns()}-{drawn.number}"
    environment = checks.environment(root, temporary, token)
    known, settings = checks.runs(root), (root / "params.yaml").read_bytes()
    if drawn.way in PREFECT:
        up(root, environment)
    servers = set(_processes(root, token))
    try:
        began = time.time()
        started = start(drawn.way, drawn.stage, root, environment, folder / "cancelled.log")
        if not _wait_for_stage(root, drawn.stage, began, started):
            outcome.faults.append(f"{drawn.stage} did not begin: {started.said()[-500:]}")
            return outcome
        time.sleep(drawn.share * seconds)
        before = checks.recorded(root, drawn.stage)
        outcome.after_s = time.time() - began
        cancelled = time.monotonic()
        cancel(started)
        left = set(_processes(root, token)) - servers
        while left and time.monotonic() - cancelled < checks.GONE_S:
            time.sleep(0.2)
            left = set(_processes(root, token)) - servers
        outcome.gone_s = time.monotonic() - cancelled
        outcome.faults += [f"left after {checks.GONE_S:.0f} s: {_words(process)}" for process in left]
        outcome.faults += started.faults() + _locks(root)
        if (root / "params.yaml").read_bytes() != settings:
            outcome.faults.append("params.yaml has changed")
        if "ref: refs/heads/" not in (root / ".git" / "HEAD").read_text():
            outcome.faults.append("the repository is on no branch")
    finally:
        if drawn.way in PREFECT:
            down(root, environment)
        for process in _processes(root, token):  # the run that follows would meet it
            process.kill()
    outcome.recovery_s, again = _recover(folder, root, drawn.stage, environment)
    outcome.faults += again
    if not again:
        outcome.faults += checks.outputs(root, folder / "unkilled", drawn.stage)
        if drawn.stage in RL:
            outcome.faults += checks.iterations(root, drawn.stage, before, known)
        outcome.faults += checks.folders(root, temporary)
    return outcome


def _wait_for_stage(root: Path, stage: str, began: float, started: Started) -> bool:
    """Wait until the stage has begun; whether it has. One that was too quick to be seen has, too."""
    path = root / "work" / "progress" / f"{stage}.json"
    while not (path.exists() and path.stat().st_mtime > began):
        if started.ended() or time.time() - began > LONGEST_S:
            return path.exists() and path.stat().st_mtime > began
        time.sleep(0.1)
    return True


def _recover(folder: Path, root: Path, stage: str, environment: dict[str, str]) -> tuple[float, list[str]]:
    """Run the stage again as a user does; seconds, and faults."""
    began = time.monotonic()
    command = [
        *PROGRAM["run"],
        stage,
    ]  # takes entries of killed runs out of DVC's lock, which `dvc` itself may call busy
    with open(folder / "recovered.log", "w") as log:
        again = subprocess.Popen(command, cwd=root, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        status: int | None = again.wait(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        status = None
        again.terminate()
        again.wait()
    said = (folder / "recovered.log").read_text(errors="replace")[-1500:]
    faults = [] if status == 0 else [f"the next run ended with status {status}: {said}"]
    return time.monotonic() - began, faults


def _processes(root: Path, token: str) -> Iterator[psutil.Process]:
    """Every process that works in the copy or carries the token."""
    run = Run(None, root, "", token)  # type: ignore[arg-type]
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and belongs(process, run):
                yield process
        except psutil.Error:
            continue


def _words(process: psutil.Process) -> str:
    try:
        return f"{process.pid} {' '.join(process.cmdline())[:100]}"
    except psutil.Error:
        return str(process.pid)


def _locks(root: Path) -> list[str]:
    """Locks that somebody still holds, ours and DVC's."""
    sys.path.insert(0, str(root))
    from compass.locks import read_turn

    faults = [f"the repository's lock is held by {current}"] if (current := read_turn(root)) else []
    path = root / ".dvc" / "tmp" / "rwlock"
    entries = json.loads(path.read_text()) if path.exists() else {}
    pids = {one["pid"] for one in entries.get("write", {}).values()}
    faults += [f"DVC's rwlock names the running process {pid}" for pid in pids if _alive(pid)]
    return faults


def _alive(pid: int) -> bool:
    """Whether a process runs; one that was killed and that nobody has waited for yet does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _done(path: Path) -> dict[int, dict]:
    """The cancels of an earlier run of this command, by their number."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {entry["number"]: entry for entry in map(json.loads, lines)}


def main() -> int:
    """Parse the command line and cancel."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cancels", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument(
        "--folder", type=Path, default=Path("/tmp/cancels"), help="a short path: sockets are made below"
    )
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--out", type=Path, default=None, help="default: cancels.jsonl in the folder")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    out_path = options.out or options.folder / "cancels.jsonl"
    seconds = prepare(options.folder)
    earlier = _done(out_path)
    print(LINE.format(number="", way="way", stage="stage", after="after", gone="gone", recovery="next run", verdict=""))
    faulty = 0
    for drawn in draw(options.cancels, options.ways, options.stages, options.seed):
        if drawn.number in earlier:
            faulty += bool(earlier[drawn.number]["faults"])
            print(earlier[drawn.number]["row"])
            continue
        outcome = attempt(drawn, options.folder, seconds[drawn.stage])
        faulty += bool(outcome.faults)
        times = {name: round(getattr(outcome, name), 1) for name in ("after_s", "gone_s", "recovery_s")}
        with open(out_path, "a", encoding="utf-8") as out:
            out.write(json.dumps({**asdict(drawn), **times, "faults": outcome.faults, "row": outcome.row()}) + "\n")
        print(outcome.row(), flush=True)
    print(f"{options.cancels} cancels, {faulty} with faults; the log is {out_path}")
    return int(faulty > 0)


if __name__ == "__main__":
    sys.exit(main())
