"""What the tests of several ranks and nodes share: a policy with some skill, problems for it, and runs of a short stage."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import torch
import yaml

from compass.records import read_records
from compass.rl.checkpoint import checkpoint_folder
from compass.rl.dataset import write_training_set
from compass.rl.export import export_model
from compass.rl.launch import train
from compass.rl.paths import StagePaths
from compass.settings import RlStage, Settings

ROOT = Path(__file__).resolve().parents[2]

SUMMED = 8 * 4 * 48
"""Terms of an update's sums over tokens at most: problems, responses to each, tokens of each."""

TOLERANCE = 2 * SUMMED * 2**-24
"""How far two runs may lie apart that add the same numbers in other orders, as one rank and two do: 1.8e-4.

A sum of n float32 numbers is at most n u times the sum of their sizes from the true one, u = 2^-24, whatever the order (Higham,
Accuracy and Stability of Numerical Algorithms, 2002, section 4.2); two sums lie at most twice as far apart. It is relative to the
size of what is summed: 1 for the terms of a loss, whose advantages have unit variance; the norm itself for a gradient; and for
weights the way that training has moved them, for an error in an update is a share of the update. Measured over ten iterations
on two cores: 3.2e-5 for gradient norms, 2.6e-5 for weights.
"""

COMPARED = ("critic/score/mean", "actor/pg_loss", "actor/grad_norm", "actor/entropy", "response_length/mean")


def stage(steps: int, **resources: Any) -> RlStage:
    """A stage of the debug profile whose rollouts do not depend on the number of engines."""
    tree = yaml.safe_load((ROOT / "profiles/debug.yaml").read_text())
    tree["rl"]["rollout"]["reproducible"] = True
    tree["rl"]["record"]["rollouts_every"] = 100
    tree["rl"]["resources"] |= resources
    tree["rl"]["stages"]["rl-1"]["steps"] = steps
    return Settings.model_validate(tree).rl.stages["rl-1"]


def make_policy(done: Path, folder: Path) -> Path:
    """A policy and its training set, in `models/base` and `train.parquet`, from a run of debug up to its curriculum."""
    from transformers import AutoTokenizer

    shutil.copytree(done / "models/base", folder / "models/base")
    problems = read_records(done / "data/curriculum/kept.parquet")
    tokenizer = AutoTokenizer.from_pretrained(folder / "models/base")
    write_training_set("rl-1", problems, stage(1), tokenizer, folder / "train.parquet")
    return folder


def run(policy: Path, work: Path, settings: RlStage) -> list[dict[str, Any]]:
    """Train as the stage does; its metrics."""
    paths = StagePaths(policy / "models/base", policy / "train.parquet", work)
    return train("rl-1", settings, paths, seed=0)


def weights(policy: Path, work: Path, step: int) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint, put together from its ranks' shards as the stage does; of step 0, the policy's."""
    from safetensors.torch import load_file

    if step == 0:
        return load_file(policy / "models/base/model.safetensors")
    out = work.with_name(work.name + "-model")
    folder = checkpoint_folder(work / "checkpoints", step)
    export_model(folder, policy / "models/base", out, dtype="float32", card="", building=work.with_name("building"))
    return load_file(out / "model.safetensors")


def assert_same_training(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> None:
    """The same iterations with the same figures, but for rounding."""
    assert [row["step"] for row in ours] == [row["step"] for row in theirs]
    for one, other in zip(ours, theirs, strict=True):
        for name in COMPARED:
            size = max(1, abs(other[name]))
            assert abs(one[name] - other[name]) <= TOLERANCE * size, (one["step"], name, one[name], other[name])


def assert_same_weights(
    ours: dict[str, torch.Tensor],
    theirs: dict[str, torch.Tensor],
    start: dict[str, torch.Tensor],
    share: float = TOLERANCE,
) -> None:
    """Two trainings have moved the weights of their start to the same place, but for a share of the way."""
    assert ours.keys() == theirs.keys() == start.keys()
    apart, moved = (
        torch.cat([(ours[name] - other[name]).flatten() for name in ours]).norm() for other in (theirs, start)
    )
    assert moved > 0
    assert apart <= share * moved, (apart / moved, share)


@contextmanager
def killing(find: Callable[[], psutil.Process | None], work: Path, after: int) -> Iterator[list[psutil.Process]]:
    """Kill a process with SIGKILL once the checkpoint of iteration `after` is recorded.

    Yields:
        The processes of the trainer at the kill; empty until it is done.
    """
    family: list[psutil.Process] = []
    over = threading.Event()

    def wait() -> None:
        metrics = work / "metrics.jsonl"
        while not over.wait(0.2):
            if metrics.exists() and len(metrics.read_text().splitlines()) >= after and (process := find()):
                family.extend(descendants())
                process.kill()
                return

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    try:
        yield family
    finally:
        over.set()
        thread.join()


def descendants() -> list[psutil.Process]:
    """Every process below this one."""
    return psutil.Process().children(recursive=True)


def titled(*titles: str) -> psutil.Process | None:
    """A process below this one with such a title or name."""
    for process in descendants():
        try:
            if process.name() in titles or " ".join(process.cmdline()[:1]).startswith(titles):
                return process
        except psutil.Error:
            continue
    return None


def still_running(processes: list[psutil.Process], seconds: float) -> list[psutil.Process]:
    """Those that have not ended after some seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        processes = [process for process in processes if _runs(process)]
        if not processes:
            break
        time.sleep(0.2)
    return processes


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
