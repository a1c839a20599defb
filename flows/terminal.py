"""A run as a terminal shows it: what it waits for, what it changes, what it did, and how to go on where it stopped."""

from __future__ import annotations

import sys
from pathlib import Path

from compass.durations import duration
from flows.goes_on import goes_on
from flows.interrupt import Stopped, stoppable
from flows.output import terminal_output
from flows.repro import ReproError, Watched
from flows.run import RunRequest, RunResult, run


def run_in_terminal(
    request: RunRequest, root: Path, *, program: str, started_by: str = "terminal", quiet: bool = False
) -> tuple[int, RunResult | None]:
    """Run and tell the user, on standard error, what happens.

    Args:
        request: what to run.
        root: the repository's root.
        program: what the lines begin with: the command that the user gave.
        started_by: the value of COMPASS_STARTED_BY.
        quiet: write the stages' lines to standard error, so that standard output is the caller's.

    Returns:
        The exit status, and what the run did where it ended well.

    Raises:
        UserError: the request cannot run; nothing has been changed.
    """

    def tell(line: str) -> None:
        print(f"{program}: {line}", file=sys.stderr, flush=True)

    def show(line: str) -> None:
        print(line, file=sys.stderr if quiet else sys.stdout, flush=True)

    watched = Watched()
    shown = None if quiet else terminal_output()
    try:
        with stoppable(f"{program}: stopping; a stage has up to 20 s to end"):
            result = run(
                request,
                root,
                log=show,
                on_wait=tell,
                on_change=tell,
                env={"COMPASS_STARTED_BY": started_by},
                watched=watched,
                shown=shown,
            )
    except Stopped as stopped:
        if not watched.started:
            tell("stopped while waiting; nothing was started")
        else:
            tell(f"stopped, and all that it started has ended. Run it again: {goes_on(root, watched.stage)}")
        return stopped.exit_status, None
    except ReproError as error:
        if error.stage is None:
            tell(str(error))
        else:
            tell(
                f"stage {error.stage} failed; its last lines are above. When that is put right, run it again: "
                f"{goes_on(root, error.stage)}"
            )
        return error.exit_status, None
    for line in summary(result):
        tell(line)
    return 0, result


def summary(result: RunResult) -> list[str]:
    """What a run did, and where to read its result, in one to three lines."""
    if not result.ran and not result.restored:
        return ["nothing to do: all is up to date"]
    done = [f"ran {', '.join(result.ran)}"] if result.ran else []
    if result.restored:
        done.append(f"took {', '.join(result.restored)} from the cache of earlier runs")
    if result.unchanged:
        done.append(f"{len(result.unchanged)} unchanged")
    lines = [f"{'; '.join(done)} ({duration(result.seconds)})"]
    if result.experiment:
        lines.append(f"kept as the experiment {result.experiment}; `dvc exp show` lists it beside the others")
    if "report" in (*result.ran, *result.restored):
        lines.append("which model is better, and how sure: reports/index.html")
    return lines
