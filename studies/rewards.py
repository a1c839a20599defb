"""Rewards that the studies `graders` and `noisy-rewards` compare: functions with verl's signature (docs/guides/own_reward.md).

Graders judge golds that are written in several forms, as published sets have them; `tiny` writes them all as integers. Noise turns
verdicts of the pipeline's own verifier. Forms and noise depend on problem and response alone: the same response to the same problem
always earns the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from typing import Any

from compass.verifier import judge
from compass.verifier.extracting.boxes import find_boxes

FORMS = ("{gold}", "{gold}.0", r"\frac{{{twice}}}{{2}}", "{gold} pieces", r"$x = {gold}$")
"""A fifth of the golds is in each of these forms."""

Info = Mapping[str, Any]


def verifier(data_source: str, solution_str: str, ground_truth: str, extra_info: Info) -> dict[str, float]:
    """The pipeline's own verifier."""
    gold = rewrite_gold(ground_truth, extra_info)
    return _pay(judge(gold=gold, response=solution_str, question=extra_info.get("question")).equal)


def math_verify(data_source: str, solution_str: str, ground_truth: str, extra_info: Info) -> dict[str, float]:
    """Math-Verify (`pip install 'math-verify[antlr4_9_3]'`), given the gold in a box as verl's reward gives it.

    Its time limits are off: they need the main thread, and a reward runs in another. So it is not asked about powers, of which it would
    compute a tower to the end: such an answer is not paid.
    """
    if "^" in solution_str or "**" in solution_str:
        return _pay(False)
    from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

    gold = parse(
        f"\\boxed{{{rewrite_gold(ground_truth, extra_info)}}}", [LatexExtractionConfig()], parsing_timeout=None
    )
    answer = parse(solution_str, [ExprExtractionConfig(), LatexExtractionConfig()], parsing_timeout=None)
    return _pay(bool(gold and answer) and verify(gold, answer, timeout_seconds=None))


def exact_match(data_source: str, solution_str: str, ground_truth: str, extra_info: Info) -> dict[str, float]:
    """The content of the last box, letter by letter."""
    boxes = find_boxes(solution_str)
    return _pay(bool(boxes) and boxes[-1].content == rewrite_gold(ground_truth, extra_info))


def judge_with_noise(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Info,
    *,
    false_positives: float = 0.0,
    false_negatives: float = 0.0,
) -> dict[str, float]:
    """The pipeline's own verifier, but for a share of wrong responses that are paid and a share of right ones that are not (0 to 1)."""
    right = judge(gold=ground_truth, response=solution_str, question=extra_info.get("question")).equal
    is_turned = _draw(extra_info["id"], solution_str) < (false_negatives if right else false_positives)
    return _pay(right != is_turned)


false_positives_1 = partial(judge_with_noise, false_positives=0.01)
false_positives_5 = partial(judge_with_noise, false_positives=0.05)
false_positives_20 = partial(judge_with_noise, false_positives=0.2)
false_negatives_1 = partial(judge_with_noise, false_negatives=0.01)
false_negatives_5 = partial(judge_with_noise, false_negatives=0.05)
false_negatives_20 = partial(judge_with_noise, false_negatives=0.2)


def rewrite_gold(gold: str, extra_info: Info) -> str:
    """An integer in one of `FORMS`, by the problem's id; any other gold as it is."""
    if not gold.isascii() or not gold.isdigit():
        return gold
    form = FORMS[int(_draw(extra_info["id"]) * len(FORMS))]
    return form.format(gold=gold, twice=2 * int(gold))


def _draw(*parts: str) -> float:
    """A number from 0 to 1, 1 left out, by a hash of the parts."""
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=7).digest()) / 2**56


def _pay(right: bool) -> dict[str, float]:
    return {"score": 1.0 if right else -1.0, "acc": float(right)}
