"""`compass rollouts`: read the responses that an RL stage learned from."""

from __future__ import annotations

import json as json_lines
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter, validators

from compass.errors import UserError

VERDICT = Group("Verdict", validator=validators.MutuallyExclusive())


def rollouts(
    stage: str | None = None,
    /,
    *,
    file: Path | None = None,
    step: int | None = None,
    id: str | None = None,
    level: int | None = None,
    wrong: Annotated[bool, Parameter(group=VERDICT)] = False,
    right: Annotated[bool, Parameter(group=VERDICT)] = False,
    limit: int | None = None,
    json: bool = False,
    data: Path = Path("data"),
) -> int:
    """Read the responses that an RL stage learned from, with verdict, reward and advantage.

    With a stage alone, the iterations whose rollouts are kept are listed; every other option chooses responses to show.

    Args:
        stage: an RL stage, such as rl-2.
        file: a file of rollouts instead, such as the samples that a guard left.
        step: only those of this iteration.
        id: only responses to this problem.
        level: only problems of this level.
        wrong: only wrong responses.
        right: only right responses.
        limit: show at most so many (without it, 10).
        json: print rows as JSON lines, all of them unless `--limit` is given.
        data: a pipeline's data folder.

    Raises:
        UserError: there are none of that stage or iteration, or none that were asked for.

    Examples:
        compass rollouts rl-2                              which iterations are kept, and how they went
        compass rollouts rl-2 --step 10 --wrong --level 4  the wrong responses of one to problems of level 4
        compass rollouts rl-2 --id 09b4855143605392        one problem over training
    """
    from compass.page.terminal import print_blocks
    from compass.report.rollouts import (
        choose_rollouts,
        find_rollouts,
        read_problems,
        read_rollouts,
        show_groups,
        steps_table,
    )

    if (stage is None) == (file is None):
        raise UserError("give either STAGE or --file FILE")
    verdict = True if right else False if wrong else None
    rows = read_rollouts([file] if file else find_rollouts(data, stage))
    chosen = choose_rollouts(rows, step=step, id_=id, level=level, right=verdict)
    if json:
        for row in chosen[:limit]:
            print(json_lines.dumps(row, ensure_ascii=False))
        return 0
    if not file and all(one is None for one in (step, id, level, verdict, limit)):
        print_blocks([steps_table(rows)])
        return 0
    if not chosen:
        raise UserError(f"none of {len(rows):,} rollouts is like that; leave out a choice")
    limit = 10 if limit is None else limit
    problems = read_problems(data, (row["id"] for row in chosen[:limit]))
    print_blocks([show_groups(chosen[:limit], problems)])
    if len(chosen) > limit:
        print(f"\n{limit} of {len(chosen):,}; --limit shows more")
    return 0
