"""What a command writes, line by line: from a pipe, or from a terminal of its own where its bars are to be seen."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import re
import select
import sys
import termios
import threading
from collections.abc import Iterator
from typing import BinaryIO

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|[\x00-\x08\x0b\x0c\x0e-\x1a]")


def clean(line: str) -> str:
    """A line without colours and, of a progress bar, what it shows in the end."""
    return _CONTROL.sub("", line.rstrip("\r\n")).rsplit("\r", 1)[-1].rstrip()


class Output:
    """What a command writes, to a pipe or to a pseudo-terminal. A context manager.

    `write_end` is the file for the command; this process's copy of it is closed when reading begins, so that reading ends
    when the last process that has it does.
    """

    def __init__(self, shown: BinaryIO | None = None) -> None:
        """Args:
        shown: a terminal that everything is passed on to as it comes, bars and colours included; None for lines alone.
        """
        self._shown = shown
        self._read_end, self.write_end = _terminal(shown) if shown else os.pipe()
        self._open = {self._read_end, self.write_end}

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self._close(self.write_end)
        self._close(self._read_end)

    def lines(self) -> Iterator[str]:
        """The lines as they come, until the command has ended."""
        self._close(self.write_end)
        waiting = b""
        while chunk := _read(self._read_end):
            if self._shown:
                self._shown.write(chunk)
                self._shown.flush()
            *whole, waiting = (waiting + chunk).split(b"\n")
            yield from (clean(line.decode("utf-8", "replace")) for line in whole)
        if waiting:
            yield clean(waiting.decode("utf-8", "replace"))

    @contextlib.contextmanager
    def discarded(self) -> Iterator[None]:
        """Throw away what comes while the block runs: a command that is ended must not wait for a reader of its last words."""
        self._close(self.write_end)
        over = threading.Event()

        def discard() -> None:
            while not over.is_set():
                if select.select([self._read_end], [], [], 0.1)[0] and not _read(self._read_end):
                    return

        reader = threading.Thread(target=discard, daemon=True)
        reader.start()
        try:
            yield
        finally:
            over.set()
            reader.join()

    def _close(self, end: int) -> None:
        if end in self._open:
            self._open.remove(end)
            os.close(end)


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
