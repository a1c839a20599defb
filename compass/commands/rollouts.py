"""`compass rollouts`: read the responses that an RL stage learned from.

compass rollouts --stage rl-2                              which iterations are kept, and how they went
compass rollouts --stage rl-2 --step 10 --wrong --level 4  the wrong responses of one to problems of level 4
compass rollouts --stage rl-2 --id 09b4855143605392        one problem over training
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from compass.commands import add_data_folder


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--stage", help="an RL stage, such as rl-2")
    which.add_argument("--file", type=Path, help="a file of rollouts, such as the samples that a guard left")
    parser.add_argument("--step", type=int, help="only those of this iteration")
    parser.add_argument("--id", help="only responses to this problem")
    parser.add_argument("--level", type=int, help="only problems of this level")
    verdict = parser.add_mutually_exclusive_group()
    verdict.add_argument("--wrong", dest="right", action="store_false", default=None, help="only wrong responses")
    verdict.add_argument("--right", dest="right", action="store_true", help="only right responses")
    parser.add_argument("--limit", type=int, metavar="N", help="show at most N (default: 10)")
    parser.add_argument("--json", action="store_true", help="print rows as JSON lines, all unless --limit")
    add_data_folder(parser, "a pipeline's data folder")


def run(args: argparse.Namespace) -> int:
    """Print the chosen rollouts, or the iterations that have some where nothing is chosen.

    Raises:
        UserError: there are none of that stage or iteration, or none that were asked for.
    """
    from compass.errors import UserError
    from compass.report.rollouts import choose_rollouts, find_rollouts, read_rollouts, rollout_lines, step_lines

    rows = read_rollouts([args.file] if args.file else find_rollouts(args.data, args.stage))
    chosen = choose_rollouts(rows, step=args.step, id_=args.id, level=args.level, right=args.right)
    if args.json:
        for row in chosen[: args.limit]:
            print(json.dumps(row, ensure_ascii=False))
        return 0
    if not args.file and all(one is None for one in (args.step, args.id, args.level, args.right, args.limit)):
        print("\n".join(step_lines(rows)))
        return 0
    if not chosen:
        raise UserError(f"none of {len(rows):,} rollouts is like that; leave out a choice")
    limit = 10 if args.limit is None else args.limit
    print("\n".join(rollout_lines(chosen[:limit])).lstrip("\n"))
    if len(chosen) > limit:
        print(f"\n{limit} of {len(chosen):,}; --limit shows more")
    return 0
