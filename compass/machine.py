"""What is asked of the operating system: how many cores there are to use, how full the machine is, and to end a process with its parent."""

from __future__ import annotations

import ctypes
import os
import signal
from pathlib import Path

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


def cores() -> int:
    """CPU cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def lacks_bfloat16() -> bool:
    """Whether this processor has no fast products of bfloat16: an x86 one without AVX-512. False where that is not known."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    flags = next((line.split() for line in text.splitlines() if line.startswith("flags")), [])
    return bool(flags) and not {"avx512bw", "avx_ne_convert"} & set(flags)


def describe_load() -> str:
    """Memory and load now: `3.1 of 24.0 GB of memory are free, and the load is 12.3 on 2 cores`."""
    import psutil

    memory = psutil.virtual_memory()
    return (
        f"{memory.available / 1e9:.1f} of {memory.total / 1e9:.1f} GB of memory are free, and the load is {os.getloadavg()[0]:.1f} on "
        f"{cores()} core{'s' * (cores() != 1)}"
    )


def describe_disk(path: str | os.PathLike[str]) -> str:
    """Room on the disk of a path, which need not exist: `0.2 of 50.0 GB are free`."""
    import shutil

    folder = os.path.abspath(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    room = shutil.disk_usage(folder)
    return f"{room.free / 1e9:.1f} of {room.total / 1e9:.1f} GB are free"


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, however the parent ends. Linux only.

    Args:
        parent: process id of the parent. When it has ended already, so that the kernel will not tell of it, this
            process ends here.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def main(parent: int, command: list[str]) -> None:
    """Become a command that ends with the process `parent`; never returns: `python compass/machine.py PARENT PROGRAM ARGUMENT...`.

    The kernel then ends the command with its starter, even by `kill -9`; a function to run between fork and exec would do
    the same, but may deadlock in a starter with threads.
    """
    die_with_parent(parent)  # kept across exec
    # A shell starts what runs in the background with Ctrl-C ignored; the run is ended by that signal first.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp(command[0], command)


if __name__ == "__main__":
    import sys

    main(int(sys.argv[1]), sys.argv[2:])
