"""verl's entry point: `reward.custom_reward_function.path` names this file, `name` is `compute_score`."""

from __future__ import annotations

from typing import Any

from compass.verifier.extract import extract_answer
from compass.verifier.verify import verify


def compute_score(
    data_source: str, solution_str: str, ground_truth: str, extra_info: dict[str, Any] | None = None, **_: Any
) -> dict[str, float | str]:
    """Score one response.

    Synchronous and safe in threads. Nothing a model writes makes it raise; an error here is a defect of the verifier
    and propagates, because a reward that is silently wrong for every sample is worse than a run that stops.

    Returns:
        `score` (±1.0, the reward), `acc` (0.0 or 1.0, what dynamic sampling filters groups by), `pred` (the answer read).
    """
    answer = extract_answer(solution_str)
    right = answer is not None and verify(gold=str(ground_truth), answer=answer).equal
    return {"score": 1.0 if right else -1.0, "acc": 1.0 if right else 0.0, "pred": answer or ""}
