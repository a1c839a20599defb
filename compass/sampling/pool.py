"""Several vLLM engines, each in a Ray actor, fed by this process: `Pool` samples as one `Engine` does, with the same responses.

Problems are handed out whole, in their order, as engines have room. What an engine had in hand when it ended goes to the others, each
response from where it last was, and the engine is started again. What is sampled depends on the seed and the problem, never on the
engine. A problem that was in hand when two engines ended is then sampled alone, and recorded as failed when it ends two more: a single one may be
a machine that was taken away.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any

from compass.sampling.cluster import code_path, ray_cluster
from compass.sampling.engine import FEWEST, RUNNER, Engine
from compass.sampling.model_source import Model, SamplingError
from compass.sampling.response import FAILED, UNFINISHED, Response, Wanted
from compass.settings import Sampling

CALL_SECONDS = 1.0
"""Seconds of sampling that an engine returns at once: a call costs this process 2 ms of Ray, whatever it returns."""

CALLS = 2
"""Calls that an engine has at any time: while one result is read, it works on the next call."""

SHARED_ENDS, LONE_ENDS = 2, 2
"""Engines that end with a problem and others in hand until it is sampled alone, and then with it alone until it counts as failed."""

START_SECONDS = 1800.0
"""Seconds in which one engine at least must have started, loading the model included."""

CLOSE_SECONDS = 20.0
"""Seconds in which engines free their GPUs at the end; then they are killed."""


class _Actor:
    """An engine in a process of its own."""

    def start(self, engine: type[Engine], model: Model, sampling: Sampling) -> None:
        self._engine = engine(model, sampling)

    def close(self) -> None:
        self._engine.close()

    def step(self, wanted: list[Wanted], seed: int) -> tuple[list[tuple], int]:
        """Take more responses and sample for a while; returns what ended, and how many responses may be in hand."""
        self._engine.add(wanted, seed=seed)
        until = time.monotonic() + CALL_SECONDS
        ended: list[Response] = []
        while self._engine.busy and time.monotonic() < until:
            ended += self._engine.step()
        rows = [
            (one.wanted.id, one.wanted.sample, one.tokens, one.finish_reason, one.text, one.token_ids) for one in ended
        ]
        return rows, self._engine.limit


@dataclass
class _Worker:
    """What this process knows of an actor."""

    actor: Any
    calls: deque[Any] = field(default_factory=deque)
    """The first is that of its start until it has started."""

    started: bool = False
    limit: int = FEWEST
    spare: int = FEWEST
    """Responses that it gets above its limit: about what ends until the next call arrives."""

    fresh: list[Wanted] = field(default_factory=list)
    """What the next call hands it, in hand already."""

    in_hand: dict[tuple[str, int], Wanted] = field(default_factory=dict)
    alone: bool = False
    """Whether it samples one problem alone, which may have ended other engines."""

    def take(self, group: list[Wanted]) -> None:
        """Have one more problem in hand."""
        self.fresh += group
        self.in_hand.update(((one.id, one.sample), one) for one in group)


class Pool:
    """Engines of one model on several GPUs or machines, ready to sample. A context manager, which ends them."""

    def __init__(
        self, model: Model, sampling: Sampling, *, count: int = 0, address: str = "", engine: type[Engine] = Engine
    ) -> None:
        """Make a pool; engines start in the `with` block.

        Args:
            model: what each engine loads; a folder has the same path on every node.
            sampling: how they sample.
            count: engines; 0 takes one for each `tensor_parallel` GPUs of the cluster, and one per node where it has none.
            address: of the Ray cluster to join; empty starts one here.
            engine: what samples in each process.
        """
        folder = Path(model.path)
        self._model = replace(model, path=str(folder.resolve())) if folder.is_dir() else model
        self._sampling, self._count, self._address, self._engine = sampling, count, address, engine
        self._workers: list[_Worker] = []
        self._ended: Counter[str] = Counter()  # engines that ended while they had a problem and others in hand
        self._ended_alone: Counter[str] = Counter()
        self._barren = 0  # engines that ended since the last response

    def __enter__(self) -> Pool:
        """Start Ray, and the engines, which load while others sample.

        Raises:
            SamplingError: no Ray cluster can be had, or it is too small.
        """
        with ExitStack() as stack:
            stack.enter_context(ray_cluster(self._address))
            self._options = self._reserve()
            self._workers = [self._start() for _ in range(self._count)]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: object, trace: TracebackType | None) -> None:
        import ray

        with self._stack:
            closed = [worker.actor.close.remote() for worker in self._workers if worker.started]
            ray.wait(closed, num_returns=len(closed), timeout=CLOSE_SECONDS) if closed else None
            for worker in self._workers:
                ray.kill(worker.actor)

    def sample(self, wanted: Iterable[Wanted], *, seed: int) -> Iterator[Response]:
        """Responses and their beginnings, as `Engine.sample` yields them, in no particular order.

        A response to a problem that ended two engines while it was sampled alone has no text and the `finish_reason` `failed`.

        Raises:
            SamplingError: the model cannot be used, or engines end one after the other without sampling anything.
        """
        import ray

        for _, kind in groupby(wanted, key=attrgetter("greedy")):
            work, heard = _Work(kind), time.monotonic()
            while not work.empty or any(worker.in_hand for worker in self._workers):
                for worker in self._workers:
                    if worker.started and len(worker.calls) < CALLS and (work.give(worker) or worker.in_hand):
                        worker.calls.append(worker.actor.step.remote(worker.fresh, seed))
                        worker.fresh = []
                calls = {worker.calls[0]: worker for worker in self._workers if worker.calls}
                for call in ray.wait(list(calls), timeout=1.0)[0]:
                    worker, heard = calls[call], time.monotonic()
                    worker.calls.popleft()
                    try:
                        result = ray.get(call)
                    except ray.exceptions.RayError as error:
                        yield from self._replace(worker, error, work)
                        continue
                    if worker.started:
                        yield from self._read(worker, *result)
                    worker.started = True
                if time.monotonic() - heard > START_SECONDS:
                    raise SamplingError(
                        f"no engine answered for {START_SECONDS:.0f} s: {self._count} engines wait for {self._options} each; look with "
                        "`ray status` whether the cluster has it"
                    )

    def _read(self, worker: _Worker, rows: list[tuple], limit: int) -> Iterator[Response]:
        """Take note of what an engine returned."""
        ended = 0
        for name, sample, tokens, reason, text, token_ids in rows:
            one = worker.in_hand.pop((name, sample))
            if reason == UNFINISHED:
                worker.in_hand[name, sample] = one.begun_with(token_ids, one.seconds)
            else:
                ended += 1
                self._barren = 0
            yield Response(one, tokens, reason, text, token_ids)
        worker.limit, worker.spare = limit, max(FEWEST, CALLS * ended)

    def _replace(self, worker: _Worker, error: Exception, work: _Work) -> Iterator[Response]:
        """Start an engine for one that ended, and give what it had in hand back; yields what has failed for good."""
        import ray

        cause = getattr(error, "cause", None)  # of an exception inside the actor, which still runs
        if isinstance(cause, SamplingError):
            raise SamplingError(str(cause)) from None
        reason = " ".join(str(cause or error).split())[:300]
        self._barren += 1
        if self._barren > (SHARED_ENDS + LONE_ENDS) * (len(self._workers) + 1):
            raise SamplingError(
                f"{self._barren} engines ended one after the other without a response; the last: {reason}"
            )
        ray.kill(worker.actor)
        self._workers[self._workers.index(worker)] = self._start()
        for name, group in groupby(sorted(worker.in_hand.values(), key=attrgetter("id")), key=attrgetter("id")):
            (self._ended_alone if worker.alone else self._ended)[name] += 1
            if self._ended_alone[name] >= LONE_ENDS:
                ended = self._ended[name] + self._ended_alone[name]
                print(f"warning: problem {name} ended {ended} engines and is left out: {reason}", file=sys.stderr)
                self._barren = 0
                yield from (Response(one, 0, FAILED, "") for one in group)
            else:
                work.put_back(list(group), alone=self._ended[name] >= SHARED_ENDS)

    def _reserve(self) -> dict[str, Any]:
        """How many engines there are, and what each reserves of the cluster, as options of an actor."""
        import ray

        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        gpus, cores = self._sampling.tensor_parallel, [int(node.get("CPU", 0)) for node in nodes]
        cpus = sum(cores)
        groups = sum(int(node.get("GPU", 0)) // gpus for node in nodes)
        most = groups or cpus
        self._count = self._count or groups or len(nodes)
        if self._count > most:
            raise SamplingError(
                f"engines.count is {self._count}, and there are {most} "
                + (
                    f"groups of {gpus} GPUs on one node each (`sampling.tensor_parallel`)"
                    if groups
                    else "cores and no GPU"
                )
            )
        options = {"num_cpus": 1, "num_gpus": gpus} if groups else {"num_cpus": share_cores(cores, self._count)}
        if not self._address:
            return options
        path = os.pathsep.join(part for part in (code_path(), os.environ.get("PYTHONPATH", "")) if part)
        variables = {"PYTHONPATH": path} | {name: os.environ[name] for name in [RUNNER] if name in os.environ}
        return {**options, "scheduling_strategy": "SPREAD", "runtime_env": {"env_vars": variables}}

    def _start(self) -> _Worker:
        import ray

        actor = ray.remote(_Actor).options(**self._options).remote()
        return _Worker(actor, deque([actor.start.remote(self._engine, self._model, self._sampling)]))


def share_cores(nodes: Sequence[int], engines: int) -> int:
    """The most cores that each of the engines can have, on one node each; `nodes` are the cores of each node."""
    return next(most for most in range(max(nodes), 0, -1) if sum(cores // most for cores in nodes) >= engines)


class _Work:
    """Responses of one kind that no engine has in hand, by problem."""

    def __init__(self, wanted: Iterable[Wanted]) -> None:
        self._coming = (list(group) for _, group in groupby(wanted, key=attrgetter("id")))
        self._next: deque[list[Wanted]] = deque()
        self._alone: deque[list[Wanted]] = deque()

    @property
    def empty(self) -> bool:
        """Whether nothing is left to hand out."""
        if not self._next and (group := next(self._coming, None)):
            self._next.append(group)
        return not (self._next or self._alone)

    def give(self, worker: _Worker) -> list[Wanted]:
        """Whole problems for an engine, as many as it has room for; what may have ended others comes last, each problem alone."""
        if worker.alone and worker.in_hand:
            return []
        worker.alone = False
        while len(worker.in_hand) < worker.limit + worker.spare and not self.empty and self._next:
            worker.take(self._next.popleft())
        if not worker.in_hand and self._alone:
            worker.take(self._alone.popleft())
            worker.alone = True
        return worker.fresh

    def put_back(self, group: list[Wanted], *, alone: bool) -> None:
        """What an engine that ended had in hand of a problem."""
        self._alone.append(group) if alone else self._next.appendleft(group)
