"""Whether reward functions of the user's can be called, and pay a right answer more than a wrong one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from compass.preflight.problem import Problem
from compass.settings import Settings


def reward_problems(settings: Settings, root: Path) -> list[Problem]:
    """What is wrong with the functions that `rl.reward.function` names, shared or of a stage.

    Their modules are imported from the repository's root, as a stage imports them. What they pay is compared where the guard
    `reward_canary` would stop a stage.
    """
    functions: dict[str, tuple[str, bool]] = {}
    for name, stage in settings.rl.stages.items():
        if function := stage.reward.function:
            first, compare = functions.get(function, (name, False))
            functions[function] = first, compare or stage.guards.reward_canary.level == "stop"
    if not functions:
        return []
    from compass.rl.reward_canary import check_known
    from compass.rl.reward_function import RewardError

    found = []
    sys.path.insert(0, str(root.resolve()))
    importlib.invalidate_caches()
    try:
        for function, (name, compare) in functions.items():
            try:
                check_known(function, compare=compare)
            except RewardError as error:
                seen, _, remedy = str(error).partition(". To do: ")
                where = "rl" if settings.rl.reward.function == function else f"rl.stages.{name}"
                found.append(Problem(f"{where}.reward.function", seen.partition(": ")[2], remedy))
    finally:
        sys.path.remove(str(root.resolve()))
    return found
