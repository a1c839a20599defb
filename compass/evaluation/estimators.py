"""What k samples per problem say about a model: avg@k, pass@k, maj@k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import comb

from compass.verifier import group_equal


def avg_at_k(correct: Sequence[bool]) -> float:
    """The share of samples that are right: an unbiased estimate of accuracy at the first try (pass@1)."""
    return sum(correct) / len(correct)


def pass_at_k(samples: int, right: int, k: int) -> float:
    """The chance that at least one of `k` samples is right, estimated without bias from `samples` of which `right` are.

    1 - C(samples - right, k) / C(samples, k): Chen et al. 2021, "Evaluating Large Language Models Trained on Code", eq. 1.

    Raises:
        ValueError: `k` is not between 1 and `samples`, or `right` not between 0 and `samples`.
    """
    if not 1 <= k <= samples or not 0 <= right <= samples:
        raise ValueError(f"pass@{k} cannot be estimated from {samples} samples with {right} right")
    return 1.0 - comb(samples - right, k) / comb(samples, k)


def maj_at_k(answers: Sequence[str | None], correct: Sequence[bool], equal: Callable[[str, str], bool]) -> float:
    """Whether the most frequent answer is right (Wang et al. 2022, self-consistency), 0..1.

    Samples without an answer have no vote. Right answers vote together, since all equal the gold; wrong ones with the
    first wrong answer they equal. Of several most frequent answers one is drawn, so that a tie counts by its chance.

    Args:
        answers: a problem's final answers.
        correct: which of them equal the gold.
        equal: whether two wrong answers are the same.
    """
    right = sum(correct)
    wrong = [answer for answer, is_right in zip(answers, correct, strict=True) if answer is not None and not is_right]
    votes = Counter(group_equal(wrong, equal))
    most = max([right, *votes.values()])
    if not right or right < most:
        return 0.0
    return 1.0 / (1 + sum(count == most for count in votes.values()))


def majority(group: Sequence[tuple[str | None, bool, bool]], equal: Callable[[str, str], bool]) -> float:
    """`maj_at_k` of one problem's responses: each its answer, and whether it is right by the strict and by the lenient rule."""
    answers, correct, _ = zip(*group, strict=True)
    return maj_at_k(answers, correct, equal)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of one value or more."""
    return sum(values) / len(values)


def reported_k(samples: int) -> list[int]:
    """The k of pass@k that are reported: powers of two below `samples`, and `samples` itself; 1 is accuracy."""
    powers = [2**power for power in range(1, samples.bit_length()) if 2**power < samples]
    return [*powers, samples] if samples > 1 else []
