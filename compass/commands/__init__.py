"""The subcommands of `compass`, one module each, and the argument that several of them have."""

import argparse
from pathlib import Path


def add_data_folder(
    parser: argparse.ArgumentParser, which: str = "a pipeline's data folder, or one of `compass curate`"
) -> None:
    """Add `--data`: where the rows are that the command reads; `which` says what folders those are."""
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("data"),
        help=f"{which} (default: data)",
    )
