"""What a noise filter finds in a problem: the reason, how sure it is, and the span of text that says so."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from compass.curation.noise.text import excerpt
from compass.ledger import Drop


class Strength(StrEnum):
    """How sure a filter is, weakest first; a class of evidence, not a probability.

    - `possible`: the words stand as often in a whole problem as in a damaged one.
    - `likely`: a whole problem seldom says this, and nothing in the text speaks against it.
    - `sure`: the text itself shows the defect, such as printed options or drawing code.
    """

    POSSIBLE = "possible"
    LIKELY = "likely"
    SURE = "sure"

    @property
    def rank(self) -> int:
        """0 for the weakest."""
        return _ORDER.index(self)


_ORDER = list(Strength)


@dataclass(frozen=True)
class Finding:
    """What a filter `(record, settings) -> Finding | None` returns against a row.

    `evidence` is JSON: `text`, an excerpt around the match, `span`, its first character and the one after its last in
    the record's field, `field` where that is not `problem`, and what else a person needs to check the finding.
    """

    reason: str
    strength: Strength
    evidence: dict[str, Any] = field(default_factory=dict)

    def drops(self, strictness: str) -> bool:
        """Whether the finding is at least as strong as `denoise.strictness`."""
        return self.strength.rank >= Strength(strictness).rank

    def as_drop(self) -> Drop:
        """The finding as the ledger keeps it."""
        return Drop(self.reason, {"strength": str(self.strength), **self.evidence})

    def as_dict(self) -> dict[str, Any]:
        """The finding as the column `findings` keeps it."""
        return {"reason": str(self.reason), "strength": str(self.strength), "evidence": self.evidence}


def found(
    reason: str, strength: Strength, record: dict, match: re.Match[str], in_field: str = "problem", **more: Any
) -> Finding:
    """A finding whose evidence is a match in a field of the record, or in a text of the same length."""
    where = {} if in_field == "problem" else {"field": in_field}
    start, end = match.span()
    return Finding(
        reason,
        strength,
        {**more, **where, "text": excerpt(record[in_field], start, end), "span": [start, end]},
    )


def findings_column(findings: Iterable[Finding]) -> str | None:
    """The value of the column `findings`: a JSON list of findings, null for none."""
    listed = [finding.as_dict() for finding in findings]
    return json.dumps(listed, ensure_ascii=False, sort_keys=True) if listed else None
