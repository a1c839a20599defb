"""`compass plan`: what a run takes before it starts."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import App, Parameter, validators

from compass.commands.plan_evaluation import evaluation

if TYPE_CHECKING:
    from compass.plan.forecast import Forecast, Input, Known, Shortage
    from compass.settings import Settings

    Note = TypeVar("Note", Input, Shortage)


app = App(name="plan")
app.command(evaluation)


@app.default
def plan(
    *,
    profile: str | None = None,
    params: Path | None = None,
    gpu: str | None = None,
    price: Annotated[float | None, Parameter(validator=validators.Number(gt=0))] = None,
    rows: Annotated[int | None, Parameter(validator=validators.Number(gt=0))] = None,
    json: bool = False,
) -> int:
    """Forecast a run before anything is spent: tokens, FLOPs, memory, hours and cost per stage, and what does not fit.

    The range of hours is the spread over what is assumed, above all the mean length of a response; what the last run in this
    folder measured is taken from it, if that was of the same profile. Data stages are left out: they take minutes.

    Exit status: 0, or 1 where something does not fit the GPUs.

    Args:
        profile: a file of profiles/, without .yaml (without it, the parameters in use).
        params: a parameter file (without it, params.yaml).
        gpu: GPUs by name and number in all nodes, such as h100:8; without it, those of this machine, or its CPU.
        price: of one GPU for an hour, or of this machine for an hour where it has none; any currency.
        rows: problems that curation leaves; without it, those of the last run in this folder, of generated data or small files, or
            `grade.max_problems`.
        json: print one object.

    Raises:
        SettingsError: the parameter file cannot be used.
        UserError: an unknown GPU, or the number of problems is known from nowhere.

    Examples:
        compass plan                                                the parameters in use, on this machine
        compass plan --profile paper --rows 500000 --gpu h100:8     another profile on rented GPUs
        compass plan --gpu a100:4 --price 2.5                       with the cost
        compass plan evaluation --benchmarks aime-2024,math-500 --gain 3    an evaluation: chance to find a gain, tokens, hours
    """
    from compass.errors import UserError
    from compass.plan.forecast import forecast
    from compass.plan.hardware import find_machine
    from compass.runs.run_name import read_last_run
    from compass.settings import load_settings

    if profile and params:
        raise UserError("give --profile or --params, not both")
    path = Path("profiles") / f"{profile}.yaml" if profile else params or Path("params.yaml")
    settings, machine = load_settings(path), find_machine(gpu)
    before = read_last_run(Path()).get("settings")
    known = _known(settings, rows, own=before["profile"] == settings.profile if before else not (profile or params))
    found = forecast(settings, machine, known, Path())
    if json:
        print(json_text.dumps(asdict(found), indent=2))
    else:
        _print_forecast(found, price)
    return 1 if found.shortages else 0


def _known(settings: Settings, rows: int | None, *, own: bool) -> Known:
    """What the last run measured, if it is of the same profile, and the number of problems, also of small files of benchmarks."""
    from compass.checks.data import check_source
    from compass.errors import UserError
    from compass.plan.forecast import Known, read_known

    known = read_known(Path()) if own else Known()
    if rows is not None:
        known = replace(known, rows=rows, rows_from="setting")
    elif known.rows is None and (most := _most_rows(settings)):
        known = replace(known, rows=most[0], rows_from=most[1])
    benchmarks = [one for one in settings.collect.benchmarks if one.path]
    counted = {one.name: rows for one in benchmarks if (rows := check_source("", one, settings.collect, Path())[1])}
    known = replace(known, items={**counted, **known.items})
    if known.rows is None:
        raise UserError(
            "how many problems curation leaves is not known before it ran: give --rows N, or `compass run denoise` first"
        )
    return known


def _most_rows(settings: Settings) -> tuple[int, str] | None:
    """Problems to grade at most before curation ran, and where that is from: generated, of small files, or limited; None where nothing says it."""
    from compass.checks.data import check_source
    from compass.plan.forecast import count_generated

    if generated := count_generated(settings):
        return generated, "setting"
    known = [(most, "setting")] if (most := settings.grade.max_problems) else []
    counts = [check_source("", one, settings.collect, Path())[1] for one in settings.collect.sources]
    read = sum(count for count in counts if count is not None)
    if read and None not in counts:
        known.append((read, "assumed"))
    return min(known, default=None)


def _print_forecast(found: Forecast, price: float | None) -> None:
    from compass.page.blocks import Note, Table, format_hours, format_short
    from compass.page.terminal import print_blocks

    units = (price or 0) * (found.machine.gpus or 1)

    def row(
        name: str, responses: float, tokens: float, pflops: float, memory: float | None, hours: tuple[float, ...]
    ) -> list[Any]:
        flops = f"{pflops:,.3g}" if pflops < 1000 else f"{pflops:,.0f}"
        low, middle, high = map(format_hours, hours)
        cells = [name, f"{responses:,.0f}", format_short(tokens), flops, None if memory is None else f"{memory:,.0f}"]
        return [*cells, middle, f"{low} to {high}", f"{hours[1] * units:,.2f}"]

    rows = [row(one.name, one.responses, one.tokens, one.pflops, one.memory_gb, one.hours) for one in found.stages]
    total = tuple(sum(one.hours[at] for one in found.stages) for at in range(3))
    sums = [sum(getattr(one, what) for one in found.stages) for what in ("responses", "tokens", "pflops")]
    memory = max((one.memory_gb for one in found.stages if one.memory_gb), default=None)
    rows.append(row("all", *sums, memory, total))
    head = ["stage", "responses", "tokens", "PFLOP", "GB per GPU", "hours", "low to high", "cost"]
    left_out = {*(["GB per GPU"] if found.machine.gpu is None else []), *([] if price else ["cost"])}
    kept = [place for place, name in enumerate(head) if name not in left_out]
    table = Table([head[place] for place in kept], [[one[place] for place in kept] for one in rows])
    print_blocks([Note(f"On {found.machine}; a range is the spread over what is assumed"), table])
    print("\nFrom:")
    for stages, one in _joined(found.inputs):
        print(f"  {stages}{one.what}: {one.value} ({one.source})")
    for stages, short in _joined(found.shortages):
        print(f"\nDoes not fit: {stages}{short.found}\n     {short.remedy}")


def _joined(notes: Sequence[Note]) -> list[tuple[str, Note]]:
    """Notes that differ in their stage alone as one, with the stages' names."""
    stages: dict[Note, list[str]] = {}
    for note in notes:
        stages.setdefault(replace(note, stage=""), []).append(note.stage)
    return [(f"{', '.join(names)}: " if names[0] else "", note) for note, names in stages.items()]
