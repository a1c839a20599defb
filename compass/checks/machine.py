"""The machine: processor, libraries, memory, disk, limits and GPUs. What `make check` looks at is asked of the same code."""

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

from compass.checks.finding import Finding
from compass.checks.place import Place
from compass.checks.software import locked_packages
from compass.machine import cores

OPEN_FILES = 4096
"""Files that Ray and vLLM want to have open; Ray warns below."""

PROBE_BYTES = 16 << 20
"""Size of the file that is written for a moment, to meet quotas that the free space does not show."""

TEMPORARY_BYTES = 1 << 30
"""Free space for temporary files: Ray keeps its object store there when /dev/shm is small."""

DRIVERS = {"12": 525, "13": 580}
"""The oldest NVIDIA driver for a CUDA version (CUDA release notes, minor version compatibility)."""


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
    """Memory, /dev/shm and disk against what profile `tiny` needs; what the settings need is checked in `devices`."""
    asked = place.prerequisites
    memory, shared = asked.available_memory(), asked.free_space(Path("/dev/shm"))
    disk = asked.free_space(place.root)
    short = asked.shortages(memory, shared, disk, is_set_up="torch" in place.installed)
    for sentence in short:
        what, _, rest = sentence.partition(": ")
        found, _, remedy = rest.partition("; ")
        yield Finding(what, "problem", found, remedy or "free some space (`dvc gc -w` clears DVC's cache)")
    free = {"memory": memory, "/dev/shm": shared, "disk": disk}
    for what, size in free.items():
        if not any(sentence.startswith(f"{what}:") for sentence in short):
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
    pins = locked_packages(place.root / "requirements/gpu.txt")
    cuda = pins.get("cuda-toolkit", "").partition(".")[0]
    oldest = DRIVERS.get(cuda, 0)
    if int(gpus[0][2].partition(".")[0]) < oldest:
        remedy = f"update NVIDIA's driver to {oldest} or later"
        yield Finding("GPU", "problem", f"{shown}: too old for CUDA {cuda}, which the lock has", remedy)
    else:
        yield Finding("GPU", "ok", shown)
