"""The machine: processor, libraries, memory, disk, limits and GPUs; and whether it has what the settings ask for.

What `make check` looks at is asked of the same code.
"""

from __future__ import annotations

import os
import platform
import resource
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compass.checks.finding import Finding, Place, merge_stages
from compass.checks.models import find_model_folder
from compass.checks.software import read_locked
from compass.machine import cores
from compass.plan.hardware import find_gpus
from compass.plan.memory import find_sampling_shortage, find_training_shortage
from compass.plan.shape import grader_shape, policy_shape
from compass.rl.course import disk_need
from compass.runs.dvc_files import Graph
from compass.settings import Settings

OPEN_FILES = 4096
"""Files that Ray and vLLM want to have open; Ray warns below."""

PROBE_BYTES = 16 << 20
"""Size of the file that is written for a moment, to meet quotas that the free space does not show."""

TEMPORARY_BYTES = 1 << 30
"""Free space for temporary files: Ray keeps its object store there when /dev/shm is small."""

DRIVERS = {"12": 525, "13": 580}
"""The oldest NVIDIA driver for a CUDA version (CUDA release notes, minor version compatibility)."""


WRITTEN = (".dvc", "work", ".compass")
"""Folders besides the stages' outputs that a run writes to."""


def check_processor(place: Place) -> Iterator[Finding]:
    """Architecture, C library and the processor's features."""
    asked = place.prerequisites
    flags = asked.cpu_flags()
    faults = asked.unsuited(platform.system(), platform.machine(), asked.glibc_version(), flags, place.device)
    for fault in faults:
        yield Finding("processor", "problem", fault, "use another machine, or build vLLM for this one")
    if not faults:
        names = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if name in (flags or ())]
        yield Finding("processor", "ok", f"{cores()} cores, {platform.machine()} with {', '.join(names) or 'no AVX2'}")


def check_libraries(place: Place) -> Iterator[Finding]:
    """Shared libraries, programs and headers of the system."""
    asked, device = place.prerequisites, place.device
    needs = asked.missing_libraries(asked.LIBRARIES[device], place.root / ".venv/lib")
    needs += asked.missing_programs(asked.PROGRAMS[device])
    needs += asked.missing_headers(asked.HEADERS[device], Path(sysconfig.get_path("include")))
    if not needs:
        yield Finding("system", "ok", "libraries and programs are there")
        return
    manager = next((name for name in ("apt-get", "dnf") if shutil.which(name)), None)
    missing = ", ".join(f"{need.name} ({need.use})" for need in needs)
    remedy = f"`{asked.command(needs, manager=manager, root=os.geteuid() == 0)}`"
    yield Finding("system", "problem", f"missing: {missing}", remedy)


def check_room(place: Place) -> Iterator[Finding]:
    """Memory, /dev/shm and disk against what profile `tiny` needs; what the settings need is found before a run."""
    asked = place.prerequisites
    memory, shared = asked.available_memory(), asked.free_space(Path("/dev/shm"))
    disk = asked.free_space(place.root)
    short = asked.shortages(memory, shared, disk, is_set_up="torch" in place.installed)
    for what, found, remedy in short:
        yield Finding(what, "problem", found, remedy or "free some space (`dvc gc -w` clears DVC's cache)")
    free = {"memory": memory, "/dev/shm": shared, "disk": disk}
    for what, size in free.items():
        if what not in {name for name, _, _ in short}:
            yield Finding(what, "ok", f"{asked.gib(size)} free")


def check_writing(place: Place) -> Iterator[Finding]:
    """Whether the repository's folder and that of temporary files take a file of some size: quotas, limits, permissions."""
    folders = {"disk": place.root, "temporary files": Path(tempfile.gettempdir())}
    for what, folder in folders.items():
        try:
            with tempfile.TemporaryFile(dir=folder) as probe:
                os.posix_fallocate(probe.fileno(), 0, PROBE_BYTES)
        except OSError as error:
            remedy = f"free space or raise the quota of {folder}" + (
                "" if folder == place.root else ", or `export TMPDIR=FOLDER` with more of it"
            )
            size = f"{PROBE_BYTES >> 20} MiB"
            yield Finding(what, "problem", f"{folder} does not take a file of {size}: {error.strerror}", remedy)
            continue
        free = shutil.disk_usage(folder).free
        if what != "disk" and free < TEMPORARY_BYTES:
            found = f"{free >> 20} MiB free in {folder}; Ray and vLLM want {TEMPORARY_BYTES >> 30} GiB"
            yield Finding(what, "warning", found, "clear it, or `export TMPDIR=FOLDER` on a larger disk")
        elif what != "disk":
            yield Finding(what, "ok", f"{free / (1 << 30):.0f} GiB free in {folder}")


