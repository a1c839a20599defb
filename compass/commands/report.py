"""`compass report`: the page of a finished run or of an evaluation, of several training runs of one recipe, and the page that compares two."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from compass.errors import UserError

if TYPE_CHECKING:
    from compass.report.run import Run

PAGE = "index.html"
MARK = "compass-report"
"""Stands in every page of ours, so that no other file is overwritten."""


def report(
    *folders: Path,
    compare: tuple[Path, Path] | None = None,
    models: tuple[str, str] | None = None,
    out: Path = Path("report"),
    title: str | None = None,
    viewer_megabytes: float = 20.0,
    bundle: Path | None = None,
) -> int:
    """Write the page of a run, or of two compared: which model is better, by how much and how sure, and what differs.

    Several runs of one recipe, which differ in their seed alone, give the page of their means, and of what training again would change. The pipeline writes the same page into `reports/`, which belongs to DVC: this command never writes there.

    Args:
        folders: a run's folder, or an evaluation's (without it, this one); or those of several training runs of one recipe.
        compare: compare the second of two such folders with the first.
        models: with `--compare`, the model of each (without it, the last of each).
        out: the folder to write.
        title: the page's heading.
        viewer_megabytes: most that responses may add to the page.
        bundle: a folder to fill with all responses, verdicts and settings of the run, the page's scores and comparisons, and a script
            that recomputes them with numpy alone.

    Raises:
        UserError: a folder is no run, or an output folder holds something else.

    Examples:
        compass report                                          the run in this folder, into report/
        compass report exports/mine --out mine                  another run's folder, or what `compass evaluate` wrote
        compass report exports/s0 exports/s1 exports/s2         three seeds: mean, spread over runs, and what it comes from
        compass report exports/mine --bundle bundle             the page, and a folder from which anyone can recompute its figures
        compass report --compare exports/one exports/two        which is better, by how much, how sure, and what differs
    """
    from compass.page.terminal import print_blocks
    from compass.report.bundle import write_bundle
    from compass.report.headline import conclude
    from compass.report.page import write_pages, write_report
    from compass.report.run import read_run

    if compare and folders:
        raise UserError("give RUNs of one recipe, or two to compare with --compare, not both")
    if models and not compare:
        raise UserError("--models chooses what --compare compares; without it all models are shown")
    if bundle and (compare or len(folders) > 1):
        raise UserError("--bundle takes the results of one run; give one folder")
    _check_out(out)
    if compare:
        from compass.report.compare import compare_sections, join_runs
        from compass.report.viewer import viewer

        first, second = (read_run(one) for one in compare)
        _warn(first, second)
        joined = join_runs(first, second, models)
        sections = compare_sections(first, second, joined)
        title = title or f"{joined.models[1]} against {joined.models[0]}"
        path = write_pages(sections, out, title=title, reader=viewer(joined, megabytes=viewer_megabytes))
        print(sections[0].parts[0].text)
    elif len(folders) > 1:
        from compass.report.training_runs import training_run_sections

        runs = [read_run(one) for one in folders]
        _warn(*runs)
        sections = training_run_sections(runs)
        path = write_pages(sections, out, title=title or f"{len(runs)} training runs")
        print(f"{sections[0].parts[0].text}\n")
        print_blocks(sections[1].parts)
    else:
        found = read_run(folders[0] if folders else Path())
        _warn(found)
        path = write_report(found, out, title=title or found.title, megabytes=viewer_megabytes)
        print(conclude(found).headline)
        if bundle:
            write_bundle(found, bundle)
            print(f"bundle: {bundle}; check it: python -I {bundle / 'recompute.py'}")
    print(f"page: {path}")
    return 0


def _warn(*runs: Run) -> None:
    """Say at once where scores are not those of what a folder holds."""
    from compass.report.cautions import older_scores

    for run in runs:
        for line in older_scores(run):
            print(f"compass report: {line}", file=sys.stderr)


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
