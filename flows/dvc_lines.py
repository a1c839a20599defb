"""What DVC's output says about its stages: which begins, which is skipped, which failed, and whose a line is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

_RUNNING = re.compile(r"Running stage '(?P<stage>[^']+)':")
_SKIPPED = re.compile(r"(?:Stage )?'(?P<stage>[^']+)' didn't change, skipping")
_CACHED = re.compile(r"Stage '(?P<stage>[^']+)' is cached - skipping run, checking out outputs")
_DONE = re.compile(r"(?:Updating|Generating) lock file ")
_FAILED = re.compile(r"ERROR: failed to reproduce '(?P<stage>[^']+)'")


@dataclass(frozen=True)
class Event:
    """Something that happened to a stage.

    `begins`, then `line` for what it prints, then `done` or `failed`; or `unchanged` (its outputs are as they should be),
    or `restored` (DVC took them from its cache). A `line` with `stage` None is DVC's own.
    """

    kind: Literal["begins", "line", "done", "failed", "unchanged", "restored"]
    stage: str | None
    text: str = ""


class DvcLines:
    """Reads the lines of one `dvc repro` or `dvc exp run` as they come."""

    def __init__(self) -> None:
        self.running: str | None = None
        """The stage that runs now."""

    def read(self, line: str) -> Iterator[Event]:
        """The events of one line."""
        if found := _RUNNING.fullmatch(line.strip()):
            yield from self.end("done")
            self.running = found["stage"]
            yield Event("begins", self.running)
        elif found := _SKIPPED.fullmatch(line.strip()):
            yield from self.end("done")
            yield Event("unchanged", found["stage"])
        elif found := _CACHED.fullmatch(line.strip()):
            yield from self.end("done")
            yield Event("restored", found["stage"])
        elif self.running and _DONE.match(line):
            yield from self.end("done")
        elif found := _FAILED.match(line.strip()):
            # Names the stage that ran, or one that could not begin.
            if self.running != found["stage"]:
                yield from self.end("done")
                yield Event("begins", found["stage"])
                self.running = found["stage"]
            yield Event("line", self.running, line)
            yield from self.end("failed")
        else:
            yield Event("line", self.running, line)

    def end(self, kind: Literal["done", "failed"]) -> Iterator[Event]:
        """The end of the stage that runs, if one does."""
        if self.running:
            stage, self.running = self.running, None
            yield Event(kind, stage)


def last_words(lines: list[str], stage: str | None = None, at_most: int = 8) -> list[str]:
    """The last lines of what failed: a stage's own message where it wrote one, else the end of the traceback.

    Args:
        lines: what it printed.
        stage: the stage; None for DVC itself.
        at_most: lines to keep.
    """
    own = [line for line in lines if line.strip() and not _FAILED.match(line.strip())] or lines
    for number in range(len(own) - 1, -1, -1):
        # What stands below a traceback's frames is the error; one frame above says where.
        if own[number].startswith("  File ") or (stage and own[number].startswith(f"{stage}: ")):
            return own[number:][-at_most:]
    return own[-at_most:]
