"""`compass runs`: what MLflow recorded, in the terminal."""

from __future__ import annotations

import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter
from cyclopts.validators import Number

from compass.errors import UserError

app = App(
    name="runs", help="List the pipeline runs that were recorded, compare two, export one, send records that wait."
)

NAME, CHANGED, HEADLINE, STATE = 22, 23, 18, 8
"""Characters of a run's name, of what it changed, and of its headline, so that a line has 100."""


@app.command(name="list")
def list_runs(
    *,
    count: Annotated[int, Parameter(name=["--count", "-n"], validator=Number(gte=1, lte=10_000))] = 20,
    data: str = "",
    json: bool = False,
) -> int:
    """List pipeline runs, the newest first: name, what changed since the run before, when, the last model's score and gain over the base in
    points, and state.

    Args:
        count: how many.
        data: only runs that read or wrote this table or model; give DVC's hash or MLflow's digest, or how it begins.
        json: print all that is known of each as JSON.

    Examples:
        compass runs list                   the newest twenty
        compass runs list --data c984b1ca   the runs that used what DVC calls so
    """
    from compass.tracking.mlflow_runs import Runs
    from compass.tracking.outbox import list_waiting

    runs = Runs()
    found = runs.newest(count, data=data)
    if json:
        _print_json([_list_facts(run) for run in found])
        return 0
    every = runs.newest() if data else runs.newest(count + 1)
    before = {run.id: earlier for run, earlier in pairwise(every)}
    print(
        f"{'name':<{NAME}}  {'changed':<{CHANGED}}  {'when':<11}  {'last model, gain':<{HEADLINE}}  {'state':<{STATE}}  id"
    )
    for run in found:
        name = run.name if len(run.name) <= NAME else f"{run.name[: NAME - 1]}…"
        changed = find_changes(run, before[run.id]) if run.id in before else ""
        print(
            f"{name:<{NAME}}  {changed:<{CHANGED}}  {run.started:%m-%d %H:%M}  {format_headline(run):<{HEADLINE}}  {run.status.lower():<{STATE}}  {run.id[:8]}"
        )
    if not found:
        print(_explain_no_runs(data), file=sys.stderr)
    if waiting := len(list_waiting()):
        records, them = ("1 record waits", "it") if waiting == 1 else (f"{waiting} records wait", "them")
        print(f"{records} in .compass/outbox; `compass runs sync` sends {them}", file=sys.stderr)
    return 0


def _explain_no_runs(data: str) -> str:
    """Why a list of runs is empty, and what brings one."""
    from compass.tracking.mlflow_client import server_name

    server = server_name()
    said = f"No run {f'that used {data} ' if data else ''}is recorded {'here' if server == 'local' else f'at {server}'}"
    if os.environ.get("COMPASS_TRACKING") == "off":
        return f"{said}, and COMPASS_TRACKING=off records none."
    return f"{said}{'' if data else '; `compass run` records one'}."


def find_changes(run: Any, before: Any) -> str:
    """The settings that differ between two runs, each with the later run's value; without one it is the profile's.

    Returns:
        At most `CHANGED` characters; `+2` counts what does not fit.
    """
    from compass.runs.run_name import own_name

    names = [name for name in {**run.params, **before.params} if run.params.get(name) != before.params.get(name)]
    words = [f"{own_name(name)}={run.params.get(name, 'profile')}" for name in names]
    for shown in range(len(words), 0, -1):
        text = " ".join([*words[:shown], *([f"+{len(words) - shown}"] if shown < len(words) else [])])
        if len(text) <= CHANGED:
            return text
    more = f"… +{len(words) - 1}" if len(words) > 1 else "…"
    return words[0][: CHANGED - len(more)] + more if words else ""


def format_headline(run: Any) -> str:
    """The last model's average accuracy, and in brackets its gain over the base in points; empty where none was scored."""
    if not run.models:
        return ""
    last = run.models[-1]
    average, gain = run.score(last), run.score(last, "gain")
    return f"{last} {100 * average[0]:.1f}%" + (f" ({100 * gain[0]:+z.1f})" if gain else "")


