"""The one way to run the pipeline: check, wait in line, write the values into `params.yaml`, run DVC, keep the result.

    run(RunRequest("evaluate", overrides={"evaluate.samples": 16}), Path("."), log=print)

`compass run`, `make pipeline`, the flows of Prefect and the `dvc` of this environment (`flows.dvc`) call it, so that runs
started in different places never meet: they wait for each other (`compass.line`) and end one after another.

Values go through `params.yaml` and the stages run through `dvc repro`; the result is then saved by `dvc exp save`. DVC's
`exp run` does the same in one step, but works on a detached HEAD meanwhile: a run that is killed would leave the
repository there.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from compass.line import in_line
from compass.runs.last_run import write_last_run
from flows.experiment import planned_name, save_experiment
from flows.overrides import Change, changed_text, parameter_words, read_text, write_overrides
from flows.repro import ReproError, Watched, dvc_words, forget_dead_locks, raw_dvc, run_group

Scope = Literal["upto", "only", "downstream"]


@dataclass(frozen=True)
class RunRequest:
    """What to run, and with which values."""

    target: str | None = None
    """A stage of dvc.yaml; None for all."""

    scope: Scope = "upto"
    """`upto`: the target and what it needs; `only`: the target alone; `downstream`: the target and what builds on it."""

    force: bool = False
    """Run the stages even where nothing changed."""

    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Dotted names of settings to values; they stay in `params.yaml`, as with `dvc exp run -S`."""

    name: str | None = None
    """The experiment that keeps the result; None names it after what differs from the profile."""

    message: str | None = None
    """The message of the experiment's commit."""

    extra: tuple[str, ...] = ()
    """Further words for `dvc repro`: its own options, several targets."""

    def words(self) -> list[str]:
        """The words after `dvc` that do the same from a terminal, but for the values and the experiment."""
        return [*dvc_words(self.target, scope=self.scope, force=self.force), *self.extra]

    def command(self) -> str:
        """The `dvc` command that does what this request does."""
        import shlex

        verb, *rest = self.words()
        sets = [word for value in parameter_words(self.overrides) for word in ("-S", value)]
        return shlex.join(["dvc", *(["exp", "run"] if sets or self.name else [verb]), *sets, *rest])


@dataclass(frozen=True)
class RunResult:
    """What a run that ended well did."""

    command: str
    """The `dvc` command that does the same."""

    ran: tuple[str, ...]
    """The stages that ran, in their order."""

    restored: tuple[str, ...]
    """The stages whose results came from DVC's cache of earlier runs."""

    unchanged: tuple[str, ...]
    """The stages that had nothing to do."""

    changes: tuple[Change, ...]
    """The settings that were changed for it."""

    experiment: str | None
    """The DVC experiment that holds the result; None where nothing ran, or the folder is no git repository."""

    seconds: float
    """From the moment that it was its turn."""

    waited_s: float
    """Seconds in line."""


def run(
    request: RunRequest,
    root: str | Path = ".",
    *,
    log: Callable[[str], object] = print,
    on_wait: Callable[[str], object] | None = None,
    env: Mapping[str, str] | None = None,
    watched: Watched | None = None,
    on_change: Callable[[str], object] | None = None,
    shown: BinaryIO | None = None,
) -> RunResult:
    """Run stages through DVC; returns when they have ended.

    An exception that reaches the call, such as KeyboardInterrupt, ends every process of the run first.

    Args:
        request: what to run.
        root: the repository's root.
        log: takes the lines that DVC and the stages write.
        on_wait: told what the run waits for, at once and then once a minute; standard error by default.
        env: variables for the stages: COMPASS_PIPELINE_RUN (unique per run; made here by default), COMPASS_STARTED_BY
            (`terminal` by default), COMPASS_PREFECT_URL.
        watched: filled with the stage that runs and those that ran, for a caller that shows them meanwhile.
        on_change: told each setting that is changed in `params.yaml`.
        shown: a terminal that gets the output as it comes, bars included, instead of `log`.

    Raises:
        UserError: the request, a setting, a file or a variable cannot be used. Nothing has been changed or started.
        ReproError: a stage failed; the message has the last lines of its error.
    """
    root = Path(root).resolve()
    watched = watched if watched is not None else Watched()
    check_request(request, root)
    command, asked = request.command(), time.monotonic()
    with in_line(root, command, on_wait=on_wait) as held:
        began = time.monotonic()
        # Another run may have changed the file while this one waited.
        changes = write_overrides(root, request.overrides) if request.overrides else []
        for change in changes:
            (on_change or log)(f"params.yaml: {change}")
        name = request.name or planned_name(root)
        variables = {
            "COMPASS_PIPELINE_RUN": f"run-{socket.gethostname()}-{os.getpid()}-{time.time_ns()}",
            "COMPASS_STARTED_BY": "terminal",
            **({"DVC_EXP_NAME": name} if name else {}),
            **(env or {}),
            **held,
        }
        forget_dead_locks(root)
        saved = None
        with _remembered(root, command, watched) as facts:
            run_group(raw_dvc(*request.words()), folder=root, log=log, env=variables, watched=watched, shown=shown)
            if name:
                saved = save_experiment(root, name, watched.ran, message=request.message, env=variables)
                if watched.ran and not saved:
                    log(
                        f"the result is in this folder, but not kept as an experiment; `dvc exp save -n {name}` says why"
                    )
            facts["experiment"] = saved
    return RunResult(
        command=command,
        ran=tuple(watched.ran),
        restored=tuple(watched.restored),
        unchanged=tuple(watched.unchanged),
        changes=tuple(changes),
        experiment=saved,
        seconds=time.monotonic() - began,
        waited_s=began - asked,
    )


@contextlib.contextmanager
def _remembered(root: Path, command: str, watched: Watched) -> Iterator[dict[str, Any]]:
    """Keep what the block did, for `compass status`, however it ends."""
    began, clock, state = time.time(), time.monotonic(), "finished"
    facts: dict[str, Any] = {}
    try:
        yield facts
    except BaseException as error:
        state = "failed" if isinstance(error, ReproError) else "stopped"
        facts["stage"] = watched.stage
        raise
    finally:
        seconds = time.monotonic() - clock
        write_last_run(root, command=command, state=state, began=began, seconds=seconds, ran=watched.ran, **facts)


def check_request(request: RunRequest, root: Path) -> None:
    """Refuse a request that cannot end well, before anything is changed or started.

    Raises:
        UserError: the target is no stage; a setting, a file or a variable cannot be used.
    """
    import difflib

    from compass import preflight
    from compass.errors import UserError
    from compass.runs.dvc_files import Graph

    stages = list(Graph(root).stages)
    if not stages:
        raise UserError(f"{root / 'dvc.yaml'}: no stages found; run this from the repository's root")
    if request.target is not None and request.target not in stages:
        similar = difflib.get_close_matches(request.target, stages, n=1)
        hint = f"did you mean {similar[0]}?" if similar else f"there are {', '.join(stages)}"
        raise UserError(f"there is no stage {request.target!r}; {hint}")
    if request.target is None and request.scope != "upto" and not request.extra:
        raise UserError(f"give the stage to run {'alone' if request.scope == 'only' else 'from'}")
    text = read_text(root)
    preflight.check(root, text=changed_text(text, request.overrides)[0] if request.overrides else text)
