"""Run a command that ends with whoever started it: `python flows/child.py PARENT_PID PROGRAM ARGUMENT...`.

The kernel kills the command when its starter ends, even by `kill -9`; the guards of `compass.process_tree` then end the
stage that runs below it. Nothing of the project is imported, so that it works in any folder and starts at once.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


def main(parent: int, command: list[str]) -> None:
    """Become the command; never returns."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # kept across exec
    if os.getppid() != parent:
        sys.exit(1)
    # A shell starts what runs in the background with Ctrl-C ignored; the run is ended by that signal first.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
