"""Python functions on all cores, with results that never depend on how many cores there are.

with processes(preload=["compass.curation.denoise"]):    # optional: one set of workers for all that follows
    for result in in_processes(partial(prepare, settings), items): ...
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from itertools import count
from multiprocessing import connection
from pathlib import Path
from typing import Any

from compass.machine import cores

Start = Callable[[], Callable[[Any], Any]]
"""Makes, in a worker, the function that is mapped; it is pickled."""


def in_processes(start: Start, items: Iterable[Any], workers: int = 0) -> Iterator[Any]:
    """`map(start(), items)` on other processes, in order; few results wait at any time.

    Args:
        start: called once in each process, for the function that is mapped: what it prepares is not sent with every item.
        items: arguments; they and the results are pickled.
        workers: processes; 0 takes one per core, and 1 works in this process. Inside of `processes`, its workers do all.
    """
    workers = workers or cores()
    if workers == 1:
        yield from map(start(), items)
    elif _shared is not None:
        yield from _shared.map(start, items)
    else:
        with _pool(workers) as pool:
            yield from pool.map(start, items)


@contextmanager
def processes(workers: int = 0, preload: Sequence[str] = ()) -> Iterator[None]:
    """Keep one set of workers for every `in_processes` in the block: each starts, and imports, once.

    Args:
        workers: processes; 0 takes one per core, and 1 works in this process.
        preload: modules that workers begin with, once the first item comes; a block that maps nothing starts none.
    """
    global _shared
    workers = workers or cores()
    if _shared is not None:
        yield
        return
    with nullcontext(_Alone()) if workers == 1 else _pool(workers, preload) as pool:
        _shared = pool
        try:
            yield
        finally:
            _shared = None


class _Alone:
    """This process in the place of workers."""

    def map(self, start: Start, items: Iterable[Any]) -> Iterator[Any]:
        return map(start(), items)


class _Pool:
    """Workers, and the folder through which they get what to prepare: by a file, not with every item."""

    def __init__(self, executor: ProcessPoolExecutor, workers: int, folder: Path) -> None:
        self.executor, self.workers, self.folder = executor, workers, folder
        self.numbers = count()

    def map(self, start: Start, items: Iterable[Any]) -> Iterator[Any]:
        path = self.folder / str(next(self.numbers))
        path.write_bytes(pickle.dumps(start))
        waiting: list[Future] = []
        try:
            for item in items:
                with without_main():
                    waiting.append(self.executor.submit(_apply, str(path), item))
                if len(waiting) > 2 * self.workers:
                    yield waiting.pop(0).result()
            while waiting:
                yield waiting.pop(0).result()
        finally:
            for future in waiting:
                future.cancel()


_shared: _Pool | _Alone | None = None


@contextmanager
def _pool(workers: int, preload: Sequence[str] = ()) -> Iterator[_Pool]:
    """Workers forked from a server that has imported what they need and nothing has run in: a forked copy of this process's
    thread pools, Arrow's and numba's, could hang.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["compass.parallel", *preload])
    with (
        tempfile.TemporaryDirectory(prefix="compass-workers-") as folder,
        ProcessPoolExecutor(workers, mp_context=context, initializer=_end_with_parent) as executor,
    ):
        yield _Pool(executor, workers, Path(folder))


_hiding = threading.Lock()


@contextmanager
def without_main() -> Iterator[None]:
    """Processes that start in the block do not import the main module, as those of multiprocessing do: a script that calls this library
    outside of `if __name__ == "__main__"` would run again in each. What they are sent must be of other modules.
    """
    main = vars(sys.modules["__main__"])
    with _hiding:
        known = {name: main[name] for name in ("__spec__", "__file__") if name in main}
        main |= dict.fromkeys(known)
        try:
            yield
        finally:
            main |= known


def _end_with_parent() -> None:
    """End this process when its parent is gone: a killed parent closes no queue, and its workers would wait for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


_prepared: tuple[str, Callable[[Any], Any]] | None = None
"""The path of what this worker prepared last, and the function it made of it."""


def _apply(path: str, item: Any) -> Any:
    global _prepared
    if _prepared is None or _prepared[0] != path:
        _prepared = None  # lets go of the last one first
        _prepared = path, pickle.loads(Path(path).read_bytes())()
    return _prepared[1](item)
