"""`compass runs`: what MLflow recorded, in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from compass.errors import UserError

app = App(name="runs", help="List the pipeline runs that were recorded, compare two, send records that wait.")

NAME, HEADLINE, STATE = 36, 20, 8
"""Characters of a run's name and of its headline, so that a line has 100."""


@app.command(name="list")
def list_runs(
    *,
    count: Annotated[int, Parameter(name=["--count", "-n"], validator=Number(gte=1, lte=10_000))] = 20,
    data: str = "",
    json: bool = False,
) -> int:
    """List pipeline runs, the newest first: name, when, the last model's score and gain over the base in points, and state.

    Args:
        count: how many.
        data: only runs that read or wrote this table or model; give DVC's hash or MLflow's digest, or how it begins.
        json: print all that is known of each as JSON.

    Examples:
        compass runs list                   the newest twenty
        compass runs list --data c984b1ca   the runs that used what DVC calls so
    """
    from compass.runs.run_name import fitted
    from compass.tracking.mlflow_runs import Runs

    found = Runs().newest(count, data=data)
    if json:
        _print_json([_facts(run) for run in found])
        return 0
    print(f"{'name':<{NAME}}  {'when':<16}  {'last model, gain':<{HEADLINE}}  {'state':<{STATE}}  id")
    for run in found:
        name = fitted(run.name, NAME)
        print(
            f"{name:<{NAME}}  {run.started:%Y-%m-%d %H:%M}  {headline(run):<{HEADLINE}}  {run.status.lower():<{STATE}}  {run.id[:8]}"
        )
    waiting = _waiting()
    if waiting:
        records = "1 record waits" if waiting == 1 else f"{waiting} records wait"
        print(f"{records} in .compass/outbox; `compass runs sync` sends them", file=sys.stderr)
    return 0


def headline(run: Any) -> str:
    """The last model's average accuracy, and in brackets its gain over the base in points; empty where none was scored."""
    if not run.models:
        return ""
    last = run.models[-1]
    average, gain = run.score(last), run.score(last, "gain")
    return f"{last} {100 * average[0]:.1f}%" + (f" ({100 * gain[0]:+.1f})" if gain else "")


@app.command
def compare(a: str, b: str, *, html: Path | None = None, json: bool = False) -> int:
    """Compare two runs: what differed in settings, scores with intervals, rows dropped, hours.

    A run is named by its name, the beginning of its id, or its DVC experiment. Where DVC's cache holds the responses of both,
    differences are paired: over the problems that both models answered.

    Args:
        a: the run to compare with.
        b: the other run.
        html: write a page with training curves and problems into this folder as well.
        json: print the comparison as JSON.

    Examples:
        compass runs compare tiny "tiny evaluate.samples=16"    by name
        compass runs compare 1a2b3c4d 5e6f7a8b --html compared  by id, with a page
    """
    from compass.page.terminal import print_blocks
    from compass.report.recorded import compare_recorded, comparison_blocks, page

    found = compare_recorded(a, b)
    if json:
        _print_json(found.as_dict())
    else:
        print_blocks(comparison_blocks(found))
    if html:
        print(f"page: {page(found, html)}", file=sys.stderr)
    return 0


@app.command
def sync() -> int:
    """Send the records that wait in `.compass/outbox` because the tracking server was away.

    Examples:
        compass runs sync   send them now
    """
    from compass.tracking.mlflow_client import describe_failure, failures
    from compass.tracking.mlflow_send import send_waiting

    try:
        sent, stay = send_waiting()
    except failures() as error:
        raise UserError(
            f"the tracking server does not take records ({describe_failure(error)}); they stay in .compass/outbox"
        ) from None
    if stay:
        print(
            f"{stay} records are of another server: set MLFLOW_TRACKING_URI to it and call this again", file=sys.stderr
        )
    print(f"{sent} records sent")
    return 0


def _waiting() -> int:
    from compass.tracking.outbox import list_waiting

    return len(list_waiting())


def _facts(run: Any) -> dict[str, Any]:
    from dataclasses import asdict

    ended = run.ended.isoformat() if run.ended else None
    return {**asdict(run), "started": run.started.isoformat(), "ended": ended}


def _print_json(values: Any) -> None:
    import json

    print(json.dumps(values, indent=2, ensure_ascii=False))
