"""`compass table1`: the report's Table 1, quoted and measured figures side by side, and how to measure them.

compass table1                                    the quoted figures with the intervals that their problems allow
compass table1 --results metrics/evaluate.json    and measured ones beside them
compass table1 --commands --samples 32            the commands that evaluate every public model on the same footing
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.errors import UserError

if TYPE_CHECKING:
    from compass.evaluation.published_models import Cell


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "--results",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="your scores to show beside them: a metrics/evaluate.json, or a scores.json of `compass evaluate`; may be repeated",
    )
    parser.add_argument(
        "--commands", action="store_true", help="print the commands that evaluate the models, and no table"
    )
    parser.add_argument("--samples", type=int, default=32, help="responses per problem in these commands (default: 32)")
    parser.add_argument(
        "--own-prompts",
        action="store_true",
        help="in these commands, each model with its own prompt instead of one for all",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Print the table, or the commands.

    Raises:
        UserError: a file of results cannot be read.
    """
    from compass.evaluation.published_models import BENCHMARKS, TABLE1, commands, rows

    if args.commands:
        if args.samples < 1:
            raise UserError(f"--samples {args.samples}: must be at least 1")
        print("# COMMIT is the hub's revision: git ls-remote https://huggingface.co/OWNER/NAME HEAD")
        print("\n".join(commands(args.samples, own_prompts=args.own_prompts)))
        return 0
    table = rows(_measured(args.results))
    for row in table:
        if not row.cells:
            print(
                f"table1: warning: {row.model} was scored on no benchmark of Table 1 by its name: {', '.join(BENCHMARKS)}",
                file=sys.stderr,
            )
    table = [row for row in table if row.cells]
    if args.json:
        print(json.dumps([asdict(row) for row in table], indent=2))
        return 0
    print(f"| model | figures | {' | '.join(f'{name} ({count})' for name, count in BENCHMARKS.items())} |")
    print(f"|{'---|' * (len(BENCHMARKS) + 2)}")
    for row in table:
        cells = [_shown(row.cells[name]) if name in row.cells else "" for name in BENCHMARKS]
        how = {cell.how for cell in row.cells.values()} - {row.source}
        print(f"| {row.model} | {', '.join([row.source, *how])} | {' | '.join(cells)} |")
    print(
        "\nIn brackets 95% intervals; those of quoted figures are what so many problems allow with one response each."
    )
    print("± is the standard deviation over seeds that the source gives; its AMC has 40 problems.")
    for model in TABLE1:
        if model.note:
            print(f"{model.name}: {model.note}.")
    return 0


def _shown(cell: Cell) -> str:
    spread = "" if cell.spread is None else f" ±{cell.spread:.1%}".replace("%", "")
    part = "" if cell.problems is None else f", {cell.problems} problem{'s' * (cell.problems != 1)}"
    return f"{cell.accuracy * 100:.1f}{spread} ({cell.low * 100:.0f}-{cell.high * 100:.0f}{part})"


def _measured(files: list[Path]) -> dict[str, dict[str, dict[str, Any]]]:
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for path in files:
        try:
            models = json.loads(path.read_text(encoding="utf-8"))["models"]
        except OSError as error:
            raise UserError(
                f"--results {path}: {error.strerror}; the evaluate stage writes metrics/evaluate.json"
            ) from None
        except (ValueError, KeyError, TypeError):
            raise UserError(f"--results {path}: holds no scores (an object with `models`)") from None
        if twice := sorted(found.keys() & models.keys()):
            raise UserError(f"--results {path}: {', '.join(twice)} is in an earlier file as well")
        found |= models
    return found
