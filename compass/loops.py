"""Whether a response ends in a loop: one rule for its text, and for its tokens during training."""

from __future__ import annotations

REPEATS = 4
"""How often a passage stands at the end, one directly after the other, before it is a loop."""

LEAST = 200
"""Characters that the repetitions cover at least: a row of equal digits, dots or table cells is no loop."""

LONGEST = 2_000
"""Characters of the longest passage that is looked for."""

_PROBE = 12


def ends_in_loop(text: str, *, least: int = LEAST, longest: int = LONGEST) -> bool:
    """Whether the text's end is one passage, standing there at least `REPEATS` times over at least `least` characters.

    The last repetition may be cut off, as `max_tokens` does. A loop that the response left again does not count.

    Args:
        text: a response, or its tokens as one character each.
        least: characters that the repetitions cover at least.
        longest: characters of the longest passage that is looked for.
    """
    tail = text[-max(least, REPEATS * longest) :]
    if len(tail) < least:
        return False
    probe = tail[-_PROBE:]
    place = len(tail) - _PROBE
    while (place := tail.rfind(probe, 0, place + _PROBE - 1)) >= 0:
        period = len(tail) - _PROBE - place
        covered = max(least, REPEATS * period)
        if period > longest or covered > len(tail):
            return False
        if tail[-covered + period :] == tail[-covered:-period]:
            return True
    return False
