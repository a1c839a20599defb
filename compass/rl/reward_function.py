"""The reward of report equation 1, as verl calls it: +1 for an answer equal to the gold, -1 for any other."""

from __future__ import annotations

from typing import Any

from compass.golds import gold_of
from compass.rl.own_reward import own_reward
from compass.verifier import judge


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
            no formula may be copied, and the gold's `alternatives` and `tolerance`.
        function: a reward function of the user's (`compass.rl.own_reward`), which then decides `score` and may decide `acc`.

    Returns:
        `score` (the reward; +1.0 or -1.0 without `function`), `acc` (1.0 or 0.0, what dynamic sampling filters groups by), `pred` (the answer
        read), `outcome` and `method` (the verifier's verdict and how it decided), `leaned` (names of the rules that a right
        verdict leans on, joined by commas) and `problem_id`.
    """
    info = extra_info or {}
    gold = gold_of(str(ground_truth), info.get("alternatives"), info.get("tolerance"))
    judgement = judge(gold=gold, response=solution_str, question=info.get("question"))
    score, acc = (1.0, 1.0) if judgement.equal else (-1.0, 0.0)
    if function:
        scored = {"data_source": data_source, "solution_str": solution_str, "ground_truth": ground_truth}
        score, acc = own_reward(function, judgement.equal, **scored, extra_info=info)
    return {
        "score": score,
        "acc": acc,
        "pred": judgement.answer or "",
        "outcome": str(judgement.verdict.outcome),
        "method": judgement.verdict.method,
        "leaned": ",".join(judgement.verdict.leniencies),
        "problem_id": info.get("id", ""),
    }
