"""Kill random parts of a running pipeline at random moments, and see whether the next `dvc repro` makes it good.

    make kills                                    # thirty kills in every stage: about 40 minutes on two idle cores
    python benchmarks/kills.py --kills 5 --stages rl-1 grade --seed 7 --folder /tmp/kills --out kills.jsonl

The pipeline runs once, unkilled, in a copy of the repository with profile `debug`. For each kill that copy is restored with one
stage undone, `dvc repro --single-item STAGE` is started and killed, and started again to its end. Drawn by `--seed`: the stage, what
is killed (`benchmarks/kills_victims.py`) and when. After each kill (`benchmarks/kills_checks.py`):

1. within 20 s no process of the run is left, and nothing in its temporary folder;
2. the second run ends well, without training again what had a checkpoint;
3. its outputs are those of the unkilled run: byte by byte for the stages that only compute, complete for models;
4. MLflow has each iteration of an RL stage once in the run that finished.

Each kill is one JSON line in `--out`; `ok` says whether all of this held, `faults` what did not; a kill that came too late is `missed`, and another
is drawn. The exit status is 1 if any kill has faults.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parent))

import kills_checks as checks
from kills_victims import PARTS, Run, kill, moments, wait_for

ROOT = Path(__file__).resolve().parents[1]
RL = ("rl-1", "rl-2", "rl-3")
SAMPLED = ("grade", "evaluate")
STAGES = ("collect", "dedup", "denoise", "base", "grade", "verify", "curriculum", *RL, "evaluate", "report")
LONGEST_S = 900


@dataclass(frozen=True)
class Kill:
    """One kill as drawn: `moment` is an event or, as `time`, a share of the stage's unkilled duration."""

    number: int
    stage: str
    part: str
    moment: str
    share: float


@dataclass
class Outcome:
    """What a kill led to."""

    kill: Kill
    victims: list[str] = field(default_factory=list)
    killed_after_s: float = 0.0
    gone_after_s: float = 0.0
    recovery_s: float = 0.0
    faults: list[str] = field(default_factory=list)
    missed: bool = False

    def line(self) -> str:
        """The JSON line of the log."""
        seconds = {name: round(getattr(self, name), 1) for name in ("killed_after_s", "gone_after_s", "recovery_s")}
        drawn = asdict(self.kill) | {"share": round(self.kill.share, 3)}
        return json.dumps(
            {
                **drawn,
                "victims": self.victims,
                **seconds,
                "missed": self.missed,
                "ok": not self.faults,
                "faults": self.faults,
            }
        )


def draw(count: int, stages: Sequence[str], seed: int) -> list[Kill]:
    """`count` kills: every stage in turn and as many RL stages again, each part of a stage once before one comes again."""
    chance = random.Random(seed)
    trained = [stage for stage in stages if stage in RL]
    bags: dict[str, list[str]] = {"rl": [], "other": []}
    kills: list[Kill] = []
    turns: list[str] = []
    while len(kills) < count:
        if not turns:
            turns = [*stages, *trained]
            chance.shuffle(turns)
        stage = turns.pop()
        kind = "rl" if stage in RL else "other"
        if not bags[kind]:
            bags[kind] = list(PARTS[kind])
            chance.shuffle(bags[kind])
        part = bags[kind].pop()
        moment = chance.choice(moments(kind, part))
        kills.append(Kill(len(kills), stage, part, moment, chance.uniform(0.05, 0.95)))
    return kills


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
    environment = checks.environment(run, folder / "tmp", "prepare")
    python = sys.executable
    for command in (
        [python, "-m", "compass.cli", "profile", "use", "debug", "--force"],
        ["git", "init", "-q"],
        ["git", "add", "-A"],
        ["git", "-c", "user.name=kills", "-c", "user.email=kills@localhost", "commit", "-qm", "debug"],
    ):
        subprocess.run(command, cwd=run, env=environment, check=True, stdout=subprocess.DEVNULL)
    seconds = {}
    for stage in STAGES:
        began = time.monotonic()
        subprocess.run(dvc(stage), cwd=run, env=environment, check=True)
        seconds[stage] = time.monotonic() - began
    run.rename(unkilled)
    durations.write_text(json.dumps(seconds))
    return seconds


def dvc(stage: str) -> list[str]:
    """DVC's command line for one stage."""
    return [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", "--single-item", stage]


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


def attempt(kill_: Kill, folder: Path, seconds: float) -> Outcome:
    """Run one stage, kill it, run it again, and check."""
    outcome = Outcome(kill_)
    root = restore(folder, kill_.stage)
    temporary = folder / "tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    token = f"kill-{os.getpid()}-{kill_.number}"
    environment = checks.environment(root, temporary, token)
    known = checks.runs(root)
    began = time.monotonic()
    with open(folder / "killed.log", "w") as log:
        process = subprocess.Popen(
            dvc(kill_.stage), cwd=root, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    run = Run(process, root, kill_.stage, token)
    wait_for(run, kill_.moment, kill_.share, seconds, LONGEST_S)
    before = checks.recorded(root, kill_.stage)
    outcome.victims = kill(run, kill_.part, random.Random(f"{kill_.number} {kill_.share}"))
    outcome.killed_after_s = time.monotonic() - began
    if not outcome.victims:  # the stage was faster than its unkilled run; it still has to end well
        outcome.missed = True
        process.wait()
    outcome.gone_after_s, left = checks.wait_until_gone(run, temporary)
    outcome.faults += left
    process.wait()
    began = time.monotonic()
    with open(folder / "recovered.log", "w") as log:
        again = subprocess.Popen(
            dvc(kill_.stage), cwd=root, env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        status: int | None = again.wait(timeout=LONGEST_S)
    except subprocess.TimeoutExpired:
        status = None
        kill(Run(again, root, kill_.stage, token), "tree", random.Random())
        again.wait()
    outcome.recovery_s = time.monotonic() - began
    if status != 0:
        said = (folder / "recovered.log").read_text(errors="replace")[-3000:]
        outcome.faults.append(f"the second run ended with status {status} (None: not within {LONGEST_S} s): {said}")
        return outcome
    outcome.faults += checks.outputs(root, folder / "unkilled", kill_.stage)
    if kill_.stage in RL:
        outcome.faults += checks.iterations(root, kill_.stage, before, known)
    outcome.faults += checks.folders(root, temporary)
    return outcome


def main() -> int:
    """Parse the command line and kill."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first kill, to go on with an earlier draw")
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=STAGES)
    parser.add_argument("--parts", nargs="+", default=None, help="kill only these")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/kills"), help="a short path: sockets are made below")
    parser.add_argument("--out", type=Path, default=None, help="default: kills.jsonl in the folder")
    options = parser.parse_args()
    out_path = options.out or options.folder / "kills.jsonl"
    seconds = prepare(options.folder)
    faulty = done = 0
    for kill_ in draw(2 * (options.first + options.kills), options.stages, options.seed)[options.first :]:
        if done == options.kills:
            break
        if options.parts and kill_.part not in options.parts:
            continue
        outcome = attempt(kill_, options.folder, seconds[kill_.stage])
        faulty += bool(outcome.faults)
        done += not outcome.missed
        with open(out_path, "a", encoding="utf-8") as out:
            out.write(outcome.line() + "\n")
        print(re.sub(r"\s+", " ", outcome.line())[:600], flush=True)
    print(f"{done} kills, {faulty} with faults; the log is {out_path}")
    return int(faulty > 0)


if __name__ == "__main__":
    sys.exit(main())
