"""Problems too short to hold a question, or too long to be one."""

from __future__ import annotations

from compass.ledger import Drop, Reason
from compass.settings import Denoise


def too_short(record: dict, settings: Denoise) -> Drop | None:
    """Fewer characters than `denoise.min_problem_chars`."""
    length = len(record["problem"].strip())
    if length >= settings.min_problem_chars:
        return None
    return Drop(
        Reason.TOO_SHORT, {"characters": length, "limit": settings.min_problem_chars, "text": record["problem"]}
    )


def too_long(record: dict, settings: Denoise) -> Drop | None:
    """More characters than `denoise.max_problem_chars`."""
    length = len(record["problem"])
    if length <= settings.max_problem_chars:
        return None
    return Drop(Reason.TOO_LONG, {"characters": length, "limit": settings.max_problem_chars})
