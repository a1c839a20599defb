"""Two runs that MLflow recorded, compared: for the terminal, as data, and as the page of `compass report --compare`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compass.errors import UserError
from compass.page.blocks import Block, Note, Section, Table
from compass.report.compare import compare_sections, join_runs
from compass.report.figures import bands_figure, draw_chart
from compass.report.headline import format_interval, format_points, percent
from compass.report.page import write_pages
from compass.report.run import Run, changed_rows, read_run
from compass.report.viewer import viewer
from compass.runs.run_name import Change, differences, slug
from compass.tracking.from_cache import run_folder
from compass.tracking.mlflow_runs import PastRun, Runs

NEWEST = 20
"""Recorded runs among which the one before is looked for."""


@dataclass(frozen=True)
class Recorded:
    """Two recorded runs and how they differ; `b` is compared with `a`.

    `changes`: settings, with `a`'s value before `b`'s. `pairs`: model to the paired difference of its accuracy (`b` minus `a`), for
    models whose responses are at hand on both sides. `folders`: both runs as folders, as far as DVC's cache holds them. `missing`:
    what it does not hold.
    """

    a: PastRun
    b: PastRun
    changes: list[Change]
    folders: tuple[Run | None, Run | None]
    pairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "runs": [
                {"id": run.id, "name": run.name, "status": run.status, "started": run.started.isoformat()}
                for run in (self.a, self.b)
            ],
            "settings": [{"name": one.name, "a": one.before, "b": one.after} for one in self.changes],
            "metrics": {
                name: [self.a.metrics.get(name), self.b.metrics.get(name)]
                for name in sorted(self.a.metrics.keys() | self.b.metrics.keys())
                if name.startswith(("average/", "gain/", "kept/", "dropped/", "hours/"))
            },
            "paired": {
                model: {name: pair[name] for name in ("difference", "ci95", "problems", "verdict", "words")}
                for model, pair in self.pairs.items()
            },
            "not_in_cache": self.missing,
        }


def compare_recorded(a: str, b: str, folder: str | Path = ".") -> Recorded:
    """Compare the runs that two words name.

    Raises:
        UserError: one names no run, or both the same.
    """
    runs = Runs(folder)
    first, second = runs.find(a), runs.find(b)
    if first.id == second.id:
        raise UserError(
            f"{a!r} and {b!r} are the same run ({first.name}, {first.id[:8]}); give the ids of two (`compass runs list`)"
        )
    settings = [runs.document(run, "settings.json") or {} for run in (first, second)]
    folders, missing = [], []
    for run, own in zip((first, second), settings, strict=True):
        place, lacks = _folder(runs, run, own, folder)
        folders.append(read_run(place) if (place / "metrics").is_dir() else None)
        missing += [f"{run.name}: {path}" for path in lacks]
    pairs = _pairs(*folders)
    return Recorded(first, second, differences(*settings), (folders[0], folders[1]), pairs, missing)


def compare_with_run_before(run: Run, *, own: str | None) -> Section | None:
    """The section of a run's report that compares it with the newest recorded run of other responses to some of the same problems.

    Args:
        run: the run, in the folder where it ran.
        own: its id in MLflow, if it is recorded.

    Returns:
        None where no other run is recorded, the tracking server is away, or DVC's cache lacks its responses.
    """
    if run.samples is None or own is None:
        return None
    try:
        runs = Runs(run.folder)
        for past in runs.newest(NEWEST):
            if past.id == own or not past.models:
                continue
            place, _ = _folder(runs, past, runs.document(past, "settings.json") or {}, run.folder)
            before = read_run(place) if (place / "data" / "evaluate" / "samples.parquet").exists() else None
            if before is None or before.samples is None or before.samples.equals(run.samples):
                continue
            if section := _before_section(past, before, run):
                return section
    except UserError:
        return None  # the comparison is no reason to be without the report
    return None


def _before_section(past: PastRun, before: Run, run: Run) -> Section | None:
    pairs = _pairs(before, run)
    if not pairs:
        return None
    last = list(pairs)[-1]
    rows = [
        [
            model,
            *(percent(side.results.scores[model]["average"]["accuracy"]) for side in (before, run)),
            format_points(pair["difference"]),
            format_points(*pair["ci95"]),
        ]
        for model, pair in pairs.items()
    ]
    changes = changed_rows(before.parameters, run.parameters)
    return Section(
        "The run before",
        [
            f"{last} of this run against {last} of {past.name} ({past.started:%Y-%m-%d %H:%M}, {past.id[:8]}), on the problems that both "
            f"answered: {pairs[last]['words']}.",
            Table(["model", "before %", "now %", "difference, points", "95% interval"], rows),
            *([Table(["setting", "before", "now"], changes)] if changes else ["The settings are the same."]),
            Note(
                "Each side is one training run, and two runs of one recipe differ as well. `compass runs compare` does the same for any two runs."
            ),
        ],
        "before",
    )


def _folder(runs: Runs, run: PastRun, settings: dict[str, Any], folder: str | Path) -> tuple[Path, list[str]]:
    outputs = runs.document(run, "outputs.json") or {}
    times = runs.document(run, "times.json") or {}
    return run_folder(f"{slug(run.name)}-{run.id[:8]}", outputs, settings, times, folder)


def _pairs(a: Run | None, b: Run | None) -> dict[str, dict[str, Any]]:
    """Model to its paired difference over all benchmarks."""
    if a is None or b is None or a.samples is None or b.samples is None:
        return {}
    found = {}
    for model in (model for model in a.models if model in b.models):
        try:
            [pair] = join_runs(a, b, (model, model)).comparisons["pairs"]
        except UserError:
            continue  # no problem that both answered
        found[model] = pair["average"]
    return found


def comparison_blocks(found: Recorded) -> list[Block]:
    """The comparison as tables, for the terminal."""
    a, b = found.a, found.b
    runs = [
        (mark, run.name, f"{run.started:%Y-%m-%d %H:%M}", run.id[:8]) for mark, run in zip("AB", (a, b), strict=True)
    ]
    blocks: list[Block] = [Table(["", "run", "started", "id"], runs)]
    changes = [(one.name, one.before, one.after) for one in found.changes]
    blocks.append(Table(["setting", "A", "B"], changes) if changes else Note("settings: the same"))
    scores = [
        (model, *(_score(run, model) for run in (a, b)), _difference(found, model))
        for model in dict.fromkeys([*a.models, *b.models])
    ]
    head = ["average % (95% interval)", "A", "B", "B - A, points"]
    blocks.append(Table(head, scores) if scores else Note("no model was scored"))
    blocks += [Note(f"{model}: {pair['words']}") for model, pair in found.pairs.items()]
    for title, prefix, form in (("rows dropped", "dropped/", ",.0f"), ("hours", "hours/", ".3f")):
        names = dict.fromkeys(name for run in (a, b) for name in run.metrics if name.startswith(prefix))
        rows = []
        for name in sorted(names, key=lambda name: name.endswith("/total")):
            values = (run.metrics.get(name) for run in (a, b))
            rows.append((name.removeprefix(prefix), *("-" if one is None else f"{one:{form}}" for one in values)))
        blocks += [Table([title, "A", "B"], rows)] if rows else []
    if found.missing and not found.pairs:
        more = f" and {len(found.missing) - 1} more" if found.missing[1:] else ""
        blocks.append(Note(f"not paired: DVC's cache lacks {found.missing[0]}{more}"))
    elif not found.pairs and all(run is not None and run.samples is not None for run in found.folders):
        blocks.append(
            Note(
                "not paired: no model of both runs answered the same problems; those of benchmarks that are generated change with the seed"
            )
        )
    return blocks


def _score(run: PastRun, model: str) -> str:
    value, *limits = run.score(model) or (None,)
    if None in limits:
        return percent(value)
    return "-" if value is None else f"{percent(value)} ({format_interval(limits)})"


def _difference(found: Recorded, model: str) -> str:
    if pair := found.pairs.get(model):
        return f"{format_points(pair['difference'])} ({format_points(*pair['ci95'])})"
    ends = [run.score(model) for run in (found.a, found.b)]
    return f"{format_points(ends[1][0] - ends[0][0])}, not paired" if ends[0] and ends[1] else "-"


def write_comparison_page(found: Recorded, out: Path) -> Path:
    """Write the page that compares the last model of each, with the curves of both.

    Raises:
        UserError: DVC's cache does not hold the responses of both.
    """
    a, b = found.folders
    if a is None or b is None or a.samples is None or b.samples is None:
        lacks = "; ".join(found.missing[:3]) or "the responses of one"
        raise UserError(
            f"the page needs both runs' outputs, and DVC's cache lacks {lacks}; `dvc fetch --run-cache` may bring them"
        )
    joined = join_runs(a, b)
    sections = compare_sections(a, b, joined)
    sections.insert(1, _curves({f"A: {found.a.name}": a, f"B: {found.b.name}": b}))
    title = f"{found.b.name} against {found.a.name}"
    return write_pages(sections, out, title=title, reader=viewer(joined))


def _curves(runs: dict[str, Run]) -> Section:
    """Training curves of both over all RL stages."""
    groups = {name: [_one_after_the_other(run)] for name, run in runs.items() if run.results.curves}
    text = "Over all responses of every iteration, one RL stage after the other."
    drawn = draw_chart("compared_curves", "Training curves of both runs", lambda width: bands_figure(groups, width))
    return Section("Training", [Note(text), *drawn] if drawn else [], "training")


def _one_after_the_other(run: Run) -> dict[str, list[float]]:
    """The curves that every RL stage of a run has, joined."""
    curves = list(run.results.curves.values())
    shared = [name for name in curves[0] if all(name in curve for curve in curves)]
    return {name: [value for curve in curves for value in curve[name]] for name in shared}
