"""A draw of problems that depends on the seed and on each problem's id alone, not on order or on the other problems."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def draw(ids: Iterable[str], count: int, seed: int) -> set[str]:
    """The `count` ids with the smallest seeded hash; all of them when `count` is 0 or not fewer than there are.

    Of two draws with one seed the larger holds the smaller.
    """
    found = set(ids)
    if not count or count >= len(found):
        return found
    return set(sorted(found, key=lambda name: (_hash(seed, name), name))[:count])


def _hash(seed: int, name: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0draw\0{name}".encode(), digest_size=8).digest()
