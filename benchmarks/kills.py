"""Kill random parts of a running pipeline at random moments, and see whether the next `dvc repro` makes it good.

    make kills                                    # thirty kills in every stage: about 40 minutes on two idle cores
    python benchmarks/kills.py --kills 5 --stages rl-1 grade --seed 7 --folder /tmp/kills --out kills.jsonl

Each trial (`benchmarks/trials.py`) starts `dvc repro --single-item STAGE`, kills a part of it, and runs it again. Drawn by `--seed`:
the stage, what is killed (`benchmarks/kills_victims.py`) and when. After each kill (`benchmarks/trial_checks.py`):

1. within 20 s no process of the run is left, and nothing in its temporary folder;
2. the second run ends well, without training again what had a checkpoint;
3. its outputs are those of the unkilled run: byte by byte for the stages that only compute, complete for models;
4. MLflow has each iteration of an RL stage once in the run that finished.

Each kill is a line of a table, and a JSON line in `--out`, where it is found again: started once more, the same command goes on with
those that are missing. A kill that came too late is `missed`, and another is drawn. The exit status is 1 if any kill has faults.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import trial_checks as checks
import trials
from kills_victims import PARTS, Run, kill, moments, wait_for


@dataclass(frozen=True)
class Kill:
    """One kill as drawn: `moment` is an event or, as `time`, a share of the stage's unkilled duration."""

    number: int
    stage: str
    part: str
    moment: str
    share: float

    @property
    def what(self) -> str:
        return f"{self.part}, {self.moment}"


def draw(count: int, stages: Sequence[str], seed: int) -> list[Kill]:
    """`count` kills: every stage in turn and as many RL stages again, each part of a stage once before one comes again."""
    chance = random.Random(seed)
    trained = [stage for stage in stages if stage in trials.RL]
    bags: dict[str, list[str]] = {"rl": [], "other": []}
    kills: list[Kill] = []
    turns: list[str] = []
    while len(kills) < count:
        if not turns:
            turns = [*stages, *trained]
            chance.shuffle(turns)
        stage = turns.pop()
        kind = "rl" if stage in trials.RL else "other"
        if not bags[kind]:
            bags[kind] = list(PARTS[kind])
            chance.shuffle(bags[kind])
        part = bags[kind].pop()
        moment = chance.choice(moments(kind, part))
        kills.append(Kill(len(kills), stage, part, moment, chance.uniform(0.05, 0.95)))
    return kills


def attempt(drawn: Kill, seconds: float, folder: Path) -> trials.Outcome:
    """Run one stage, kill it, run it again, and check."""
    outcome = trials.Outcome(drawn)
    root, temporary = trials.restore(folder, drawn.stage), folder / "tmp"
    token = f"kill-{time.time_ns()}-{drawn.number}"
    variables = trials.environment(root, temporary, token)
    known = checks.runs(root)
    began = time.monotonic()
    process = trials.start(trials.dvc(drawn.stage), root, variables, folder / "killed.log")
    run = Run(process, root, drawn.stage, token)
    wait_for(run, drawn.moment, drawn.share, seconds, trials.LONGEST_S)
    before = checks.recorded(root, drawn.stage)
    outcome.victims = kill(run, drawn.part, random.Random(f"{drawn.number} {drawn.share}"))
    outcome.after_s = time.monotonic() - began
    if not outcome.victims:  # the stage was faster than its unkilled run; it still has to end well
        outcome.missed = True
        process.wait()
    outcome.gone_s, outcome.faults = trials.wait_until_gone(root, token)
    process.wait()
    outcome.recovery_s, again = trials.run_again(trials.dvc(drawn.stage), root, variables, folder / "recovered.log")
    outcome.faults += again or checks.check(root, folder / "unkilled", drawn.stage, before, known, temporary)
    return outcome


def main() -> int:
    """Parse the command line and kill."""
    parser = trials.parse(__doc__ or "", "kills", 30)
    parser.add_argument("--parts", nargs="+", default=None, help="kill only these")
    options = parser.parse_args()
    drawn = draw(20 * options.count, options.stages, options.seed)
    wanted = [one for one in drawn if not options.parts or one.part in options.parts]
    return trials.run_trials(wanted, lambda one, seconds: attempt(one, seconds, options.folder), options)


if __name__ == "__main__":
    sys.exit(main())
