"""Loops compiled by numba where there are many texts, and run as they are where there are few."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

FEW = 500
"""Texts up to which nothing is compiled: importing numba and loading what it compiled takes a process half a second."""


@cache
def compiled(function: Callable[..., Any], *parts: Callable[..., Any]) -> Callable[..., Any]:
    """The function, compiled; numba is imported here and nowhere else.

    Args:
        function: what to compile.
        parts: functions of the same file that it calls.
    """
    import numba
    from numba.extending import register_jitable

    for part in parts:
        register_jitable(part)
    return numba.njit(cache=True, nogil=True)(function)
