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
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from compass.errors import UserError

ARGUMENTS = ("data_source", "solution_str", "ground_truth", "extra_info")
"""By these names the function is called."""


class RewardError(UserError):
    """A reward function that cannot be used, or gave no reward; the message names it, what was found and what to do."""


def source_file(function: str) -> Path:
    """The file of the module in `module:function`, found by importing no more than the packages that hold it.

    Raises:
        RewardError: there is no such module.
    """
    module = function.partition(":")[0]
    try:
        found = importlib.util.find_spec(module)
    except Exception as error:  # whatever a package of the user's raises
        raise RewardError(told(function, f"the module {module} cannot be imported ({error})", _PLACE)) from error
    if found is None or not found.has_location or found.origin is None:
        raise RewardError(told(function, f"there is no module {module}", _PLACE))
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
            told(function, f"importing it raised {type(error).__name__}: {error}", "mend the module")
        ) from error
    if not callable(found) or inspect.iscoroutinefunction(found):
        what = "is async" if callable(found) else f"has no function {name}"
        raise RewardError(told(function, f"{Path(sys.modules[module].__file__ or module).name} {what}", _SIGNATURE))
    try:
        inspect.signature(found).bind(**dict.fromkeys(ARGUMENTS))
    except TypeError as error:
        raise RewardError(
            told(function, f"its arguments are not those it is called with ({error})", _SIGNATURE)
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
            raise RewardError(told(function, f"`{name}` is {value!r} in its result {given!r}", _RESULT))
    if float(acc) not in (0.0, 1.0):
        raise RewardError(told(function, f"`acc` is {acc!r}", "return 1 for a right response and 0 for any other"))
    return float(score), float(acc)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False


def told(function: str, found: str, remedy: str) -> str:
    """What a `RewardError` says of the function `package.module:name`."""
    return f"`rl.reward.function` {function}: {found}. To do: {remedy}"


_PLACE = "put the file where Python finds it, such as `rewards/mine.py` in the repository, and name it `rewards.mine:function`"
_SIGNATURE = "define it as `def reward(data_source, solution_str, ground_truth, extra_info)`"
_RESULT = "return a finite number, or a mapping with finite `score` and `acc`"
