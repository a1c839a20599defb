"""The reward of report equation 1, as verl calls it: +1 for an answer equal to the gold, -1 for any other."""

from __future__ import annotations

from typing import Any

from compass.golds import gold_of
from compass.verifier import judge


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None, **_: Any
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

    Returns:
        `score` (+1.0 or -1.0, the reward), `acc` (1.0 or 0.0, what dynamic sampling filters groups by), `pred` (the answer
        read), `outcome` and `method` (the verifier's verdict and how it decided), `leaned` (names of the rules that a right
        verdict leans on, joined by commas) and `problem_id`.
    """
    info = extra_info or {}
    gold = gold_of(str(ground_truth), info.get("alternatives"), info.get("tolerance"))
    judgement = judge(gold=gold, response=solution_str, question=info.get("question"))
    return {
        "score": 1.0 if judgement.equal else -1.0,
        "acc": 1.0 if judgement.equal else 0.0,
        "pred": judgement.answer or "",
        "outcome": str(judgement.verdict.outcome),
        "method": judgement.verdict.method,
        "leaned": ",".join(judgement.verdict.leniencies),
        "problem_id": info.get("id", ""),
    }
