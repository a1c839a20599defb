"""`compass report`: the page of a finished run or of an evaluation, and the page that compares two.

compass report                                  the run in this folder, into report/
compass report exports/mine --out mine          another run's folder, or what `compass evaluate` wrote
compass report --compare exports/one exports/two    which is better, by how much, how sure, and what differs

The pipeline writes the same page into `reports/`, which belongs to DVC: this command never writes there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from compass.errors import UserError

PAGE = "index.html"
MARK = "compass-report"
"""Stands in every page of ours, so that no other file is overwritten."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "folder", nargs="?", type=Path, metavar="RUN", help="a run's folder, or an evaluation's (default: this one)"
    )
    parser.add_argument("--compare", nargs=2, type=Path, metavar="RUN", help="compare the second of two with the first")
    parser.add_argument(
        "--models", nargs=2, metavar="MODEL", help="with --compare: the model of each (default: the last of each)"
    )
    parser.add_argument("--out", type=Path, default=Path("report"), help="the folder to write (default: report)")
    parser.add_argument("--title", help="the page's heading")
    parser.add_argument(
        "--viewer-megabytes",
        type=float,
        default=20.0,
        metavar="N",
        help="most that responses may add to the page (default: 20)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the page and print its conclusion.

    Raises:
        UserError: a folder is no run, or the output folder holds something else.
    """
    from compass.report.conclusion import conclude
    from compass.report.page import write_pages, write_report
    from compass.report.run import read_run

    if args.compare and args.folder:
        raise UserError("give one RUN, or two with --compare, not both")
    if args.models and not args.compare:
        raise UserError("--models chooses what --compare compares; without it all models are shown")
    _check_out(args.out)
    if args.compare:
        from compass.report.compare import compare_sections, join_runs

        first, second = (read_run(folder) for folder in args.compare)
        joined = join_runs(first, second, tuple(args.models) if args.models else None)
        sections = compare_sections(first, second, joined)
        title = args.title or f"{joined.models[1]} against {joined.models[0]}"
        path = write_pages(sections, joined, args.out, title=title, megabytes=args.viewer_megabytes)
        print(sections[0].parts[0].text)
    else:
        found = read_run(args.folder or Path())
        title = args.title or f"Report of {found.name}"
        path = write_report(found, args.out, title=title, megabytes=args.viewer_megabytes)
        print(conclude(found).headline)
    print(f"page: {path}")
    return 0


def _check_out(out: Path) -> None:
    """Refuse DVC's own folder, and a folder with a page of someone else's."""
    place = out.resolve()
    for folder in (place, *place.parents):
        if folder.name == "reports" and (folder.parent / "dvc.yaml").exists():
            raise UserError(
                f"{out}: belongs to the pipeline, whose next run would remove it; give another folder with --out"
            )
    if out.exists() and not out.is_dir():
        raise UserError(f"{out}: is a file; give a folder with --out")
    page = out / PAGE
    if page.exists() and MARK not in page.read_text(encoding="utf-8", errors="replace")[:2000]:
        raise UserError(f"{page}: not written by `compass report`; move it away, or give another folder with --out")
