"""Python functions on all cores, with results that never depend on how many cores there are."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import connection
from typing import Any

from compass.machine import cores


def in_processes(start: Callable[[], Callable[[Any], Any]], items: Iterable[Any], workers: int = 0) -> Iterator[Any]:
    """`map(start(), items)` on fresh processes, in order; few results wait at any time.

    Processes are spawned, not forked: a forked copy of Arrow's and numba's thread pools can hang.

    Args:
        start: called once in each process, for the function that is mapped: what it prepares is not sent with every item.
        items: arguments; they and the results are pickled.
        workers: processes; 0 takes one per core, and 1 works in this process.
    """
    workers = workers or cores()
    if workers == 1:
        yield from map(start(), items)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=context, initializer=_prepare, initargs=(start,)) as pool:
        waiting: list[Future] = []
        for item in items:
            waiting.append(pool.submit(_apply, item))
            if len(waiting) > 2 * workers:
                yield waiting.pop(0).result()
        while waiting:
            yield waiting.pop(0).result()


_function: Callable[[Any], Any]


def _prepare(start: Callable[[], Callable[[Any], Any]]) -> None:
    global _function
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _function = start()


def _end_with_parent() -> None:
    """End this process when its parent is gone: a killed parent closes no queue, and its workers would wait for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)


def _apply(item: Any) -> Any:
    return _function(item)
