"""`compass study`: recipes compared over several seeds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from compass.errors import UserError

if TYPE_CHECKING:
    from compass.report.study import Runs
    from compass.studies.study import Study
    from flows.studies import Planned

app = App(name="study")


@app.command(name="list")
def list_studies() -> int:
    """List the studies in `studies/`: how many of their runs are done, and what each asks.

    Exit status 1 where a file cannot be used; it is named, and the others are listed.

    Examples:
        compass study list
    """
    unreadable = 0
    for path in sorted(Path("studies").glob("*.yaml")):
        try:
            study, runs, others, *_ = _read(path.stem)
        except UserError as error:  # the others are listed all the same
            print(f"{path.stem:<16} cannot run: {error}", file=sys.stderr)
            unreadable = 1
        else:
            more = f" ({others} runs have other settings)" if others else ""
            done = sum(run is not None and not run["failed"] for *_, run in runs)
            failed = sum(run is not None and run["failed"] for *_, run in runs)
            more += f" ({failed} failed)" if failed else ""
            print(f"{path.stem:<16} {done:>3} of {len(runs):<3} {study.question}{more}")
    return unreadable


@app.command
def run(name: str, /) -> int:
    """Train every arm with every seed, one run after another.

    Every setting, file and model is checked before the first run. A study that is stopped or killed goes on where it was when the same
    command is given again. Results are kept in `studies/results/NAME.json`.

    Exit status: 3 where a run failed; the others have run.

    Args:
        name: a file of studies/, without .yaml.

    Raises:
        UserError: the study cannot run; nothing has been started.

    Examples:
        compass study run clip-higher    what studies/clip-higher.yaml asks for and is not done yet
    """
    from compass.commands.run import run_in_terminal
    from compass.studies.study import read_study
    from flows.studies import run_study

    root = Path.cwd()

    def tell(line: str) -> None:
        print(f"compass study: {line}", file=sys.stderr, flush=True)

    status = run_study(name, read_study(name, root), root, start=lambda one: run_in_terminal(one, root), show=tell)
    if status in (0, 3):
        show(name)
    return status


@app.command
def show(name: str, /, *, html: Path | None = None, json: bool = False) -> int:
    """Show what a study found so far: scores per arm, paired differences with intervals, and which arm is better.

    Args:
        name: a file of studies/, without .yaml.
        html: write a page with figures into this folder as well.
        json: print the comparisons as JSON.

    Raises:
        UserError: the study or its results cannot be read.

    Examples:
        compass study show clip-higher                       at any time, also while it runs
        compass study show clip-higher --html study-page     with training curves, as a page
    """
    import dataclasses
    import json as json_module

    from compass.page.terminal import print_blocks
    from compass.report.page import write_pages
    from compass.report.study import compare_runs, study_sections

    study, runs, others, left, running = _read(name)
    sections = study_sections(study, runs, left, others)
    if json:
        print(json_module.dumps([dataclasses.asdict(one) for one in compare_runs(study, runs)], indent=2))
    else:
        print_blocks(part for section in sections[:3] for part in section.parts)
        if running:
            print(f"under way: {running.arm}, seed {running.seed}; `compass status` shows its stages")
    if html:
        print(f"page: {write_pages(sections, html, title=f'Study {name}')}", file=sys.stderr)
    return 0


def _read(name: str) -> tuple[Study, Runs, int, float | None, Planned | None]:
    """A study, each of its runs with its result, how many kept runs have other settings, the seconds that runs without a result will take, and the run that
    is under way."""
    from compass.studies.study import read_study
    from flows.studies import count_others, estimate_seconds_left, find_done, find_running, plan_runs, read_runs

    root = Path.cwd()
    study = read_study(name, root)
    planned, kept = plan_runs(name, study, root), read_runs(name, root)
    done = find_done(planned, kept)
    runs = [(one.arm, one.seed, result) for one, result in done]
    others = count_others(planned, kept)
    return study, runs, others, estimate_seconds_left(done, root), find_running(done, root)
