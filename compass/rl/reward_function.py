"""The reward of report equation 1, as verl calls it: +1 for an answer equal to the gold, -1 for any other."""

from __future__ import annotations

from typing import Any

from compass.verifier.verl_reward import compute_score as score


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None, **_: Any
) -> dict[str, Any]:
    """Score one response.

    Args:
        data_source: the problem's source; not used.
        solution_str: the whole response.
        ground_truth: the gold answer.
        extra_info: carries the problem's `id`, which travels on into the record of rewards.

    Returns:
        `score` (+1 or -1), `acc` (1 or 0), `pred` (the extracted answer) and `problem_id`.
    """
    result = score(data_source, solution_str, ground_truth, extra_info)
    return {**result, "problem_id": (extra_info or {}).get("id", "")}
