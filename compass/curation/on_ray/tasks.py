"""Ray tasks over many pieces: in order, few at a time, and with results dealt out to partitions.

Each task declares `memory` bytes of heap, so that Ray starts no more of them on a machine than its memory holds. Ray does
not watch over what is declared: who cuts the pieces keeps to it (`no_larger`).
"""

from __future__ import annotations

import contextlib
import ctypes
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import ray

from compass.curation.on_ray.cluster import concurrency

Reference = Any
"""An object in Ray's store."""


def no_larger(pieces: Iterable[pa.Table], size: int) -> Iterator[pa.Table]:
    """The pieces in their order, those of more than `size` bytes halved until they are not, or have one row."""
    for piece in pieces:
        if piece.nbytes > size and piece.num_rows > 1:
            middle = piece.num_rows // 2
            yield from no_larger((piece.slice(0, middle), piece.slice(middle)), size)
        else:
            yield piece


def in_tasks(start: Callable[[], Callable[[Any], Any]], items: Iterable[Any], *, memory: int) -> Iterator[Any]:
    """`map(start(), items)` on the cluster, in order, as `compass.parallel.in_processes` does on this machine.

    Args:
        start: called once in each worker; it travels as one shared object, so what it holds is sent once per machine.
        items: arguments.
        memory: bytes of heap that a task takes.
    """
    shared = ray.put(start)
    apply = ray.remote(memory=memory)(_apply)
    waiting: deque[Reference] = deque()
    for item in items:
        waiting.append(apply.remote([shared], item))
        if len(waiting) > 2 * concurrency():
            yield ray.get(waiting.popleft())
    while waiting:
        yield ray.get(waiting.popleft())


def deal(
    function: Callable[..., Sequence[Any]], calls: Iterable[tuple], results: int, *, memory: int
) -> list[list[Reference]]:
    """Call a function that returns so many results with each tuple of arguments; where each result lies, not what it is."""
    task = ray.remote(num_returns=results, memory=memory)(_call)
    made: list[list[Reference]] = []
    running: list[Reference] = []
    for arguments in calls:
        references = task.remote(function, *arguments)
        made.append(references if results > 1 else [references])
        running.append(made[-1][0])
        if len(running) > concurrency():
            running = ray.wait(running, fetch_local=False)[1]
    return made


def gather(function: Callable[..., Any], shards: list[list[Reference]], *, memory: int) -> Iterator[Any]:
    """For each partition, in order, what a function makes of its shards from all pieces; `shards` is emptied meanwhile."""
    task = ray.remote(memory=memory)(_call)
    waiting: deque[Reference] = deque()
    for _ in range(len(shards[0]) if shards else 0):
        waiting.append(task.remote(function, *[piece.pop(0) for piece in shards]))
        if len(waiting) > concurrency():
            yield ray.get(waiting.popleft())
    while waiting:
        yield ray.get(waiting.popleft())


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Ray's remote functions are plain ones: one with some arguments filled in travels as an argument."""
    _give_back()
    return function(*arguments)


def _give_back() -> None:
    """Return to the system what the worker's last task let go of: allocators keep it, and the heap grows task by task."""
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)


_prepared: dict[str, Callable[[Any], Any]] = {}  # one entry: a worker serves one map after another


def _apply(shared: list[Reference], item: Any) -> Any:
    _give_back()
    key = shared[0].hex()
    if key not in _prepared:
        _prepared.clear()
        _prepared[key] = ray.get(shared[0])()
    return _prepared[key](item)
