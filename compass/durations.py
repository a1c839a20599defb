"""Durations as a reader says them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """`45 s`, `1 min 20 s`, `2 h 05 min`; never less than `0 s`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
