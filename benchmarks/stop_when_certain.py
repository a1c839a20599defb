"""What `grade.stop_when_certain` saves and changes, on the solve rates of a real model.

    python benchmarks/stop_when_certain.py acc_history.jsonl.gz

Reads JSON lines with `acc`: per problem a list of shares of right rollouts, each of 8 rollouts, in the order in which they were sampled.
The last 64 rollouts of a problem are its full grading; those before them, as many, are a second one, which says how far two full gradings
differ. Levels are those of `grade.thresholds` as they are by default.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

from compass.grading.levels import LOOK, level_probability, threshold_level
from compass.settings import Grade

ROLLOUTS = 64
SHARES = (0.8, 0.9, 0.95, 0.99)


def main() -> None:
    """Read the file and print the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path)
    file = options.parse_args().file
    with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8") as lines:
        problems = [[round(share * LOOK) for share in json.loads(line)["acc"]] for line in lines]
    print(render(problems))


def render(problems: Sequence[Sequence[int]]) -> str:
    """The table, from the right rollouts of every look of every problem."""
    looks, thresholds = ROLLOUTS // LOOK, Grade().thresholds
    problems = [one for one in problems if len(one) >= 2 * looks]
    full = [threshold_level(sum(one[-looks:]) / ROLLOUTS, thresholds) for one in problems]
    again = [threshold_level(sum(one[-2 * looks : -looks]) / ROLLOUTS, thresholds) for one in problems]
    lines = [
        f"{len(problems):,} problems, {ROLLOUTS} rollouts each; two full gradings give {_apart(full, again):.1%} of problems another level.",
        "",
        "| `stop_when_certain` | rollouts saved | levels that differ from full grading |",
        "| ---: | ---: | ---: |",
    ]
    for share in SHARES:
        ended = [stop(one[-looks:], share, thresholds) for one in problems]
        saved = 1 - sum(count for count, _ in ended) / (ROLLOUTS * len(problems))
        lines.append(f"| {share} | {saved:.0%} | {_apart(full, [level for _, level in ended]):.1%} |")
    return "\n".join(lines)


def stop(rights: Sequence[int], share: float, thresholds: Sequence[float]) -> tuple[int, int]:
    """Rollouts until a problem's level is certain, and that level."""
    right = rollouts = 0
    for more in rights:
        right, rollouts = right + more, rollouts + LOOK
        if level_probability(right, rollouts, thresholds) >= share:
            break
    return rollouts, threshold_level(right / rollouts, thresholds)


def _apart(levels: Sequence[int], others: Sequence[int]) -> float:
    return sum(one != other for one, other in zip(levels, others, strict=True)) / len(levels)


if __name__ == "__main__":
    main()
