"""What a command writes, line by line: from a pipe, or from a terminal of its own where its bars are to be seen."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import re
import sys
import termios
from collections.abc import Callable, Iterator
from typing import BinaryIO

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|[\x00-\x08\x0b\x0c\x0e-\x1a]")


def clean(line: str) -> str:
    """A line without colours and, of a progress bar, what it shows in the end."""
    return _CONTROL.sub("", line.rstrip("\r\n")).rsplit("\r", 1)[-1].rstrip()


@contextlib.contextmanager
def lines_of(shown: BinaryIO | None) -> Iterator[tuple[int, Callable[[], Iterator[str]]]]:
    """Where a command is to write, and the function that reads its lines until it has ended.

    Args:
        shown: a terminal that everything is passed on to as it comes, bars and colours included; None for lines alone.
    """
    read, write = _terminal(shown) if shown else os.pipe()
    open_ends = {read, write}

    def close(end: int) -> None:
        if end in open_ends:
            open_ends.remove(end)
            os.close(end)

    def lines() -> Iterator[str]:
        close(write)  # the command has it; reading ends when the last process that has it does
        waiting = b""
        while chunk := _read(read):
            if shown:
                shown.write(chunk)
                shown.flush()
            *whole, waiting = (waiting + chunk).split(b"\n")
            yield from (clean(line.decode("utf-8", "replace")) for line in whole)
        if waiting:
            yield clean(waiting.decode("utf-8", "replace"))

    try:
        yield write, lines
    finally:
        close(write)
        close(read)


def terminal_output() -> BinaryIO | None:
    """This process's standard output where it is a terminal, else None."""
    with contextlib.suppress(AttributeError, ValueError, io.UnsupportedOperation):
        if sys.stdout.isatty():
            return sys.stdout.buffer
    return None


def _terminal(like: BinaryIO) -> tuple[int, int]:
    """Both ends of a new pseudo-terminal of the same size that changes nothing of what is written."""
    read, write = os.openpty()
    with contextlib.suppress(OSError):
        fcntl.ioctl(write, termios.TIOCSWINSZ, fcntl.ioctl(like.fileno(), termios.TIOCGWINSZ, b"\0" * 8))
    mode = termios.tcgetattr(write)
    mode[1] &= ~termios.OPOST  # the real terminal turns \n into \r\n
    mode[3] &= ~termios.ECHO
    termios.tcsetattr(write, termios.TCSANOW, mode)
    return read, write


def _read(file: int) -> bytes:
    try:
        return os.read(file, 65536)
    except OSError as error:
        if error.errno == errno.EIO:  # how a pseudo-terminal says that nobody has the other end
            return b""
        raise
