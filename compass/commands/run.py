"""`compass run [STAGE]`: run the pipeline, or a part of it, through DVC; `make pipeline` calls it too."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter


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
    written into params.yaml and stay there; the result is kept as a DVC experiment named after them.

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
    from pathlib import Path

    from compass.errors import UserError
    from flows.overrides import parse_parameters
    from flows.run import RunRequest
    from flows.terminal import run_in_terminal

    if only and downstream:
        raise UserError("--only and --downstream: give one of them")
    scope = "only" if only else "downstream" if downstream else "upto"
    request = RunRequest(stage, scope, force, parse_parameters(set_ or []), name)
    status, result = run_in_terminal(request, Path.cwd(), program="compass run", quiet=json)
    if json and result:
        print(json_module.dumps(dataclasses.asdict(result), indent=2, default=str))
    return status