@app.command
def compare(a: str, b: str, /, *, html: Path | None = None, json: bool = False) -> int:
    """Compare two runs: what differed in settings, scores with intervals, rows dropped, hours.

    A run is named by its name, the beginning of its id, or its DVC experiment. Where DVC's cache holds the responses of both,
    differences are paired: over the problems that both models answered.

    Args:
        a: the run to compare with.
        b: the other run.
        html: write a page with training curves and problems into this folder as well.
        json: print the comparison as JSON.

    Examples:
        compass runs compare tiny "tiny samples=16"             by name
        compass runs compare 1a2b3c4d 5e6f7a8b --html compared  by id, with a page
    """
    from compass.page.terminal import print_blocks
    from compass.report.recorded import compare_recorded, comparison_blocks, write_comparison_page

    found = compare_recorded(a, b)
    if json:
        _print_json(found.as_dict())
    else:
        print_blocks(comparison_blocks(found))
    if html:
        print(f"page: {write_comparison_page(found, html)}", file=sys.stderr)
    return 0


@app.command
def export(folder: Path = Path(), /, *, tensorboard: Path | None = None, wandb: Path | None = None) -> int:
    """Write a finished run for TensorBoard or Weights & Biases: training curves, scores and settings.

    Nothing is sent: W&B's run is an offline one, which `wandb sync` sends.

    Args:
        folder: a run's folder, or an evaluation's (without it, this one).
        tensorboard: the folder for TensorBoard's event files.
        wandb: the folder for W&B's offline run.

    Raises:
        UserError: the folder is no run, or neither kind is asked for.

    Examples:
        compass runs export --tensorboard tb                     then: tensorboard --logdir tb
        compass runs export exports/mine --wandb offline         another run's folder; then: wandb sync
    """
    from compass.report.export import write_tensorboard, write_wandb
    from compass.report.run import read_run

    if tensorboard is None and wandb is None:
        raise UserError("give --tensorboard FOLDER, --wandb FOLDER, or both")
    run = read_run(folder)
    if not run.results.scores and not run.results.curves:
        raise UserError(
            f"{folder}: neither an RL stage nor the evaluation has run there, so there is nothing to export"
        )
    if tensorboard is not None:
        print(f"{write_tensorboard(run, tensorboard)}; `tensorboard --logdir {tensorboard}` shows it")
    if wandb is not None:
        place = write_wandb(run, wandb)
        print(f"{place}; `wandb sync {place}` sends it")
    return 0


@app.command
def sync() -> int:
    """Send the records that wait in `.compass/outbox` because the tracking server was away, and end the runs that are over.

    Examples:
        compass runs sync   send them now
    """
    from compass.tracking.mlflow_client import describe_failure, failures
    from compass.tracking.mlflow_send import end_pipelines, send_waiting
    from compass.tracking.outbox import count_unreadable

    if lost := count_unreadable():
        print(
            f"{lost} in .compass/outbox cannot be read: left by a kill, or by an older version, which can send what it wrote",
            file=sys.stderr,
        )
    try:
        sent, stay = send_waiting()
        end_pipelines()
    except failures() as error:
        raise UserError(
            f"the tracking server does not take records ({describe_failure(error)}); they stay in .compass/outbox"
        ) from None
    if stay:
        print(
            f"{stay} records are of another server: set MLFLOW_TRACKING_URI to it and call this again", file=sys.stderr
        )
    print(f"{sent} record{'s' * (sent != 1)} sent")
    return 0


def _list_facts(run: Any) -> dict[str, Any]:
    from dataclasses import asdict

    ended = run.ended.isoformat() if run.ended else None
    return {**asdict(run), "started": run.started.isoformat(), "ended": ended}


def _print_json(values: Any) -> None:
    import json

    print(json.dumps(values, indent=2, ensure_ascii=False))
