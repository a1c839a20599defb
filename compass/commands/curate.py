"""`compass curate SOURCE... --out DIR`: the data stages alone on any files."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "sources",
        nargs="+",
        type=Path,
        metavar="SOURCE",
        help="files or folders: jsonl, json, csv, parquet; plain, .gz, .zst; the preferred one first",
    )
    parser.add_argument("--out", type=Path, default=Path("curated"), help="the folder to write (default: curated)")
    parser.add_argument(
        "--benchmark",
        dest="benchmarks",
        nargs="+",
        action="extend",
        default=[],
        type=Path,
        metavar="FILE",
        help="benchmarks that no kept problem may come from",
    )
    parser.add_argument(
        "--params",
        type=Path,
        help="a parameter file: its dedup, denoise and verify, limits, and how to read its sources and benchmarks",
    )
    parser.add_argument(
        "--problems", type=int, default=0, metavar="N", help="keep at most N problems, by a seeded hash of their id"
    )
    parser.add_argument("--seed", type=int, default=0, help="of that hash")
    parser.add_argument(
        "--allow-licences", nargs="+", default=[], metavar="LICENCE", help="drop rows under any other licence"
    )


def run(args: argparse.Namespace) -> int:
    """Curate; returns 0, or 1 after saying what is wrong."""
    from compass.curation.curate import CurateSettings, curate, source_settings
    from compass.records import RecordError
    from compass.settings import Collect, Dedup, Denoise, SettingsError, Verify, load_settings
    from compass.sources.read import SourceError

    try:
        given = load_settings(args.params) if args.params else None
        limits = given.collect if given else Collect(sources=[], benchmarks=[])
        update: dict[str, object] = {"generate": None, "sources": source_settings(args.sources, limits.sources)}
        if args.benchmarks:
            update["benchmarks"] = source_settings(args.benchmarks, limits.benchmarks)
        if args.allow_licences:
            update["allow_licences"] = args.allow_licences
        settings = CurateSettings(
            collect=limits.model_copy(update=update),
            dedup=given.dedup if given else Dedup(),
            denoise=given.denoise if given else Denoise(),
            verify=given.verify if given else Verify(),
            problems=args.problems,
            seed=args.seed,
        )
        if not settings.collect.benchmarks:
            print("curate: no --benchmark given: nothing is checked for contamination", file=sys.stderr)
        summary = curate(settings, args.out, say=lambda line: print(line, flush=True))
    except (SettingsError, RecordError, SourceError) as error:
        print(f"curate: {error}", file=sys.stderr)
        return 1
    print(f"kept {summary['kept']:,} of {summary['read']:,} rows: {args.out}/kept.parquet, card: {args.out}/card.html")
    return 0
