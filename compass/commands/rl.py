"""`compass rl STAGE --dry-run`: the complete verl configuration of a stage, without starting it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("stage", choices=("rl-1", "rl-2", "rl-3"))
    parser.add_argument("--dry-run", action="store_true", help="print verl's complete configuration and end")
    parser.add_argument("--params", default="params.yaml", help="the parameter file (default: params.yaml)")


def run(args: argparse.Namespace) -> int:
    """Print the configuration; training itself is the stage's, so that DVC knows of it."""
    from omegaconf import OmegaConf

    from compass.rl.config import StagePaths, verl_config
    from compass.settings import SettingsError, load_settings

    if not args.dry_run:
        print(f"`dvc repro -s {args.stage}` trains it; `--dry-run` prints its configuration", file=sys.stderr)
        return 2
    try:
        settings = load_settings(args.params)
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 1
    ours = settings.stage(args.stage)
    work = Path("work") / args.stage
    paths = StagePaths(Path("models") / ours.init_from, work / "train.parquet", work / "COURSE")
    print(OmegaConf.to_yaml(verl_config(args.stage, ours, paths, seed=settings.seed)))
    return 0
