"""`compass status`: what runs now, what is stale and why, what the last run gave, what a run would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flows.status import Reason, Status

SHOWN = 3
"""Reasons per stage that are told; the others are counted."""


def status(*, json: bool = False) -> int:
    """Tell what runs now, what is stale and why, what the last run gave, and what a run would do.

    Args:
        json: print it as JSON, with every reason.

    Examples:
        compass status          what `compass run` would do, and why
        compass status --json   the same for a script
    """
    import dataclasses

    from compass.commands.up import find_repository
    from flows.status import read_status

    found = read_status(find_repository())
    if json:
        import json as writer

        print(writer.dumps(dataclasses.asdict(found), indent=2))
        return 0
    for line in format_status(found):
        print(line)
    return 0


def format_status(found: Status) -> Iterator[str]:
    """The status as text."""
    from compass.runs.progress_display import describe_step

    yield f"now       {found.running or 'nothing runs'}"
    for one in found.progress:
        yield f"          {one.stage}: {describe_step(one, one.seconds_left)}"
    yield from _format_last_run(found)
    if found.fault:
        yield f"stale     {found.fault}"
        return
    if not found.stale:
        yield "stale     nothing: a run would do nothing"
        return
    for number, (stage, reasons) in enumerate(found.stale.items()):
        yield f"{'' if number else 'stale':<9} {stage}: {_format_reasons(reasons)}"
    yield f"next run  {', '.join(found.stale)}"
    if found.following:
        yield f"          and, where what they read turns out different, {', '.join(found.following)}"


def _format_reasons(reasons: list[Reason]) -> str:
    """The reasons in one line: settings, inputs and outputs by name, files of code counted."""
    code = [one for one in reasons if one.kind == "code"]
    other = [one for one in reasons if one.kind != "code"]
    parts = [str(one) for one in other[:SHOWN]]
    if len(other) > SHOWN:
        parts.append(f"{len(other) - SHOWN} more")
    if code:
        files = f" and {len(code) - 1} more" if len(code) > 1 else ""
        parts.append(f"code {code[0].name}{files} changed")
    return "; ".join(parts)


def _format_last_run(found: Status) -> Iterator[str]:
    import time

    if last := found.last:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(last["began"]))
        what = f"ran {', '.join(last['ran'])}" if last["ran"] else "ran nothing"
        stopped = f" in {last['stage']}" if last["state"] != "finished" and last.get("stage") else ""
        kept = f"; kept as the experiment {last['experiment']}" if last.get("experiment") else ""
        yield f"last run  {when}, `{last['command']}`: {last['state']}{stopped}, {what}{kept}"
    if found.headline:
        shown = ", ".join(f"{name} {value:g}" for name, value in found.headline.items())
        yield f"results   {shown}"
