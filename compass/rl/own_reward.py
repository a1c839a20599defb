"""A reward function of the user's, named by `rl.reward.function`: found, checked, and called as the pipeline's own is.

It has verl's signature for reward functions:

    def reward(data_source: str, solution_str: str, ground_truth: str, extra_info: dict) -> float | Mapping[str, float]

and returns the reward, or a mapping with `score` (the reward) and `acc` (1 for a right response, 0 for any other). With a bare number
`acc` is the verifier's verdict: dynamic sampling leaves groups out by it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from compass.errors import UserError

ARGUMENTS = ("data_source", "solution_str", "ground_truth", "extra_info")
"""By these names the function is called."""


class RewardError(UserError):
    """A reward function that cannot be used, or gave no reward; the message names it, what was found and what to do."""


def source_file(function: str) -> Path:
    """The file of the module in `module:function`, found without running it.

    Raises:
        RewardError: there is no such module.
    """
    module = function.partition(":")[0]
    try:
        found = importlib.util.find_spec(module)
    except (ImportError, ValueError) as error:
        raise RewardError(_told(function, f"the module {module} cannot be imported ({error})", _PLACE)) from error
    if found is None or not found.has_location or found.origin is None:
        raise RewardError(_told(function, f"there is no module {module}", _PLACE))
    return Path(found.origin)


@cache
def load(function: str) -> Callable[..., Any]:
    """Import the function.

    Args:
        function: `package.module:name`.

    Raises:
        RewardError: it cannot be imported, is not a plain function, or does not take the arguments.
    """
    module, _, name = function.partition(":")
    source_file(function)
    try:
        found = getattr(importlib.import_module(module), name, None)
    except Exception as error:  # whatever a user's module raises at its top
        raise RewardError(
            _told(function, f"importing it raised {type(error).__name__}: {error}", "mend the module")
        ) from error
    if not callable(found) or inspect.iscoroutinefunction(found):
        what = "is async" if callable(found) else f"has no function {name}"
        raise RewardError(_told(function, f"{Path(sys.modules[module].__file__ or module).name} {what}", _SIGNATURE))
    try:
        inspect.signature(found).bind(**dict.fromkeys(ARGUMENTS))
    except TypeError as error:
        raise RewardError(
            _told(function, f"its arguments are not those it is called with ({error})", _SIGNATURE)
        ) from error
    return found


def own_reward(function: str, right: bool, **arguments: Any) -> tuple[float, float]:
    """The reward and `acc` of one response by a user's function.

    Args:
        function: `package.module:name`.
        right: the verifier's verdict, for a function that returns a bare number.
        **arguments: `ARGUMENTS`.

    Raises:
        RewardError: it returned neither a finite number nor a mapping with two. What it raises itself propagates.
    """
    given = load(function)(**arguments)
    score, acc = (given.get("score"), given.get("acc")) if isinstance(given, Mapping) else (given, float(right))
    for name, value in (("score", score), ("acc", acc)):
        if isinstance(value, str) or not _is_finite(value):
            raise RewardError(_told(function, f"`{name}` is {value!r} in its result {given!r}", _RESULT))
    if not 0 <= float(acc) <= 1:
        raise RewardError(_told(function, f"`acc` is {acc!r}", "return 1 for a right response and 0 for any other"))
    return float(score), float(acc)


def check_known(function: str, *, compare: bool = True) -> None:
    """Call the function with known answers, before anything is started.

    Args:
        function: `package.module:name`.
        compare: compare what it pays for right and wrong answers too.

    Raises:
        RewardError: it cannot be used, raises, or, with `compare`, does not pay the right answer more than every wrong one.
    """
    from compass.rl.reward_canary import CANARIES, EXTRA_INFO
    from compass.rl.reward_function import compute_score

    load(function)
    paid = []
    for response, gold, _ in CANARIES:
        try:
            paid.append(compute_score("canary", response, gold, dict(EXTRA_INFO), function=function)["score"])
        except RewardError:
            raise
        except Exception as error:  # whatever a user's function raises
            found = f"with the response {response!r} and the gold {gold!r} it raised {type(error).__name__}: {error}"
            raise RewardError(
                _told(function, found, "return a reward for every response, an empty one included")
            ) from error
    if compare and (seen := underpaid(paid)):
        raise RewardError(_told(function, seen, _CANARY))


def underpaid(rewards: Sequence[float]) -> str | None:
    """The first wrong answer that is paid as much as the right one; None where there is none.

    Args:
        rewards: of the answers of `CANARIES`, in their order; the first is right in every sense.
    """
    from compass.rl.reward_canary import CANARIES

    for (response, gold, known), reward in zip(CANARIES, rewards, strict=True):
        if known < 0 and not reward < rewards[0]:
            right = f"the right response {CANARIES[0][0]!r} gets {rewards[0]:+g}"
            return f"the wrong response {response!r} (gold {gold!r}) gets {reward:+g}, and {right}"
    return None


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False


def _told(function: str, found: str, remedy: str) -> str:
    return f"`rl.reward.function` {function}: {found}. To do: {remedy}"


_PLACE = "put the file where Python finds it, such as `rewards/mine.py` in the repository, and name it `rewards.mine:function`"
_SIGNATURE = "define it as `def reward(data_source, solution_str, ground_truth, extra_info)`"
_CANARY = "pay a right answer more than a wrong one, or set `rl.guards.reward_canary.level: off` where that is meant"
_RESULT = "return a finite number, or a mapping with finite `score` and `acc`"
