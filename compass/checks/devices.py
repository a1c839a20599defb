"""Whether this machine has the devices that the settings name, folders that can be written, and room on the disk."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from compass.checks.finding import Finding, of_all_stages
from compass.checks.models import model_folder
from compass.rl.course import disk_need
from compass.runs.dvc_files import Graph
from compass.settings import Settings

WRITTEN = (".dvc", "work", ".compass")
"""Folders besides the stages' outputs that a run writes to."""


def find_machine_problems(settings: Settings, root: Path) -> list[Finding]:
    """What this machine lacks for these settings."""
    return [*_folders(root), *_devices(settings), *_disk(settings, root)]


def _folders(root: Path) -> list[Finding]:
    """Files in the place of folders, and folders that cannot be written."""
    graph = Graph(root)
    outputs = (Path(out) for stage in graph.stages for out in graph.outs(stage))
    paths = sorted({*(part for out in outputs for part in (out, *out.parents)), *map(Path, WRITTEN)} - {Path()})
    found = []
    for path in [Path(), *paths]:
        place = root / path
        if not os.path.lexists(place) or (place.is_file() and path.suffix):
            continue
        if not place.is_dir():
            found.append(
                Finding(
                    str(path),
                    "problem",
                    "is a file, and a folder is written here",
                    f"move it away: `mv {path} {path}.old`",
                )
            )
        elif not os.access(place, os.W_OK | os.X_OK):
            found.append(
                Finding(f"{path}/", "problem", "cannot be written by you", f"`chmod u+rwx {path}`, or change its owner")
            )
    return found


def _devices(settings: Settings) -> list[Finding]:
    found = []
    here = visible_gpus()
    if (warm := settings.base.warm_start) and warm.gpus > here:
        found.append(
            Finding(
                "base.warm_start.gpus",
                "problem",
                f"{warm.gpus} are asked for, and this machine has {here}",
                "0 trains on the CPU",
            )
        )
    for name, stage in settings.rl.stages.items():
        asked = stage.resources.gpus
        if asked > here and not stage.resources.joins:
            has = f"has {here}" if here else "has none"
            found.append(
                Finding(
                    f"rl.stages.{name}.resources.gpus",
                    "problem",
                    f"{asked} {'GPU is' if asked == 1 else 'GPUs are'} asked for, and this machine {has}",
                    "lower it (0 trains on the CPU), or set `rl.resources.ray_address` to a cluster that has them",
                )
            )
        if stage.resources.attention == "flash_attention_2" and importlib.util.find_spec("flash_attn") is None:
            found.append(
                Finding(
                    f"rl.stages.{name}.resources.attention",
                    "problem",
                    "`flash_attention_2` needs the package flash-attn, which is not installed",
                    "compile it for this torch, or set `attention: sdpa`",
                )
            )
    return of_all_stages(found, list(settings.rl.stages))


def visible_gpus() -> int:
    """GPUs that the kernel shows and `CUDA_VISIBLE_DEVICES` leaves."""
    devices = len(list(Path("/proc/driver/nvidia/gpus").glob("*"))) or len(
        list(Path("/dev/dri").glob("renderD*")) if Path("/dev/kfd").exists() else []
    )
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return devices
    return min(devices, len([one for one in chosen.split(",") if one.strip() and one.strip() != "-1"]))


def _disk(settings: Settings, root: Path) -> list[Finding]:
    """The largest RL stage's need against what is free; known where the policy's weights are here."""
    model = model_folder(settings, root) or root / "models/base"
    if not list(model.glob("*.safetensors")):
        return []
    needs = {name: sum(disk_need(stage, model)) for name, stage in settings.rl.stages.items()}
    name = max(needs, key=lambda stage: needs[stage])
    work = root / "work" / name
    there = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    free = shutil.disk_usage(root).free
    if needs[name] <= free + there:
        return []
    return [
        Finding(
            "disk",
            "problem",
            f"{name} needs {needs[name] / 1e9:,.1f} GB for checkpoints, its model and DVC's copy, and {free / 1e9:,.1f} GB are free",
            "free some space (`dvc gc -w` removes what no run of the workspace uses)",
        )
    ]
