"""Whether reward functions of the user's can be called, and pay a right answer more than a wrong one."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from compass.preflight.problem import Problem
from compass.settings import Settings


def reward_problems(settings: Settings, root: Path) -> list[Problem]:
    """What is wrong with the functions that `rl.reward.function` names, shared or of a stage.

    Their modules are imported from the repository's root, as a stage imports them.
    """
    functions = {}
    for name, stage in settings.rl.stages.items():
        if stage.reward.function and stage.guards.reward_canary.level == "stop":
            functions.setdefault(stage.reward.function, name)
    if not functions:
        return []
    from compass.rl.own_reward import RewardError, check_known

    found = []
    sys.path.insert(0, str(root.resolve()))
    importlib.invalidate_caches()
    try:
        for function, name in functions.items():
            try:
                check_known(function)
            except RewardError as error:
                seen, _, remedy = str(error).partition(". To do: ")
                where = "rl" if settings.rl.reward.function == function else f"rl.stages.{name}"
                found.append(Problem(f"{where}.reward.function", seen.partition(": ")[2], remedy))
    finally:
        sys.path.remove(str(root.resolve()))
    return found
