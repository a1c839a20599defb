"""Problems too short to hold a question, or too long to be one."""

from __future__ import annotations

from compass.curation.noise.finding import Finding, Strength
from compass.ledger import Reason
from compass.settings import Denoise


def too_short(record: dict, settings: Denoise) -> Finding | None:
    """Fewer characters than `denoise.min_problem_chars`."""
    length = len(record["problem"].strip())
    if length >= settings.min_problem_chars:
        return None
    return Finding(
        Reason.TOO_SHORT,
        Strength.SURE,
        {"characters": length, "limit": settings.min_problem_chars, "text": record["problem"]},
    )


def too_long(record: dict, settings: Denoise) -> Finding | None:
    """More characters than `denoise.max_problem_chars`."""
    length = len(record["problem"])
    if length <= settings.max_problem_chars:
        return None
    return Finding(Reason.TOO_LONG, Strength.SURE, {"characters": length, "limit": settings.max_problem_chars})
