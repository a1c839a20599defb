"""The training rollouts that the viewer holds: whole groups of the iterations that keep theirs, and the samples that guards left."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compass.page.packed import pack
from compass.report.evidence import item_name
from compass.report.item_history import trained_rows
from compass.report.outputs import find_outputs, read_table
from compass.report.printable import shorten
from compass.report.rollouts import kept_steps, read_problems, rollout_files, show_rollout
from compass.report.run import Run

GROUPS = (None, 64, 32, 16, 8, 4, 2, 1)
"""Groups held of an iteration, the first of these that fits; None: all."""

LONGEST = 6_000

LONGEST_SIMILAR = 600
"""Characters of a trained row's problem beside the benchmark problem that it resembles."""

COLUMNS = ("id", "level", "group", "gold", "right", "cut_off", "loop", "used")
"""What the viewer filters and groups rollouts by; after these comes what `show_rollout` returns."""


def kept_rollouts(run: Run) -> dict[str, list[int]]:
    """RL stage to the iterations whose rollouts are kept."""
    return {stage: kept_steps(path) for stage, path in _files(run).items()}


def embed_rollouts(run: Run, limit: int) -> tuple[dict[str, Any], list[str]]:
    """Choose and pack rollouts within a limit.

    Args:
        run: the run.
        limit: most characters of all packed chunks together.

    Returns:
        `columns`, `rule` and `steps`: a list of [stage, step, what (empty, or the guard whose samples these are), responses, right,
        used, groups held, groups, chunk]; and the chunks, one per entry of `steps`: {"prompts": {id: prompt}, "rows": [[...]]}.
    """
    sources = [(stage, step, "", rows) for stage, path in _files(run).items() for step, rows in _by_step(path)]
    sources += _guards_samples(run)
    problems = read_problems(run.folder / "data", (row["id"] for *_, rows in sources for row in rows))
    for most in GROUPS:
        chunks = [pack(_chunk(rows, most, problems)) for *_, rows in sources]
        if sum(len(chunk) for chunk in chunks) <= limit:
            break
    steps = []
    for place, (stage, step, what, rows) in enumerate(sources):
        right, used = (sum(bool(row[name]) for row in rows) for name in ("right", "used"))
        groups = (len(_groups(rows, count)) for count in (most, None))
        steps.append([stage, step, what, len(rows), right, used, *groups, place])
    held = f"Of each iteration {most} groups are here; the counts are of all."
    if most is None:
        held = "All groups of these iterations are here."
    rule = f"{held} A response of more than {LONGEST:,} characters shows its beginning and its end."
    return {"columns": [*COLUMNS, "shown"], "rule": rule if sources else "", "steps": steps}, chunks


def embed_similar(run: Run, items: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    """The trained rows that resemble a benchmark problem: id to [source:row, problem, gold, [[stage, iterations that used it, those of them with rollouts]]].

    Args:
        run: with the pipeline's data; an evaluation's folder has none, and the result is empty.
        items: of the viewer's index; the ids of similar rows are the last entry.
    """
    outputs = find_outputs(run.folder / "data")
    ids = sorted({id_ for item in items for id_ in item[-1]})
    if not ids or "collect" not in outputs.kept:
        return {}
    kept = kept_rollouts(run)
    found = {}
    for row in trained_rows(outputs, ids):
        stages = [
            [stage, own, [step for step in own if step in kept.get(stage, ())]] for stage, own in row["trained"].items()
        ]
        problem = shorten(row["problem"] or "", LONGEST_SIMILAR)
        found[row["id"]] = [item_name(row), problem, row["answer"] or "", stages]
    return found


def _files(run: Run) -> dict[str, Path]:
    files = rollout_files(run.folder / "data")
    return {stage: files[stage] for stage in run.results.curves if stage in files}


def _by_step(path: Path) -> list[tuple[int, list[dict[str, Any]]]]:
    steps: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in read_table(path).to_pylist():
        steps[row["step"]].append(row)
    return sorted(steps.items())


def _guards_samples(run: Run) -> list[tuple[str, int, str, list[dict[str, Any]]]]:
    """The worst samples that a guard left when it fired: stage, iteration, guard, rows."""
    found = []
    for stage, findings in run.results.findings.items():
        for finding in findings:
            path = run.folder / "data" / stage / "samples" / Path(finding["samples"]).name
            if finding["samples"] and path.is_file():
                found.append((stage, finding["step"], finding["guard"], read_table(path).to_pylist()))
    return found


def _groups(rows: Sequence[dict[str, Any]], most: int | None) -> list[str]:
    """The groups that are held: the first by name, which no result decides."""
    return sorted({row["group"] for row in rows})[:most]


def _chunk(rows: Sequence[dict[str, Any]], most: int | None, problems: Mapping[str, str]) -> dict[str, Any]:
    held = set(_groups(rows, most))
    mine = [row for row in rows if row["group"] in held]
    values = [[*(row[name] for name in COLUMNS), show_rollout(row, LONGEST)] for row in mine]
    prompts = {row["id"]: shorten(problems.get(row["id"], row["prompt"] or ""), LONGEST) for row in mine}
    return {"prompts": prompts, "rows": values}
