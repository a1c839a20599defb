"""`compass rl show`: the complete verl configuration of a stage, without starting it.

compass rl show --stage rl-2
compass rl show --stage rl-2 --profile paper
"""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommand `show`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    show = actions.add_parser("show", help="print verl's complete configuration of a stage, every value resolved")
    show.add_argument("--stage", required=True, help="a stage of `rl.stages` in the parameters, such as rl-1")
    where = show.add_mutually_exclusive_group()
    where.add_argument("--profile", help="a file of profiles/, without .yaml (default: the parameters in use)")
    where.add_argument("--params", default="params.yaml", help="a parameter file (default: params.yaml)")


def run(args: argparse.Namespace) -> int:
    """Print the configuration; `dvc repro -s STAGE` trains, so that DVC knows of it.

    Raises:
        SettingsError: the parameter file cannot be used, or has no such stage.
    """
    from compass.settings import SettingsError, load_settings

    path = Path("profiles") / f"{args.profile}.yaml" if args.profile else Path(args.params)
    settings = load_settings(path)
    if args.stage not in settings.rl.stages:
        stages = ", ".join(settings.rl.stages)
        raise SettingsError(f"{path}: `rl.stages` has no {args.stage!r}; there are {stages}")
    from omegaconf import OmegaConf

    from compass.rl.config import StagePaths, verl_config

    ours = settings.rl.stages[args.stage]
    work = Path("work") / args.stage
    paths = StagePaths(Path("models") / ours.init_from, work / "train.parquet", work / "COURSE")
    print(OmegaConf.to_yaml(verl_config(args.stage, ours, paths, seed=settings.seed), resolve=True), end="")
    return 0
