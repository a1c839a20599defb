"""A repository in the middle of a run, written by what writes it in a run: progress, rewards, rollouts, samples, findings."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from compass.ledger import Counts
from compass.records import write_records
from compass.rl.guards.findings import Findings
from compass.rl.metrics import follow_metrics
from compass.rl.paths import StagePaths
from compass.rl.progress import Progress
from compass.rl.rollouts import append_groups, group_line, write_step
from compass.settings import load_settings
from stages._stage import Summary

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = load_settings(ROOT / "profiles/tiny.yaml")
COURSE = "0123456789abcdef"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202eevil\u0000 \\boxed{</pre>}"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with the parameters of the tiny profile, in which nothing has run."""
    shutil.copy(ROOT / "profiles/tiny.yaml", tmp_path / "params.yaml")
    shutil.copy(ROOT / "dvc.yaml", tmp_path / "dvc.yaml")
    return tmp_path


class Trainer:
    """Writes what an RL stage's trainer and the process that watches it write."""

    def __init__(self, root: Path, stage: str = "rl-1") -> None:
        self.paths = StagePaths(root, root, root / "work" / stage / COURSE)
        self.paths.work.mkdir(parents=True)
        self.findings = Findings(self.paths.findings, SETTINGS.rl.stages[stage].guards.model_dump())
        self.position = 0

    def iteration(self, step: int, **metrics: float | None) -> None:
        """Two groups of four responses, one of which the update left out, and verl's metrics of the iteration."""
        Progress(self.paths.progress).write(step=step, phase="rollout", detail="2 groups finished")
        mixed = [
            {"problem_id": "p1", "reward": 1.0 if n < step % 4 else -1.0, "acc": n < step % 4, "tokens": 10 * step}
            for n in range(4)
        ]
        all_right = [{"problem_id": "p2", "reward": 1.0, "acc": 1.0, "tokens": 5} for _ in range(4)]
        groups = {"g1": group_line(step, mixed), "g2": group_line(step, all_right)}
        append_groups(self.paths.rewards, groups, used=["g1"])
        row = {
            "actor/entropy": 0.5 / step,
            "actor/pg_clipfrac": 0.01,
            "actor/grad_norm": 1.0,
            "guards/cut_off_share": 0.25,
            "timing_s/gen": 2.0,
            "timing_s/update_actor": 1.0,
            "timing_s/step": 4.0,
            "perf/total_num_tokens": 4000,
            "response_length/max": 10 * step,
        } | metrics
        with self.paths.live_metrics.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"step": step, "data": row}) + "\n")
        _, self.position = follow_metrics(self.paths.live_metrics, self.position, self.paths.metrics)

    def rollouts(self, step: int, response: str = "1+1=2\n\\boxed{2}") -> None:
        """Keep the iteration's rollouts: four of a group that was used, four of one that was left out."""
        shared = {
            "step": step,
            "level": 2,
            "gold": "2",
            "method": "text",
            "leaned": "",
            "cut_off": False,
            "loop": False,
        }
        rows = [
            shared
            | {"id": id_, "group": f"group-{id_}", "sample": n, "prompt": f"user\nWhat is 1+1? ({id_})\nassistant\n"}
            | {"response": response, "answer": "2", "right": n > 0, "verdict": "equal" if n else "different"}
            | {"reward": 1.0 if n else -1.0, "response_tokens": 7, "gap_mean": None, "gap_max": None}
            | {"advantage": 0.5 if used else None, "used": used}
            for id_, used in (("p1", True), ("p2", False))
            for n in range(4)
        ]
        write_step(self.paths.rollouts, step, rows)


@pytest.fixture
def trainer(repository: Path) -> Trainer:
    return Trainer(repository)


@pytest.fixture
def summary() -> Callable[..., None]:
    """`summary(root, "denoise", kept=3, dropped={"link": 2}, items=1)` writes a stage's summary."""

    def write(
        root: Path, stage: str, kept: int | None = None, dropped: dict[str, int] | None = None, **metrics: Any
    ) -> None:
        from compass.files import write_json

        counts = None if kept is None else Counts(stage, kept, dropped or {})
        write_json(root / "metrics" / f"{stage}.json", Summary(stage, counts, metrics).as_dict())

    return write


@pytest.fixture
def problems(repository: Path, records: Callable[..., pa.Table]) -> pa.Table:
    """Four problems that grade samples: 0+1 to 3+1, and one with a hostile text."""
    table = records(*((f"What is {n}+1?", str(n + 1), "web") for n in range(4)), (HOSTILE, "7", HOSTILE))
    write_records(repository / "data/denoise/kept.parquet", table)
    return table


@pytest.fixture
def served(repository: Path) -> Iterator[str]:
    """The address of the repository's page, served as `compass.live` serves it."""
    import uvicorn

    from compass.live.server import make_app

    server = uvicorn.Server(uvicorn.Config(make_app(repository), port=0, log_level="warning", server_header=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    (socket,) = server.servers[0].sockets
    yield f"http://127.0.0.1:{socket.getsockname()[1]}"
    server.should_exit = True
    thread.join()
