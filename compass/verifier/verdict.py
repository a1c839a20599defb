"""What the verifier answers: an outcome, the tier that decided, and why."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from compass.verifier.leniency import Leniency


class Outcome(StrEnum):
    """The three answers. `unrecognised` never earns a reward: what cannot be read is never equal."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNRECOGNISED = "unrecognised"


class Verdict(NamedTuple):
    """The outcome of one comparison.

    `method` names the tier that decided: `text`, `rational`, `structure`, `algebra`, `numeric`, `sympy`, `budget`.
    `detail` says why in a few words, for a person. `leniencies` names the rules that an `equal` verdict leans on; a verdict
    without them is one that a strict reader would give too.
    """

    outcome: Outcome
    method: str
    detail: str = ""
    leniencies: tuple[Leniency, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether the answer earns a reward."""
        return self.outcome is Outcome.EQUAL


class Finding(NamedTuple):
    """What a comparison found: `same` is None where nothing decided; then `detail` says why."""

    same: bool | None
    method: str
    detail: str = ""
