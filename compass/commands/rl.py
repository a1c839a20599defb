"""`compass rl STAGE --dry-run`: the complete verl configuration of a stage, without starting it."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("stage", help="a stage of `rl.stages` in the parameters, such as rl-1")
    parser.add_argument("--dry-run", action="store_true", help="print verl's complete configuration and end")
    parser.add_argument("--params", default="params.yaml", help="the parameter file (default: params.yaml)")


def run(args: argparse.Namespace) -> int:
    """Print the configuration; the stage itself trains, so that DVC knows of it.

    Raises:
        SettingsError: the parameter file cannot be used, or has no such stage.
        UserError: without `--dry-run`.
    """
    from compass.errors import UserError
    from compass.settings import SettingsError, load_settings

    if not args.dry_run:
        raise UserError(f"`dvc repro -s {args.stage}` trains it; `--dry-run` prints its configuration")
    settings = load_settings(args.params)
    if args.stage not in settings.rl.stages:
        stages = ", ".join(settings.rl.stages)
        raise SettingsError(f"{args.params}: `rl.stages` has no {args.stage!r}; there are {stages}")
    from omegaconf import OmegaConf

    from compass.rl.config import StagePaths, verl_config

    ours = settings.rl.stages[args.stage]
    work = Path("work") / args.stage
    paths = StagePaths(Path("models") / ours.init_from, work / "train.parquet", work / "COURSE")
    print(OmegaConf.to_yaml(verl_config(args.stage, ours, paths, seed=settings.seed)))
    return 0
