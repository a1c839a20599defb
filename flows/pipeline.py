"""The flow of the whole pipeline: `python -m flows.pipeline [TARGET] [-S evaluate.samples=4]`, through DVC."""

from __future__ import annotations

import argparse
from typing import Any

from compass import environment

environment.apply()  # before Prefect reads its settings

from prefect import flow  # noqa: E402

from flows.overrides import parse_parameters  # noqa: E402
from flows.stage import dvc, stage_names  # noqa: E402


@flow(name="pipeline")
def pipeline(target: str | None = None, parameters: dict[str, Any] | None = None, folder: str = ".") -> None:
    """Run every stage whose inputs changed.

    Args:
        target: run up to this stage only; all stages when None.
        parameters: values to run with (`{"rl.stages.rl-1.steps": 10}`); they go into params.yaml as a DVC experiment.
        folder: where dvc.yaml is.
    """
    dvc(target, False, parameters, folder)


def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m flows.pipeline", description=__doc__)
    parser.add_argument("target", nargs="?", choices=stage_names(), metavar="TARGET", help="run up to this stage only")
    parser.add_argument("-S", "--set-param", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    pipeline(args.target, parse_parameters(args.set_param) or None)


if __name__ == "__main__":
    _main()
