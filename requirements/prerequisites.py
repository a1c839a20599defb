"""What this machine lacks for the pipeline, found in a second and before anything is installed.

    python3.11 requirements/prerequisites.py cpu|gpu [--libraries FOLDER]

Says nothing and exits with 0 when nothing is missing. Otherwise it names every missing thing with its use, then the one
command that brings all of them, and exits with 1. `COMPASS_CHECK=off` skips the check.

A missing shared library is first looked for in the distribution's own package, which Debian's and Ubuntu's `apt-get
download` hands out without root; with `--libraries` it is put into that folder, and then nothing is missing.

Run it in the repository's folder. Standard library only: it runs before there is an environment. tests/requirements
compares the list of libraries with what the installed packages link.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

GIB = 1 << 30

MEMORY = 4 * GIB
"""Available memory that profile `tiny` needs: its processes held 3.8 GiB at most, in RL, beside what the system caches."""

SHARED_MEMORY = 48 << 20
"""Free space in /dev/shm: profile `tiny` runs in the 64 MiB that containers get, since Ray's object store then moves to the
disk; larger profiles want gigabytes."""

DISK_SETUP, DISK = 10 * GIB, 2 * GIB
"""Free space in the repository's folder, before and after set-up: .venv takes 5 GiB and the package cache as much again."""

GLIBC = (2, 28)
"""What the locked wheels (manylinux_2_28) are linked against."""

DOWNLOAD_S = 6
"""Longest wait for a package that holds a library, so that the command is named within ten seconds."""


class Need(NamedTuple):
    """Something that a package of the distribution brings."""

    name: str
    """File name of a library, program or header."""
    use: str
    """What uses it."""
    debian: str
    """Its package on Debian and Ubuntu."""
    fedora: str
    """Its package on Fedora and Red Hat."""


LIBRARIES = {
    "cpu": (
        Need("libnuma.so.1", "vLLM's CPU kernels link it", "libnuma1", "numactl-libs"),
        Need("libstdc++.so.6", "torch links it", "libstdc++6", "libstdc++"),
        Need("libgcc_s.so.1", "torch links it", "libgcc-s1", "libgcc"),
        Need("libz.so.1", "numba links it", "zlib1g", "zlib"),
    ),
    "gpu": (
        Need("libnuma.so.1", "NCCL and vLLM look for it", "libnuma1", "numactl-libs"),
        Need("libstdc++.so.6", "torch links it", "libstdc++6", "libstdc++"),
        Need("libgcc_s.so.1", "torch links it", "libgcc-s1", "libgcc"),
        Need("libz.so.1", "numba links it", "zlib1g", "zlib"),
    ),
}
"""Shared libraries that the installed packages link and do not bring, but for glibc's own."""

PROGRAMS = {
    "cpu": (Need("git", "DVC works in a git repository", "git", "git"),),
    "gpu": (
        Need("git", "DVC works in a git repository", "git", "git"),
        Need("gcc", "Triton compiles a launcher for each of its kernels", "gcc libc6-dev", "gcc"),
    ),
}

HEADERS = {"cpu": (), "gpu": (Need("Python.h", "Triton's launchers include it", "python3.11-dev", "python3.11-devel"),)}


def missing_libraries(needs: Sequence[Need], folder: Path) -> list[Need]:
    """The libraries that neither the dynamic loader finds nor an earlier set-up put into `folder`."""
    return [need for need in needs if not _loads(need.name) and not _loads(str(folder / need.name))]


def missing_programs(needs: Sequence[Need], path: str | None = None) -> list[Need]:
    """The programs that are not on `path` (default: PATH)."""
    return [need for need in needs if shutil.which(need.name, path=path) is None]


def missing_headers(needs: Sequence[Need], folder: Path) -> list[Need]:
    """The headers that are not in `folder`."""
    return [need for need in needs if not (folder / need.name).is_file()]


def fetch(needs: Sequence[Need], folder: Path) -> list[Need]:
    """Take libraries out of the distribution's packages into `folder`, without root; those not got are returned.

    Only `apt-get` is asked: `dnf download` is a plugin that a small system does not have.
    """
    if not needs or shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return list(needs)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        try:
            ask = ["apt-get", "download", *[need.debian for need in needs]]
            subprocess.run(ask, cwd=work, capture_output=True, check=True, timeout=DOWNLOAD_S)
            for package in work.glob("*.deb"):
                subprocess.run(["dpkg-deb", "-x", str(package), str(work)], capture_output=True, check=True)
        except (OSError, subprocess.SubprocessError):
            return list(needs)
        folder.mkdir(parents=True, exist_ok=True)
        for need in needs:
            for file in work.rglob(need.name):
                shutil.copy(file, folder / need.name)
    return [need for need in needs if not _loads(str(folder / need.name))]


def unsuited(system: str, machine: str, glibc: tuple[int, ...], cpu_flags: set[str] | None, device: str) -> list[str]:
    """What no package changes, a sentence each.

    Args:
        system: `platform.system()`.
        machine: `platform.machine()`.
        glibc: its version; empty for another C library.
        cpu_flags: the processor's features; None where they cannot be read.
        device: `cpu` or `gpu`.
    """
    if (system, machine) != ("Linux", "x86_64"):
        return [f"the locked packages are for Linux on x86_64, and this is {system} on {machine}"]
    faults = []
    if glibc < GLIBC:
        has = f"this one has {'.'.join(map(str, glibc))}" if glibc else "this system has another C library"
        faults.append(f"the locked packages need glibc {GLIBC[0]}.{GLIBC[1]} or later, and {has}")
    if device == "cpu" and cpu_flags is not None and "avx2" not in cpu_flags:
        faults.append("vLLM's CPU kernels need a processor with AVX2")
    return faults


