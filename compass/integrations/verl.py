"""`compute_score` as verl calls a custom reward function.

reward.custom_reward_function.path=pkg://compass.integrations.verl
reward.custom_reward_function.name=compute_score
"""

from __future__ import annotations

from typing import Any

from compass.verifier import Gold, Mode, judge


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None, **_: Any
) -> dict[str, Any]:
    """Score one response. Safe in threads; nothing that a model writes makes it raise.

    Args:
        data_source: not used.
        solution_str: the whole response.
        ground_truth: the gold.
        extra_info: may hold the problem's text as `question`: an answer copied from it earns nothing; and what else is right as
            `alternatives` (a list) and `tolerance` (`0.01` or `5%`).

    Returns:
        `score` (+1.0 or -1.0), `acc` (1.0 or 0.0) and `pred` (the answer that was read).
    """
    info = extra_info or {}
    alternatives, tolerance = info.get("alternatives"), info.get("tolerance")
    gold = Gold(str(ground_truth), () if alternatives is None else tuple(alternatives), tolerance or None)
    judgement = judge(gold=gold, response=solution_str, question=info.get("question"), mode=Mode.STRICT)
    right = float(judgement.equal)
    return {"score": 2 * right - 1, "acc": right, "pred": judgement.answer or ""}
