"""A draw that depends on a salt and on each id alone: not on the order of the ids, nor on which others there are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def draw(ids: Iterable[str], count: int, salt: object) -> list[str]:
    """The `count` ids with the lowest salted hash, lowest first; all of them when `count` is 0 or more than there are.

    Of two draws with one salt the larger begins with the smaller. Draws that must not depend on each other take
    different salts, such as the seed alone and the seed with a word.
    """
    ordered = sorted(set(ids), key=lambda id_: (draw_key(id_, salt), id_))
    return ordered[:count] if count else ordered


def draw_key(id_: str, salt: object) -> bytes:
    """The hash by which `draw` orders ids: 8 bytes of BLAKE2b."""
    return hashlib.blake2b(f"{salt}\0{id_}".encode(), digest_size=8).digest()


def draw_number(id_: str, salt: object) -> float:
    """The same hash as a number from 0 to below 1."""
    return int.from_bytes(draw_key(id_, salt), "big") / 2**64
