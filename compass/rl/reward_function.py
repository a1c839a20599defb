"""The reward as verl calls it: +1 for an answer equal to the gold, -1 for any other (report equation 1), or a function of the user's.

A function of the user's is named by `rl.reward.function` and has verl's signature for reward functions:

    def reward(data_source: str, solution_str: str, ground_truth: str, extra_info: dict) -> float | Mapping[str, float]

It returns the reward, or a mapping with `score` (the reward) and `acc` (1 for a right response, 0 for any other). With a bare number
`acc` is the verifier's verdict: dynamic sampling leaves groups out by it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.golds import gold_of
from compass.named_function import load_function, source_file
from compass.verifier import judge

RESPONSE_TOKENS = "response_tokens"
"""The key of `extra_info` that has a response's length in tokens, in training."""

ARGUMENTS = ("data_source", "solution_str", "ground_truth", "extra_info")
"""By these names the function is called."""

_SIGNATURE = "define it as `def reward(data_source, solution_str, ground_truth, extra_info)`"
_RESULT = "return a finite number, or a mapping with finite `score` and `acc`"


class RewardError(UserError):
    """A reward function that cannot be used, or gave no reward; the message names it, what was found and what to do."""


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: dict[str, Any] | None = None,
    *,
    function: str = "",
    **_: Any,
) -> dict[str, Any]:
    """Score one response.

    Synchronous and safe in threads. Nothing a model writes makes it raise; an error here is a defect of the verifier
    and propagates, because a reward that is silently wrong for every sample is worse than a run that stops.

    Args:
        data_source: the problem's source; not used.
        solution_str: the whole response.
        ground_truth: the gold answer.
        extra_info: carries the problem's `id`, which travels on into the record of rewards, its text as `question`, from which
            no formula may be copied, the gold's `alternatives` and `tolerance`, and in training the response's length in tokens.
        function: a reward function of the user's, which then decides `score` and may decide `acc`.

    Returns:
        `score` (the reward; +1.0 or -1.0 without `function`), `acc` (1.0 or 0.0, what dynamic sampling filters groups by), `pred` (the answer
        read), `outcome` and `method` (the verifier's verdict and how it decided), `leaned` (names of the rules that a right
        verdict leans on, joined by commas) and `problem_id`.

    Raises:
        TypeError: no gold without a `function`, or a gold that is neither text nor a number.
    """
    if ground_truth is None and not function:
        raise TypeError("`ground_truth` must be text, found None: leave problems without a gold out")
    info = extra_info or {}
    known = str(ground_truth) if function and ground_truth is not None else ground_truth  # a function takes any gold
    gold = gold_of(known, info.get("alternatives"), info.get("tolerance"))
    judgement = judge(gold=gold, response=solution_str, question=info.get("question"))
    score, acc = (1.0, 1.0) if judgement.equal else (-1.0, 0.0)
    if function:
        scored = {"data_source": data_source, "solution_str": solution_str, "ground_truth": ground_truth}
        score, acc = score_by_function(function, judgement.equal, **scored, extra_info=info)
    return {
        "score": score,
        "acc": acc,
        "pred": judgement.answer or "",
        "outcome": str(judgement.verdict.outcome),
        "method": judgement.verdict.method,
        "leaned": ",".join(judgement.verdict.leniencies),
        "problem_id": info.get("id", ""),
    }


@cache
def load_reward(function: str) -> Callable[..., Any]:
    """Import the function.

    Args:
        function: `package.module:name`.

    Raises:
        RewardError: it cannot be imported, is not a plain function, or does not take the arguments.
    """
    return load_function(
        function, partial(reward_error, function), _SIGNATURE, ARGUMENTS, by_name=True, folder="rewards"
    )


def reward_file(function: str) -> Path:
    """The file that holds the function.

    Raises:
        RewardError: there is no such module.
    """
    return source_file(function, partial(reward_error, function), "rewards")


def score_by_function(function: str, right: bool, **arguments: Any) -> tuple[float, float]:
    """The reward and `acc` of one response by a user's function.

    Args:
        function: `package.module:name`.
        right: the verifier's verdict, for a function that returns a bare number.
        **arguments: `ARGUMENTS`.

    Raises:
        RewardError: it returned neither a finite number nor a mapping with two. What it raises itself propagates.
    """
    given = load_reward(function)(**arguments)
    score, acc = (given.get("score"), given.get("acc")) if isinstance(given, Mapping) else (given, float(right))
    for name, value in (("score", score), ("acc", acc)):
        if isinstance(value, str) or not _is_finite(value):
            raise reward_error(function, f"`{name}` is {value!r} in its result {given!r}", _RESULT)
    if float(acc) not in (0.0, 1.0):
        raise reward_error(function, f"`acc` is {acc!r}", "return 1 for a right response and 0 for any other")
    return float(score), float(acc)


def _is_finite(value: Any) -> bool:
    try:
        return math.isfinite(value)
    except TypeError:
        return False


def reward_error(function: str, found: str, remedy: str) -> RewardError:
    """The error to raise because of the function `package.module:name`."""
    return RewardError(f"`rl.reward.function` {function}: {found}", remedy)
