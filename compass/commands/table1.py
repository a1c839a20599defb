"""`compass table1`: the report's Table 1, quoted and measured figures side by side, and how to measure them."""

from __future__ import annotations

import json as json_lines
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.errors import UserError

if TYPE_CHECKING:
    from compass.evaluation.published_models import Cell


def table1(
    *,
    results: tuple[Path, ...] = (),
    commands: bool = False,
    samples: int = 32,
    own_prompts: bool = False,
    json: bool = False,
) -> int:
    """Show the technical report's Table 1 with intervals, beside your own scores.

    Args:
        results: your scores to show beside them: a metrics/evaluate.json, or a scores.json of `compass evaluate`; may be
            repeated.
        commands: print the commands that evaluate the models, and no table.
        samples: responses per problem in these commands.
        own_prompts: in these commands, each model with its own prompt instead of one for all.
        json: print JSON.

    Raises:
        UserError: a file of results cannot be read.

    Examples:
        compass table1                                    the quoted figures with the intervals that their problems allow
        compass table1 --results metrics/evaluate.json    and measured ones beside them
        compass table1 --commands --samples 32            the commands that evaluate every public model on the same footing
    """
    from compass.evaluation.published_models import BENCHMARKS, TABLE1, rows
    from compass.evaluation.published_models import commands as evaluate_commands

    if commands:
        if samples < 1:
            raise UserError(f"--samples {samples}: must be at least 1")
        print("# COMMIT is the hub's revision: git ls-remote https://huggingface.co/OWNER/NAME HEAD")
        print("\n".join(evaluate_commands(samples, own_prompts=own_prompts)))
        return 0
    table = rows(_measured(list(results)))
    for row in table:
        if not row.cells:
            print(
                f"table1: warning: {row.model} was scored on no benchmark of Table 1 by its name: {', '.join(BENCHMARKS)}",
                file=sys.stderr,
            )
    table = [row for row in table if row.cells]
    if json:
        print(json_lines.dumps([asdict(row) for row in table], indent=2))
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
            models = json_lines.loads(path.read_text(encoding="utf-8"))["models"]
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
