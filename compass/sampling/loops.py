"""Responses whose text ends in a loop: one passage over and over."""

from __future__ import annotations

REPEATS = 4
"""How often a passage stands at a text's end, one directly after the other, before it is a loop."""

LEAST = 200
"""Characters that the repetitions cover at least: a row of equal digits, dots or table cells is no loop."""

LONGEST = 2_000
"""Characters of the longest passage that is looked for."""

_PROBE = 12


def ends_in_loop(text: str) -> bool:
    """Whether the text's end is one passage, standing there at least `REPEATS` times over at least `LEAST` characters.

    The last repetition may be cut off, as `max_tokens` does. A loop that the response left again does not count.
    `compass.rl.metrics.find_loops` applies the same rule to tokens during training.
    """
    tail = text[-max(LEAST, REPEATS * LONGEST) :]
    if len(tail) < LEAST:
        return False
    probe = tail[-_PROBE:]
    place = len(tail) - _PROBE
    while (place := tail.rfind(probe, 0, place + _PROBE - 1)) >= 0:
        period = len(tail) - _PROBE - place
        covered = max(LEAST, REPEATS * period)
        if period > LONGEST or covered > len(tail):
            return False
        if tail[-covered + period :] == tail[-covered:-period]:
            return True
    return False