def shortages(memory: int, shared: int, disk: int, *, is_set_up: bool) -> list[tuple[str, str, str]]:
    """What there is too little of, how much is there and needed, and what to do (empty: free some space).

    Args:
        memory: available bytes.
        shared: free bytes in /dev/shm.
        disk: free bytes in the repository's folder.
        is_set_up: whether the environment is installed already, so that only the pipeline's outputs need space.
    """
    short = []
    if memory < MEMORY:
        short.append(
            ("memory", f"{gib(memory)} available, {gib(MEMORY)} needed", "end other programs or take a larger machine")
        )
    if shared < SHARED_MEMORY:
        remedy = "run `mount -o remount,size=2G /dev/shm` as root, or start the container with `--shm-size 2g`"
        short.append(("/dev/shm", f"{gib(shared)} free, {gib(SHARED_MEMORY)} needed", remedy))
    needed = DISK if is_set_up else DISK_SETUP
    if disk < needed:
        short.append(("disk", f"{gib(disk)} free in the repository's folder, {gib(needed)} needed", ""))
    return short


def available_memory(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Bytes that new processes may take: what the kernel calls available, within the container's limit."""
    available = _fields(meminfo)["MemAvailable:"] * 1024
    limit = cgroup / "memory.max"  # a machine's own root group has none
    if not limit.is_file() or limit.read_text().strip() == "max":
        return available
    # Pages of files that were only read are given back on demand.
    used = int((cgroup / "memory.current").read_text()) - _fields(cgroup / "memory.stat")["inactive_file"]
    return min(available, int(limit.read_text()) - used)


def free_space(folder: Path) -> int:
    """Free bytes in a folder; 0 where there is none."""
    return shutil.disk_usage(folder).free if folder.is_dir() else 0


def command(needs: Sequence[Need], *, manager: str | None, root: bool) -> str:
    """The one command that brings all of `needs`.

    Args:
        needs: at least one.
        manager: `apt-get`, `dnf`, or None where there is neither.
        root: whether the user may install as they are.
    """
    sudo = "" if root else "sudo "
    if manager == "apt-get":
        return f"{sudo}apt-get update && {sudo}apt-get install -y {_packages(need.debian for need in needs)}"
    if manager == "dnf":
        return f"{sudo}dnf install -y {_packages(need.fedora for need in needs)}"
    return (
        f"your package manager on {_packages(need.debian for need in needs)} (Debian's names; "
        f"Fedora's: {_packages(need.fedora for need in needs)})"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Look, and say what is missing; the exit status."""
    parser = argparse.ArgumentParser(description="Say what this machine lacks for the pipeline.")
    parser.add_argument("device", choices=("cpu", "gpu"))
    parser.add_argument(
        "--libraries", type=Path, metavar="FOLDER", help="put missing libraries here where that is possible"
    )
    asked = parser.parse_args(arguments)
    if os.environ.get("COMPASS_CHECK") == "off":
        return 0

    faults = unsuited(platform.system(), platform.machine(), glibc_version(), cpu_flags(), asked.device)
    libraries = missing_libraries(LIBRARIES[asked.device], Path(".venv/lib"))
    needs = missing_programs(PROGRAMS[asked.device])
    needs += missing_headers(HEADERS[asked.device], Path(sysconfig.get_path("include")))
    is_set_up = any(Path(".venv/lib").glob("python*/site-packages/vllm"))
    short = shortages(available_memory(), free_space(Path("/dev/shm")), free_space(Path(".")), is_set_up=is_set_up)
    # Nothing is downloaded for a machine that needs its owner's hand anyway.
    if asked.libraries and not (faults or needs or short):
        still = fetch(libraries, asked.libraries)
        for need in libraries:
            if need not in still:
                print(
                    f"check: {need.name} comes from the package {need.debian} into .venv/lib, the system stays as it is"
                )
        libraries = still
    needs = libraries + needs
    for fault in faults:
        print(f"check: {fault}", file=sys.stderr)
    for what, found, remedy in short:
        print(f"check: {what}: {found}" + (f"; {remedy}" if remedy else ""), file=sys.stderr)
    if needs:
        print("check: missing " + ", ".join(f"{need.name} ({need.use})" for need in needs), file=sys.stderr)
        manager = next((name for name in ("apt-get", "dnf") if shutil.which(name)), None)
        print("check: run this, then the same command again:", file=sys.stderr)
        print(f"  {command(needs, manager=manager, root=os.geteuid() == 0)}", file=sys.stderr)
    return int(bool(faults or short or needs))


def _loads(name: str) -> bool:
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _fields(path: Path) -> dict[str, int]:
    """A kernel file of `name number` lines."""
    return {line.split()[0]: int(line.split()[1]) for line in path.read_text().splitlines()}


def glibc_version() -> tuple[int, ...]:
    name, version = platform.libc_ver()
    return tuple(int(part) for part in version.split(".")) if name == "glibc" else ()


def cpu_flags(cpuinfo: Path = Path("/proc/cpuinfo")) -> set[str] | None:
    """The first processor's features."""
    if not cpuinfo.is_file():
        return None
    for line in cpuinfo.read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":", 1)[1].split())
    return None


def _packages(names: Iterable[str]) -> str:
    return " ".join(dict.fromkeys(names))


def gib(size: int) -> str:
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size >> 20} MiB"


if __name__ == "__main__":
    sys.exit(main())
