"""Why a training run ended: the first cause in its log.

An RL stage runs about ten processes that log into one file. When one of them dies, the others end too, and each reports,
with its own traceback, that it waited for something that never came. The cause is reported once, by the process that
died first, hundreds of lines before the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TRACEBACK = "Traceback (most recent call last):"

DEATHS = (
    "Failed to import from vllm._C",  # a warning to vLLM, which then lacks its kernels
    "error while loading shared libraries",
    "Fatal Python error",
    "Segmentation fault",
    "Bus error",
    "No space left on device",
    "DefaultCPUAllocator: can't allocate memory",
    "Memory on the node",  # Ray, before it kills a worker
)
"""What a process says without a traceback when it is lost; the C library's, the kernel's, Python's and Ray's words."""

LONGEST = 600
"""Characters of a cause that are shown: some exceptions list every thing that was tried."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_PROCESS = re.compile(r"(\(\w+[^()]* pid=\d+[^()]*\) )*")
_STAMP = re.compile(r"(ERROR|WARNING|INFO|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d \[[^\]]*\] ?")


@dataclass(frozen=True)
class Cause:
    """The exception or message that came first, where in the log (1 is the first line), and whose it is."""

    text: str
    line: int
    process: str

    def __str__(self) -> str:
        return f"{self.text}\n(line {self.line} of the log{f', {self.process}' if self.process else ''})"


def first_cause(lines: Sequence[str], begin: int = 0) -> Cause | None:
    """Find what ended a run.

    Args:
        lines: its log, as Ray and vLLM write it: each line of another process begins with `(Name pid=N) `, and the
            lines of processes that log at once are mixed.
        begin: lines to leave out, of earlier runs that logged into the same file.

    Returns:
        The first death without a traceback, or the exception that the first traceback ends in, whichever stands first;
        of a chain of exceptions that is the innermost. None when the log has neither.
    """
    plain = [_plain(line) for line in lines]
    for number in range(begin, len(plain)):
        process, text = plain[number]
        if any(words in text for words in DEATHS):
            return Cause(text.strip()[:LONGEST], number + 1, process)
        if text.strip() == TRACEBACK:
            for last in range(number + 1, len(plain)):
                other, below = plain[last]
                # Frames and the code under them are indented more than the traceback's first line; its end is not.
                if other == process and below.strip() and _indent(below) <= _indent(text):
                    return Cause(below.strip()[:LONGEST], last + 1, process)
    return None


def reason(lines: Sequence[str], begin: int = 0, last: int = 25) -> str:
    """Why a run ended, for its user: the first cause in its log, or else the log's `last` lines."""
    cause = first_cause(lines, begin)
    if cause is not None:
        return str(cause)
    # What Python's extension modules say about leaks when a process is ended is no reason.
    noise = ("leaked ", "nanobind", "... skipped remainder")
    return "\n".join([line for line in lines[begin:] if not any(words in line for words in noise)][-last:])


def log_lines(log: Path) -> list[str]:
    """The lines of a log; none before it is begun."""
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _plain(line: str) -> tuple[str, str]:
    """Which process a line is of, and what it says."""
    text = _COLOUR.sub("", line.rstrip("\n"))
    process = _PROCESS.match(text).group()
    return process.strip(), _STAMP.sub("", text[len(process) :], count=1)
