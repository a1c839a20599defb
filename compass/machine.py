"""What the project asks the operating system for: cores, and processes that end with those who started them.

    python compass/machine.py PARENT_PID PROGRAM ARGUMENT...   # run a program that the kernel kills when its parent ends

Nothing of the project is imported, so that the command above works in any folder and starts at once.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>
_PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


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


def collect_orphans() -> None:
    """Have the kernel make this process the parent of the orphans among its descendants. Linux only."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def command_that_dies_with_me(command: list[str]) -> list[str]:
    """The command line that runs `command` as a child which the kernel kills when this process ends.

    A shell starts what runs in the background with Ctrl-C ignored; the command hears it again.
    """
    return [sys.executable, "-IS", __file__, str(os.getpid()), *command]


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))  # kept across exec
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])
