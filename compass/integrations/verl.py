"""`compute_score` as verl calls a custom reward function.

reward.custom_reward_function.path=pkg://compass.integrations.verl
reward.custom_reward_function.name=compute_score
"""

from __future__ import annotations

from typing import Any

from compass.verifier import Mode, judge


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None, **_: Any
) -> dict[str, Any]:
    """Score one response. Safe in threads; nothing that a model writes makes it raise.

    Args:
        data_source: not used.
        solution_str: the whole response.
        ground_truth: the gold.
        extra_info: may hold the problem's text as `question`: an answer copied from it earns nothing.

    Returns:
        `score` (+1.0 or -1.0), `acc` (1.0 or 0.0) and `pred` (the answer that was read).
    """
    question = (extra_info or {}).get("question")
    judgement = judge(gold=str(ground_truth), response=solution_str, question=question, mode=Mode.STRICT)
    right = float(judgement.equal)
    return {"score": 2 * right - 1, "acc": right, "pred": judgement.answer or ""}
