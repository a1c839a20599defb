"""The machine: what the pipeline needs of any, and whether this one has what the settings ask for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from compass.checks.finding import Finding, merge_stages
from compass.machine import lacks_bfloat16
from compass.plan.hardware import find_gpus
from compass.plan.memory import find_sampling_shortage, find_training_shortage
from compass.plan.shape import find_model_folder, grader_shape, policy_shape
from compass.rl.course import disk_need
from compass.runs.dvc_files import Graph
from compass.settings import Settings

WRITTEN = (".dvc", "work", ".compass")
"""Folders besides the stages' outputs that a run writes to."""


def find_machine_problems(settings: Settings, root: Path) -> list[Finding]:
    """What this machine lacks for these settings."""
    stages = list(settings.rl.stages)
    return [
        *_check_folders(root),
        *merge_stages(list(_check_devices(settings)), stages),
        *merge_stages(list(_check_bfloat16(settings)), stages),
        *merge_stages(list(_check_memory(settings, root)), stages),
        *_check_disk(settings, root),
    ]


def _check_folders(root: Path) -> Iterator[Finding]:
    """Files in the place of folders, and folders that cannot be written."""
    graph = Graph(root)
    outputs = (Path(out) for stage in graph.stages for out in graph.outs(stage))
    paths = sorted({*(part for out in outputs for part in (out, *out.parents)), *map(Path, WRITTEN)} - {Path()})
    for path in [Path(), *paths]:
        place = root / path
        if not os.path.lexists(place) or (place.is_file() and path.suffix):
            continue
        if not place.is_dir():
            remedy = f"move it away: `mv {path} {path}.old`"
            yield Finding(str(path), "is a file, and a folder is written here", remedy)
        elif not os.access(place, os.W_OK | os.X_OK):
            yield Finding(f"{path}/", "cannot be written by you", f"`chmod u+rwx {path}`, or change its owner")


def _check_devices(settings: Settings) -> Iterator[Finding]:
    here = count_visible_gpus()
    if (warm := settings.base.warm_start) and warm.gpus > here:
        found = f"{warm.gpus} are asked for, and this machine has {here}"
        yield Finding("base.warm_start.gpus", found, "0 trains on the CPU")
    for name, stage in settings.rl.stages.items():
        asked = stage.resources.gpus
        if asked > here and not stage.resources.joins:
            found = f"{asked} GPU{' is' if asked == 1 else 's are'} asked for, and this machine has {here or 'none'}"
            remedy = "lower it (0 trains on the CPU), or set `rl.resources.ray_address` to a cluster that has them"
            yield Finding(f"rl.stages.{name}.resources.gpus", found, remedy)


def _check_bfloat16(settings: Settings) -> Iterator[Finding]:
    """What would compute in bfloat16 on a processor whose products of it take some forty times as long as those of float32.

    On a CPU vLLM takes `auto` for bfloat16, whatever type the model's weights have (float16 for float16, which is no faster).
    """
    if not lacks_bfloat16():
        return
    on_cpu = {f"rl.stages.{name}.resources": stage.resources for name, stage in settings.rl.stages.items()}
    on_cpu = {where: one for where, one in on_cpu.items() if not one.gpus and not one.joins}
    if settings.base.warm_start and not settings.base.warm_start.gpus:
        on_cpu["base.warm_start"] = settings.base.warm_start
    if not count_visible_gpus() and not settings.engines.servers and not settings.engines.address:
        on_cpu |= {"grade.sampling": settings.grade.sampling, "evaluate.sampling": settings.evaluate.sampling}
    for where, given in on_cpu.items():
        if given.dtype != "float32":
            meant = "bfloat16" if given.dtype == "bfloat16" else "auto, for which vLLM takes bfloat16 on a CPU"
            found = f"{meant}, and this processor has no AVX-512: its products take some forty times as long as those of float32"
            yield Finding(f"{where}.dtype", found, "set it to float32")


def _check_memory(settings: Settings, root: Path) -> Iterator[Finding]:
    """What cannot fit the memory of this machine's GPUs, for stages that train or sample on them; nothing where GPU or model is not known."""
    if not count_visible_gpus() or (here := find_gpus()) is None:
        return
    gpu, count = here
    policy = policy_shape(settings, root)
    for name, stage in settings.rl.stages.items():
        asked = stage.resources.gpus * stage.resources.nodes
        trains = policy is not None and 0 < stage.resources.gpus <= count
        if trains and (short := find_training_shortage(stage, policy, gpu, asked)):
            yield Finding(f"rl.stages.{name}.resources", *short)
    for where, sampling, shape in (
        ("grade", settings.grade.sampling, grader_shape(settings, root)),
        ("evaluate", settings.evaluate.sampling, policy),
    ):
        if shape is not None and (short := find_sampling_shortage(where, sampling, shape, gpu)):
            yield Finding(f"{where}.sampling", *short)


def count_visible_gpus() -> int:
    """GPUs that the kernel shows and `CUDA_VISIBLE_DEVICES` leaves."""
    devices = len(list(Path("/proc/driver/nvidia/gpus").glob("*"))) or len(
        list(Path("/dev/dri").glob("renderD*")) if Path("/dev/kfd").exists() else []
    )
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return devices
    return min(devices, len([one for one in chosen.split(",") if one.strip() and one.strip() != "-1"]))


def _check_disk(settings: Settings, root: Path) -> Iterator[Finding]:
    """The largest RL stage's need against what is free; known where the policy's weights are here."""
    given = find_model_folder(settings.base.model, root) if settings.base.model else None
    model = given or root / "models/base"
    if not list(model.glob("*.safetensors")):
        return
    needs = {name: sum(disk_need(stage, model)) for name, stage in settings.rl.stages.items()}
    name = max(needs, key=lambda stage: needs[stage])
    used = sum(path.stat().st_size for path in (root / "work" / name).rglob("*") if path.is_file())
    free = shutil.disk_usage(root).free
    if needs[name] > free + used:
        found = (
            f"{name} needs {needs[name] / 1e9:,.1f} GB for checkpoints, its model and DVC's copy, "
            f"and {free / 1e9:,.1f} GB are free"
        )
        yield Finding("disk", found, "free some space (`dvc gc -w` removes what no run of the workspace uses)")
