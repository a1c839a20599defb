"""The `compass` command: a table of subcommands, each a module that is imported only when it is chosen.

A subcommand's module has `configure(parser)`, which adds its arguments, and `run(args) -> int`, its exit status. It raises
`UserError` for what the user can put right; `main` prints the message.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from compass.errors import UserError

COMMANDS = {
    "profile": ("compass.commands.profile", "switch to a complete parameter set, compare two, list them"),
    "rl": ("compass.commands.rl", "show what an RL stage would run with"),
    "rollouts": ("compass.commands.rollouts", "read the responses that an RL stage learned from"),
    "report": (
        "compass.commands.report",
        "write the page of a run, or of two compared: which model is better, by how much",
    ),
    "curate": ("compass.commands.curate", "run the data stages alone on any files"),
    "why": ("compass.commands.why", "show the history of one problem, by its id or its text"),
    "ledger": ("compass.commands.ledger", "count, filter, sample or browse the rows that curation dropped"),
    "card": ("compass.commands.card", "write the data card of a curated set, or upload the set to the hub"),
    "benchmarks": (
        "compass.commands.benchmarks",
        "list the known benchmarks: which are here, and how to get the others",
    ),
    "evaluate": ("compass.commands.evaluate", "score any model on benchmarks"),
    "table1": ("compass.commands.table1", "show the technical report's Table 1 with intervals, beside your own scores"),
    "forgetting": ("compass.commands.forgetting", "write two small benchmarks of what training may cost"),
    "score": ("compass.commands.score", "score responses made elsewhere, from a file with any field names"),
    "verify": ("compass.commands.verify", "compare two answers, or a file of pairs, and say how it was decided"),
    "label": ("compass.commands.label", "judge a sample of responses and measure how often the verifier is wrong"),
}
"""Subcommand to the module that holds it and one line of help."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one subcommand; returns its exit status, that of the error where the user's input cannot be used."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    parser = argparse.ArgumentParser(
        prog="compass", description="The Compass-Thinker pipeline. `make pipeline` runs it whole, `dvc repro` as well."
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    module = None
    for name, (path, line) in COMMANDS.items():
        command = commands.add_parser(name, help=line, description=line[0].upper() + line[1:] + ".")
        if name == chosen:
            module = importlib.import_module(path)
            module.configure(command)
    args = parser.parse_args(arguments)
    try:
        return module.run(args)
    except UserError as error:
        print(f"compass {args.command}: {error}", file=sys.stderr)
        return error.exit_status


def entry() -> None:
    """The console script: a clean end on Ctrl-C and on a closed pipe (`compass why ... | head`)."""
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)


if __name__ == "__main__":
    entry()
