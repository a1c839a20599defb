"""Ends a trainer that lost a node or a process of its own on a Ray cluster which it joined.

There the trainer's processes are Ray's children, on this machine or another, so that the stage cannot watch them
(`compass.rl.essential_processes`). Without them verl stands still until Ray or a collective gives up, which takes minutes.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

GRACE_S = 2.0
"""Seconds between such an end and the trainer's: at a training run's end, when all is saved, its processes go first."""

POLL_S = 1.0

ENDED_BY_THE_JOB = (4, 5, 6)
"""Ray's numbers (`ActorDiedErrorContext.Reason`) for: killed by `ray.kill`, out of scope, no reference left."""


class ClusterWatch:
    """Looks every second; as a context, for as long as the training runs."""

    def __init__(self, lost: Path, *, end: Callable[[int], object] = os._exit) -> None:
        """Watch from `__enter__` on.

        Args:
            lost: the file that tells the stage what was lost.
            end: ends this process.
        """
        self._lost, self._end = lost, end
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="cluster watch", daemon=True)

    def __enter__(self) -> ClusterWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        import ray
        from ray._private.state import actors  # ray's public function asks the dashboard, which a cluster may lack

        job = ray.get_runtime_context().get_job_id()
        missed_at = 0.0
        while not self._over.wait(POLL_S):
            try:
                seen = gone(ray.nodes(), actors().values(), job)
            except Exception as error:  # Ray has many for one that no longer answers
                seen = f"the head of the Ray cluster does not answer ({type(error).__name__}: {error})"
            if not seen:
                missed_at = 0.0
                continue
            missed_at = missed_at or time.monotonic()
            if time.monotonic() - missed_at >= GRACE_S:
                self._lost.write_text(seen, encoding="utf-8")
                print(f"ended by compass.rl.cluster_watch: {seen}", flush=True)
                self._end(1)
                return


def gone(nodes: Iterable[Mapping[str, Any]], actors: Iterable[Mapping[str, Any]], job: str) -> str:
    """What of a job ended, in words; empty where nothing did.

    Args:
        nodes: as `ray.nodes()` gives them; one that had left before the job held nothing of it.
        actors: as Ray's table has them.
        job: the job's id.
    """
    dead = [actor for actor in actors if actor["JobID"] == job and actor["State"] == "DEAD" and not _was_ended(actor)]
    left = {node["NodeID"]: node["NodeName"] for node in nodes if not node["Alive"]}
    for actor in dead:
        if address := left.get(actor["Address"]["NodeID"]):
            return f"node {address} left the Ray cluster, with {actor['ActorClassName']} on it"
    return f"{dead[0]['ActorClassName']} (pid {dead[0]['Pid']}) ended on the Ray cluster" if dead else ""


def _was_ended(actor: Mapping[str, Any]) -> bool:
    """Whether the job itself ended an actor, or let go of it."""
    return actor["DeathCause"].actor_died_error_context.reason in ENDED_BY_THE_JOB