def check_limits(place: Place) -> Iterator[Finding]:
    """How many files a process may have open. Ray raises the soft limit to the hard one by itself."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = hard if hard != resource.RLIM_INFINITY else 1 << 20
    if most < OPEN_FILES:
        remedy = "`ulimit -n 65536` in a new shell; in a container start it with `--ulimit nofile=65536`"
        yield Finding("open files", "problem", f"at most {most}, and Ray and vLLM want {OPEN_FILES}", remedy)
    else:
        yield Finding("open files", "ok", f"{soft}, can be raised to {most}")


def check_gpus(place: Place) -> Iterator[Finding]:
    """GPUs, their driver, and whether the installed lock fits them."""
    wanted = place.device == "gpu"
    if shutil.which("nvidia-smi") is None:
        if Path("/proc/driver/nvidia/version").exists():
            yield Finding("GPU", "problem", "NVIDIA's driver runs and nvidia-smi is missing", "install nvidia-utils")
        elif wanted:
            remedy = "install NVIDIA's driver, or `make setup DEVICE=cpu` (in a container: `--gpus all`)"
            yield Finding("GPU", "problem", "no NVIDIA driver, and the environment is the one for GPUs", remedy)
        else:
            yield Finding("GPU", "ok", "none; the environment is the one for CPUs")
        return
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        asked = subprocess.run(query, capture_output=True, text=True, timeout=2)
    except subprocess.TimeoutExpired:
        yield Finding("GPU", "problem", "nvidia-smi does not answer", "restart the machine or its driver")
        return
    gpus = [line.split(", ") for line in asked.stdout.splitlines() if line.count(", ") == 2]
    if asked.returncode or not gpus:
        said = (asked.stdout + asked.stderr).strip().splitlines()[:1]
        level = "problem" if wanted else "warning"
        yield Finding("GPU", level, f"nvidia-smi finds none: {' '.join(said)}", "repair NVIDIA's driver")
        return
    shown = f"{len(gpus)} x {gpus[0][0]} ({gpus[0][1]}), driver {gpus[0][2]}"
    if not wanted:
        yield Finding("GPU", "warning", f"{shown}, and the environment is the one for CPUs", "`make setup DEVICE=gpu`")
        return
    pins = read_locked(place.root / "requirements/gpu.txt")
    cuda = pins.get("cuda-toolkit", "").partition(".")[0]
    oldest = DRIVERS.get(cuda, 0)
    if int(gpus[0][2].partition(".")[0]) < oldest:
        remedy = f"update NVIDIA's driver to {oldest} or later"
        yield Finding("GPU", "problem", f"{shown}: too old for CUDA {cuda}, which the lock has", remedy)
    else:
        yield Finding("GPU", "ok", shown)


def find_machine_problems(settings: Settings, root: Path) -> list[Finding]:
    """What this machine lacks for these settings."""
    return [
        *_check_folders(root),
        *_check_devices(settings),
        *_check_memory(settings, root),
        *_check_disk(settings, root),
    ]


def _check_folders(root: Path) -> list[Finding]:
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


def _check_devices(settings: Settings) -> list[Finding]:
    found = []
    here = count_visible_gpus()
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
    return merge_stages(found, list(settings.rl.stages))


def _check_memory(settings: Settings, root: Path) -> list[Finding]:
    """What cannot fit the memory of this machine's GPUs, for stages that train or sample on them; nothing where GPU or model is not known."""
    if not count_visible_gpus() or (here := find_gpus()) is None:
        return []
    gpu, count = here
    found = []
    policy = policy_shape(settings, root)
    for name, stage in settings.rl.stages.items():
        asked = stage.resources.gpus * stage.resources.nodes
        trains = policy is not None and 0 < stage.resources.gpus <= count
        if trains and (short := find_training_shortage(stage, policy, gpu, asked)):
            found.append(Finding(f"rl.stages.{name}.resources", "problem", *short))
    for where, sampling, shape in (
        ("grade", settings.grade.sampling, grader_shape(settings, root)),
        ("evaluate", settings.evaluate.sampling, policy),
    ):
        if shape is not None and (short := find_sampling_shortage(where, sampling, shape, gpu)):
            found.append(Finding(f"{where}.sampling", "problem", *short))
    return merge_stages(found, list(settings.rl.stages))


def count_visible_gpus() -> int:
    """GPUs that the kernel shows and `CUDA_VISIBLE_DEVICES` leaves."""
    devices = len(list(Path("/proc/driver/nvidia/gpus").glob("*"))) or len(
        list(Path("/dev/dri").glob("renderD*")) if Path("/dev/kfd").exists() else []
    )
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return devices
    return min(devices, len([one for one in chosen.split(",") if one.strip() and one.strip() != "-1"]))


def _check_disk(settings: Settings, root: Path) -> list[Finding]:
    """The largest RL stage's need against what is free; known where the policy's weights are here."""
    model = find_model_folder(settings, root) or root / "models/base"
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
