"""`compass why ID|TEXT`: the history of one problem, by its id or by its pasted text."""

from __future__ import annotations

import argparse
import re

from compass.commands import add_data_folder

_ID = re.compile(r"[0-9a-f]{16}")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("query", nargs="+", metavar="ID|TEXT", help="a record's id, or the problem's text")
    add_data_folder(parser)


def run(args: argparse.Namespace) -> int:
    """Print the history of the problem, or of the one most similar to a text.

    Raises:
        RecordError: no row has that id, or no collected problem is like the text.
    """
    from compass.records import RecordError
    from compass.report.history import history
    from compass.report.outputs import open_outputs, search

    query = " ".join(args.query)
    outputs = open_outputs(args.data)
    if _ID.fullmatch(query):
        print("\n".join(history(outputs, query)))
        return 0
    matches = search(outputs.collected(["id", "source", "problem"]), query)
    if not matches:
        raise RecordError(f"no collected problem is like that text in {args.data}")
    score, best, _ = matches[0]
    if score < 1:
        print(f"No row has exactly these words; the most similar one (word trigrams, {score:.2f}):\n")
    print("\n".join(history(outputs, best)))
    if others := matches[1:]:
        print("\nAlso similar: " + ", ".join(f"{id_} ({source}, {score:.2f})" for score, id_, source in others))
    return 0
