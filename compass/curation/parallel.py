"""Work on all cores whose result never depends on how many there are."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from compass.machine import cores


def in_threads(function: Callable[[Any], Any], items: Iterable[Any], workers: int = 0) -> Iterator[Any]:
    """`map` on threads, in order, for compiled functions that hold no lock; few results wait at any time."""
    with ThreadPoolExecutor(workers or cores()) as pool:
        yield from _ordered(pool, function, items, workers or cores())


def in_processes(function: Callable[[Any], Any], items: Iterable[Any], workers: int = 0) -> Iterator[Any]:
    """`map` on fresh processes, in order, for Python functions; in this process when there is one core.

    Processes are spawned, not forked: a forked copy of Arrow's and numba's thread pools can hang.
    """
    workers = workers or cores()
    if workers == 1:
        yield from map(function, items)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from _ordered(pool, function, items, workers)


def _ordered(
    pool: ThreadPoolExecutor | ProcessPoolExecutor, function: Callable[[Any], Any], items: Iterable[Any], workers: int
) -> Iterator[Any]:
    waiting: list[Future] = []
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) > 2 * workers:
            yield waiting.pop(0).result()
    while waiting:
        yield waiting.pop(0).result()
