"""`compass watch`: the run that is going on, in the terminal."""

from __future__ import annotations

import sys
import time
from typing import Annotated

from cyclopts import Parameter

EVERY_S = 2.0


def watch(
    stage: str = "", /, *, once: Annotated[bool, Parameter(name=["--once", "-1"])] = False, json: bool = False
) -> int:
    """Show the run that is going on: where each stage is, and the curves, guards and newest responses of one.

    It is what the live page of `compass up` shows, for a terminal. It follows the run until Ctrl-C, and changes nothing.

    Args:
        stage: the stage to show; the one that runs or ran last, if none is given.
        once: show the state now and end. So it does, too, where the output is not a terminal.
        json: print the state as one JSON object and end.

    Raises:
        WrongName: there is no such stage.

    Examples:
        compass watch            follow the run
        compass watch rl-1       one stage
        compass watch --once     the state now, for a log or a pipe
    """
    from rich.console import Console
    from rich.live import Live

    from compass.commands.up import find_repository
    from compass.errors import WrongName
    from compass.live.view import Reader
    from compass.page.blocks import as_json
    from compass.page.terminal import draw

    reader = Reader(find_repository())
    state = reader.newest().state(stage)
    names = [one["name"] for one in state["stages"]]
    if stage and stage not in names:
        raise WrongName(f"no stage {stage!r}; there are {', '.join(names)}")
    if json:
        import json as writer

        state["blocks"] = [as_json(block) for block in state["blocks"]]
        print(writer.dumps(state, ensure_ascii=True, allow_nan=False, indent=2))
        return 0
    console = Console()
    if once or not console.is_terminal:
        console.print(draw(state))
        return 0
    try:
        with Live(draw(state), console=console, screen=True, auto_refresh=False, vertical_overflow="crop") as live:
            while True:
                time.sleep(EVERY_S)
                live.update(draw(reader.newest().state(stage)), refresh=True)
    except KeyboardInterrupt:
        console.print(draw(reader.newest().state(stage)))
        sys.stdout.flush()
    return 0
