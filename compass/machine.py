"""What is asked of the operating system: how many cores there are to use, and to end a process with its parent."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


def cores() -> int:
    """CPU cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
