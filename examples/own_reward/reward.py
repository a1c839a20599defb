"""An own reward: +1 for a right answer, less 0.02 per character beyond 20, at most 0.5; -1 for a wrong one.

rl:
  reward:
    function: examples.own_reward.reward:brief
"""

from collections.abc import Mapping
from typing import Any

from compass.golds import gold_of
from compass.verifier import judge

FREE, PRICE, MOST = 20, 0.02, 0.5
"""Characters that cost nothing, blanks not counted; what each further one costs; the most that is taken off."""


def brief(data_source: str, solution_str: str, ground_truth: str, extra_info: Mapping[str, Any]) -> dict[str, float]:
    """The reward of one response, and whether it is right."""
    gold = gold_of(ground_truth, extra_info.get("alternatives"), extra_info.get("tolerance"))
    right = judge(gold=gold, response=solution_str, question=extra_info.get("question")).equal
    beyond = max(0, len("".join(solution_str.split())) - FREE)
    return {"score": 1.0 - min(MOST, PRICE * beyond) if right else -1.0, "acc": float(right)}


def show() -> None:
    """Print what four responses to one question earn."""
    question, right = "What is 2+3?", r"So it is \boxed{5}."
    responses = {
        "short and right": right,
        "long and right": "Let us count once more. " * 40 + right,
        "wrong": r"So it is \boxed{6}.",
        "no answer": "I do not know.",
    }
    for name, response in responses.items():
        print(f"{name:16} {brief('example', response, '5', {'question': question})['score']:+.1f}")


if __name__ == "__main__":
    show()
