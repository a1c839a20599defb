"""Cancel runs of the `debug` pipeline at random moments, in every way there is, and see what is left and whether the next run ends right.

    python benchmarks/cancels.py                                  # twenty cancels: about 40 minutes on two idle cores
    python benchmarks/cancels.py --cancels 6 --ways ctrl-c dvc --seed 7 --folder /tmp/cancels

Trials as those of `benchmarks/kills.py` (`benchmarks/trials.py`), each cancelled in one of `WAYS`. After each cancel:

1. within 20 s no process of the run, nothing in its temporary folder and no lock is left; servers that were started before stay;
2. the user was told in one line how to go on, without a traceback (by `compass status` where the terminal was closed); settings and
   the branch are as they were;
3. a plain `compass run` of the stage then ends well, trains no iteration again that had a checkpoint, and makes what an undisturbed run
   makes.

Each cancel is a line of a table, and a JSON line in `--out`, where it is found again: started once more, the same command goes on
with those that are missing. The exit status is 1 if any cancel has faults.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parent))

import trial_checks as checks
import trials
from cancels_ways import PREFECT, PROGRAM, WAYS, Started, cancel, down, start, up


@dataclass(frozen=True)
class Cancel:
    """One cancel as drawn: `share` is the part of the stage's undisturbed duration after which it comes."""

    number: int
    way: str
    stage: str
    share: float

    @property
    def what(self) -> str:
        return self.way


def draw(count: int, ways: Sequence[str], stages: Sequence[str], seed: int) -> list[Cancel]:
    """`count` cancels: every way in turn, RL stages as often as all others together."""
    chance = random.Random(seed)
    trained = [stage for stage in stages if stage in trials.RL]
    others = [stage for stage in stages if stage not in trials.RL]
    cancels: list[Cancel] = []
    turns: list[str] = []
    while len(cancels) < count:
        if not turns:
            turns = list(ways)
            chance.shuffle(turns)
        stage = chance.choice((trained or others) if chance.random() < 0.5 else (others or trained))
        cancels.append(Cancel(len(cancels), turns.pop(), stage, chance.uniform(0.05, 0.95)))
    return cancels


def attempt(drawn: Cancel, seconds: float, folder: Path) -> trials.Outcome:
    """Start a stage, cancel it, run it again, and check."""
    outcome = trials.Outcome(drawn)
    root, temporary = trials.restore(folder, drawn.stage), folder / "tmp"
    token = f"cancel-{time.time_ns()}-{drawn.number}"
    variables = trials.environment(root, temporary, token)
    known, settings = checks.runs(root), (root / "params.yaml").read_bytes()
    if drawn.way in PREFECT:
        up(root, variables)
    servers = trials.find_processes(root, token)
    try:
        began = time.time()
        started = start(drawn.way, drawn.stage, root, variables, folder / "cancelled.log")
        if not _wait_for_stage(root, drawn.stage, began, started):
            outcome.faults.append(f"{drawn.stage} did not begin: {started.said()[-500:]}")
            return outcome
        time.sleep(drawn.share * seconds)
        before = checks.recorded(root, drawn.stage)
        outcome.after_s = time.time() - began
        cancel(started)
        outcome.gone_s, outcome.faults = trials.wait_until_gone(root, token, spared=servers)
        outcome.faults += started.faults() + _locks(root)
        if (root / "params.yaml").read_bytes() != settings:
            outcome.faults.append("params.yaml has changed")
        if "ref: refs/heads/" not in (root / ".git" / "HEAD").read_text():
            outcome.faults.append("the repository is on no branch")
    finally:
        if drawn.way in PREFECT:
            down(root, variables)
        for process in trials.find_processes(root, token):  # the run that follows would meet it
            process.kill()
    # `compass run` takes entries of killed runs out of DVC's lock, which `dvc` itself may call busy.
    command = [*PROGRAM["run"], drawn.stage]
    outcome.recovery_s, again = trials.run_again(command, root, variables, folder / "recovered.log")
    outcome.faults += again or checks.check(root, folder / "unkilled", drawn.stage, before, known, temporary)
    return outcome


def _wait_for_stage(root: Path, stage: str, began: float, started: Started) -> bool:
    """Wait until the stage has begun; whether it has. One that was too quick to be seen has, too."""
    path = root / "work" / "progress" / f"{stage}.json"
    while not (path.exists() and path.stat().st_mtime > began):
        if started.ended() or time.time() - began > trials.LONGEST_S:
            return path.exists() and path.stat().st_mtime > began
        time.sleep(0.1)
    return True


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


def main() -> int:
    """Parse the command line and cancel."""
    parser = trials.parse(__doc__ or "", "cancels", 20)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    options = parser.parse_args()
    drawn = draw(options.count, options.ways, options.stages, options.seed)
    return trials.run_trials(drawn, lambda one, seconds: attempt(one, seconds, options.folder), options)


if __name__ == "__main__":
    sys.exit(main())
