"""What makes training the same however many engines sample, and in whatever order responses end (`rl.rollout.reproducible`).

verl seeds each engine, so that a response depends on which engine drew it and on what was drawn before. Its buffer asks for two
groups in place of each that it leaves out and takes those that end first, so that the problems of an iteration depend on the
clock. Here a response has a seed of its own, a group that is left out is replaced by one, and a batch has the order
of the data.

Numbers are still added up in an order that the engine and the ranks choose: two runs agree to rounding, not to the last bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping

BEFORE = "sent_before"
"""With a problem goes how often the iteration had it before: a small set of problems comes round again."""


def response_seed(seed: int, *, step: int, problem: str, sample: int) -> int:
    """The seed of one response: a number below 2^63, the same in every run.

    Args:
        seed: the run's.
        step: the iteration that samples it.
        problem: the problem's id.
        sample: its number among the iteration's responses to the problem.
    """
    name = f"{seed} {step} {problem} {sample}".encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:8], "big") >> 1


def update_seed(seed: int, *, step: int) -> int:
    """The seed by which an iteration's responses are put into mini-batches: verl would take the same places in every iteration.

    Args:
        seed: the run's.
        step: the iteration.

    Returns:
        A number below 2^31; verl adds a rank's number to it.
    """
    return int.from_bytes(hashlib.sha256(f"{seed} {step} update".encode()).digest()[:4], "big") >> 1


class OneForOne:
    """Asks for as many groups as were left out of an iteration; verl asks for twice as many."""

    def __init__(self, refill: Callable[[int], object]) -> None:
        self._refill = refill
        self.owed = 0

    def __call__(self, asked: int) -> None:
        """Ask for the groups that are owed, of the `asked` that verl would take."""
        count = min(asked, self.owed)
        if count:
            self.owed -= count
            self._refill(count)


def order_keys(keys: Iterable[str], submitted: Mapping[str, object]) -> list[str]:
    """Keys of responses (`GROUP_SAMPLE_PART`) in the order of the data: as groups were submitted, then by sample.

    Args:
        keys: in any order.
        submitted: groups, in the order in which they were submitted.
    """
    place = {group: number for number, group in enumerate(submitted)}

    def position(key: str) -> tuple[int, ...]:
        group, *numbers = key.split("_")
        return place[group], *map(int, numbers)

    return sorted(keys, key=position)
