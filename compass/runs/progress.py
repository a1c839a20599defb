"""How far a stage is, as `work/progress/STAGE.json`: written while the stage runs, read by pages and commands.

    with stage_progress("grade"):
        ...                       # whatever the block reports through `compass.progress`

A thread writes the file, at most once per second, so that a report costs the work nothing. `read_progress` gives `killed`
where the process of a running stage is gone. Where the file cannot be written, the stage continues and prints so once.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.processes import find_start, pipeline_key, process_runs
from compass.progress import Step, send_reports
from compass.runs.progress_display import Display
from compass.runs.values import scrub

FOLDER = Path("work/progress")

PREFECT_PAGE = "COMPASS_PREFECT_URL"
"""Environment variable with the address of the flow run that started a stage, if one did."""

EVERY_S = 1.0
"""Seconds between two writes."""

REMEMBERED = 30
"""Changes whose speed is that of the estimate: an older speed says little about the rest."""


@dataclass(frozen=True)
class StageProgress:
    """How far a stage is, or how it ended. Times are seconds since 1970."""

    stage: str
    state: str
    """`running`, `finished`, `failed`, or `killed`: ended by a signal or Ctrl-C."""

    started: float
    updated: float
    phase: str = ""
    detail: str = ""
    done: float = 0
    total: float | None = None
    """None where the phase has nothing to count, or does not know how much there is."""

    unit: str = ""
    seconds_left: float | None = None
    """Of the phase, at its recent speed; None until there is one."""

    pid: int = 0
    created: float = 0
    """When the process began (`compass.processes.find_start`): another one may have its number by now."""

    run: str | None = None
    """What the stages of one pipeline run have in common."""

    error: str = ""
    """The first line of the error that ended it."""

    refused: bool = False
    """Whether the stage ended itself with a message for its user, so that trying again would not help."""

    pages: dict[str, str] = field(default_factory=dict)
    """Text to address of the pages that show this run elsewhere."""


class Speed:
    """Seconds left, from the recent changes of a count."""

    def __init__(self) -> None:
        self._changes: deque[tuple[float, float]] = deque(maxlen=REMEMBERED)
        self._what: tuple[str, float | None] = ("", None)

    def note(self, now: float, step: Step) -> None:
        """Take note of a count; a new unit or total, or a count that fell, begins anew."""
        what = step.unit, step.total
        if what != self._what or (self._changes and step.done < self._changes[-1][1]):
            self._changes.clear()
            self._what = what
        if not self._changes or step.done != self._changes[-1][1]:
            self._changes.append((now, step.done))

    def seconds_left(self, now: float) -> float | None:
        """Seconds until the total is reached; None where there is no total, no speed yet, or nothing left."""
        total = self._what[1]
        # The first unit took the start-up as well; it is left out as soon as there is another.
        changes = list(self._changes)[1 if len(self._changes) > 2 else 0 :]
        if total is None or len(changes) < 2 or changes[-1][1] >= total:
            return None
        (first, few), (last, many) = changes[0], changes[-1]
        each = (last - first) / (many - few)
        # A change that is late takes nothing off what comes after it.
        usual = (last - first) / (len(changes) - 1)
        return (total - many) * each - min(now - last, usual)


@contextlib.contextmanager
def follow_reports(show: Callable[[Step, float | None], object]) -> Iterator[Callable[[], Step]]:
    """Give `show` the newest report of the block and the seconds left, every `EVERY_S` seconds, in a thread.

    Yields:
        A function that returns the newest report.
    """
    newest, ended, speed = [Step()], threading.Event(), Speed()

    def follow() -> None:
        while not ended.wait(EVERY_S):
            step, now = newest[0], time.monotonic()
            speed.note(now, step)
            show(step, speed.seconds_left(now))

    thread = threading.Thread(target=follow, name="progress", daemon=True)
    thread.start()
    try:
        with send_reports(lambda step: newest.__setitem__(0, step)):
            yield lambda: newest[0]
    finally:
        ended.set()
        thread.join()


class _ProgressFile:
    """Writes how far a stage is. A full disk or a read-only folder costs this view of the stage, never the stage."""

    def __init__(self, stage: str, path: Path, find_pages: Callable[[], dict[str, str]]) -> None:
        own = os.getpid()
        self._path, self._find_pages = path, find_pages
        self._facts = {
            "stage": stage,
            "started": time.time(),
            "pid": own,
            "created": find_start(own),
            "run": pipeline_key(),
        }
        self._pages: dict[str, str] = {}
        self._warned = False

    def write(self, state: str, step: Step, seconds_left: float | None = None, **more: Any) -> None:
        known = self._find_pages()  # fewer at the end, when the run is not tracked any more
        # Whole: the name and address of a run change when `compass up` starts a server for it.
        self._pages = known if len(known) >= len(self._pages) else self._pages
        left = None if seconds_left is None else round(seconds_left, 1)
        facts = {**self._facts, **asdict(step), "updated": time.time(), "seconds_left": left, "state": state}
        facts |= {"pages": self._pages, **more}
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Not forced to the disk: after a power cut nobody asks how far the stage was.
            temporary.write_text(json.dumps(facts), encoding="utf-8")
            temporary.replace(self._path)
        except OSError as failure:
            if not self._warned:
                self._warned = True
                why = f"cannot be written ({failure.strerror}); the stage continues"
                print(f"progress: {self._path} {why}", file=sys.stderr)


@contextlib.contextmanager
def stage_progress(stage: str, root: Path = Path(), pages: Callable[[], dict[str, str]] = dict) -> Iterator[None]:
    """Record how far `stage` is while the block runs, and how it ended; show it on standard error.

    Args:
        stage: its name.
        root: the repository's root; the file is `work/progress/STAGE.json` below it.
        pages: text to address of the pages that show this run, asked again and again: there may be none yet.
    """

    def find_pages() -> dict[str, str]:
        prefect = scrub(os.environ.get(PREFECT_PAGE, ""))
        return pages() | ({"Prefect run": prefect} if prefect else {})

    def show(step: Step, seconds_left: float | None) -> None:
        file.write("running", step, seconds_left)
        display.show(step, seconds_left)

    file, display = _ProgressFile(stage, (root / FOLDER / f"{stage}.json").absolute(), find_pages), Display(stage)
    newest, ended = Step, {"state": "finished"}
    file.write("running", Step())
    try:
        with follow_reports(show) as newest:
            yield
    except BaseException as error:
        state = "killed" if isinstance(error, KeyboardInterrupt) else "failed"
        ended = {"state": state, "error": first_line(error), "refused": isinstance(error, UserError)}
        raise
    finally:
        display.end()
        file.write(step=newest(), **ended)


def read_progress(root: Path = Path()) -> dict[str, StageProgress]:
    """Stage to how far it is, for every stage that has run in this repository since `work/` was made.

    A file that is not whole is left out: the next look finds it whole. A stage whose process is gone is `killed`.
    """
    found = {}
    for path in sorted((root / FOLDER).glob("*.json")):
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            found[path.stem] = _read(json.loads(path.read_text(encoding="utf-8")))
    return found


def read_run(root: Path, key: str) -> list[StageProgress]:
    """The stages that one pipeline run has started, in their order.

    Args:
        root: the repository's root.
        key: what the stages of the run have in common (`compass.processes.pipeline_key`).
    """
    return sorted((one for one in read_progress(root).values() if one.run == key), key=lambda one: one.started)


def _read(facts: dict[str, Any]) -> StageProgress:
    known = {field.name for field in fields(StageProgress)}
    progress = StageProgress(**{name: value for name, value in facts.items() if name in known})
    if progress.state != "running" or process_runs(f"{progress.pid}:{progress.created:.2f}"):
        return progress
    return StageProgress(**{**asdict(progress), "state": "killed", "seconds_left": None})


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or its kind where it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
