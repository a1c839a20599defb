"""`compass run [STAGE]`: run the pipeline, or a part of it, through DVC; `make pipeline` calls it too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from flows.run import RunRequest, RunResult


def run(
    stage: str | None = None,
    /,
    *,
    set_: Annotated[list[str] | None, Parameter(name=["--set", "-S"], negative="", consume_multiple=False)] = None,
    only: bool = False,
    downstream: bool = False,
    force: Annotated[bool, Parameter(alias="-f")] = False,
    name: Annotated[str | None, Parameter(alias="-n")] = None,
    json: bool = False,
) -> int:
    """Run the pipeline.

    Runs the stages whose inputs, code or settings changed, and no other. What another run works on is waited for. A run
    that is stopped or fails goes on where it was when the same command is given again. Values given with `-S` are checked,
    written into params.yaml and stay there; the result is kept as a DVC experiment named after them. A run up to the report
    prints its tables of rows and scores at the end.

    Args:
        stage: run this stage and those that it needs; all of them by default.
        set_: a setting for this run and the next ones, as in params.yaml; may be given again.
        only: run the stage alone, without those that it needs.
        downstream: run the stage and those that build on it.
        force: run also what has not changed.
        name: what the experiment that keeps the result is called.
        json: print what was done as JSON; the stages' lines go to standard error.

    Examples:
        compass run                                 every stage whose inputs changed
        compass run evaluate -S evaluate.samples=16  up to evaluate, with more samples
        compass run rl-2 --downstream               rl-2 and all that builds on it
    """
    import dataclasses
    import json as json_module

    from compass.errors import UserError
    from flows.overrides import parse_parameters
    from flows.run import RunRequest

    if only and downstream:
        raise UserError("--only and --downstream: give one of them")
    scope = "only" if only else "downstream" if downstream else "upto"
    request = RunRequest(stage, scope, force, parse_parameters(set_ or []), name)
    status, result = run_in_terminal(request, Path.cwd(), quiet=json)
    if json and result:
        print(json_module.dumps(dataclasses.asdict(result), indent=2, default=str))
    elif result and "report" in (*result.ran, *result.restored, *result.unchanged):
        from compass.report.terminal_tables import print_tables

        print_tables()
    return status


def run_in_terminal(request: RunRequest, root: Path, *, quiet: bool = False) -> tuple[int, RunResult | None]:
    """Run, and print on standard error what is waited for, what changed, what ran, and how to continue after a stop.

    Args:
        request: what to run.
        root: the repository's root.
        quiet: write the stages' lines to standard error, so that standard output is the caller's.

    Returns:
        The exit status, and what the run did where it ended well.

    Raises:
        UserError: the request cannot run; nothing has been changed.
    """
    from compass.runs.run_name import read_last_run
    from flows.cancel import Stopped, stop_on_signals
    from flows.dvc_process import DvcError
    from flows.run import run

    def show(line: str) -> None:
        print(f"compass run: {line}", file=sys.stderr, flush=True)

    def log(line: str) -> None:
        print(line, file=sys.stderr if quiet else sys.stdout, flush=True)

    started = []
    inherits = sys.stdout.isatty() and not quiet  # a terminal gets the stages' own bars
    try:
        with stop_on_signals("compass run: stopping; a stage has up to 20 s to end, after SIGTERM 50 s"):
            result = run(
                request,
                root,
                log=None if inherits else log,
                on_wait=show,
                on_start=lambda: started.append(True),
            )
    except Stopped as stopped:
        if not started:
            show("stopped while waiting; nothing was started")
        else:
            stage = read_last_run(root).get("stage")
            show(f"stopped, and all that it started has ended. Run it again: {describe_resume(root, stage)}")
        return stopped.exit_status, None
    except DvcError as error:
        what, *_ = str(error).splitlines()
        if error.stage is None:
            show(str(error))
        else:
            show(f"{what}. Then run it again: {describe_resume(root, error.stage)}")
        return error.exit_status, None
    for line in summarize(result):
        show(line)
    return 0, result


def summarize(result: RunResult) -> list[str]:
    """What a run did, and where to read its result, in one to three lines."""
    from compass.durations import duration

    lines = [f"{result} ({duration(result.seconds)})" if result.ran or result.restored else str(result)]
    if result.experiment:
        lines.append(f"kept as the experiment {result.experiment}; `dvc exp show` lists it with the others")
    if "report" in (*result.ran, *result.restored):
        lines.append("which model is better, and how sure: reports/index.html")
    return lines


def describe_resume(root: Path, stage: str | None) -> str:
    """Where a stage that was stopped continues, in one clause: `rl-1 goes on from iteration 12 of 20`.

    Args:
        root: the repository's root.
        stage: the stage that was stopped; None where none was running.
    """
    from compass.runs.progress import read_progress

    if stage is None:
        return "it goes on with the stage that is next"
    last = read_progress(root).get(stage)
    if (done := _find_checkpoint(root, stage)) is not None:
        total = f" of {last.total:,.0f}" if last and last.unit == "iterations" and last.total else ""
        return f"{stage} goes on from iteration {done}{total}"
    if last and last.unit == "responses" and last.total and (root / "work" / stage).is_dir():
        return f"{stage} goes on from about response {last.done:,.0f} of {last.total:,.0f}"
    return f"it begins {stage} again; the stages before it are done"


def _find_checkpoint(root: Path, stage: str) -> int | None:
    """The iteration of the last checkpoint of an RL stage's last run."""
    from compass.rl.checkpoint import TRACKER
    from compass.rl.paths import find_newest

    newest = find_newest(root, stage)
    try:
        return int((newest.checkpoints / TRACKER).read_text()) if newest else None
    except (OSError, ValueError):
        return None
