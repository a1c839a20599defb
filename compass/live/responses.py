"""A handful of responses to read: the newest rollouts of an RL stage, the newest samples of grade and evaluate.

Texts of models are cut to `LONGEST` characters and stay text: the page never makes HTML of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.live.file_cache import cached_by_files
from compass.page.blocks import Responses
from compass.report.rollouts import TRAINED, kept_steps, read_problems, show_group

LONGEST = 4_000
"""Characters of a problem or a response; of a longer one the beginning and the end are shown."""

GROUPS = 4
"""Problems shown of an iteration."""

EACH = 4
"""Responses shown of a problem."""

BATCH = 64
"""Rows read at a time: whole iterations of long responses are larger than this machine's memory."""

MOST_ROWS = 2_000
"""Rows that are looked through for problems of different fates."""


def show_rollouts(root: Path, rollouts: Path | None, chosen: int | None, every: int | None) -> Responses:
    """The rollouts of the chosen iteration of an RL stage, or of the newest one that kept any.

    Args:
        root: the repository's root.
        rollouts: the folder of a running stage, with one file per iteration, or the file of a finished one.
        chosen: the iteration; None for the newest.
        every: how often rollouts are kept, as far as that is known.
    """
    steps = _find_steps(rollouts) if rollouts else []
    kept = _kept(every) if every else ""
    if rollouts is None or not steps:
        text = "`rl.record.rollouts_every` is 0: none are kept." if every == 0 else f"None kept yet. {kept}".strip()
        return Responses("Newest rollouts", text, steps)
    step = chosen if chosen in steps else steps[-1]
    path = rollouts / f"{step:06d}.parquet" if rollouts.is_dir() else rollouts
    groups = _read_groups(path, step)
    texts = _read_texts(root / "data" / TRAINED, root / "data", frozenset(rows[0]["id"] for rows in groups))
    return Responses("Newest rollouts", kept, steps, step, [_problem(rows, texts) for rows in groups])


@cached_by_files
def _read_texts(trained: Path, data: Path, ids: frozenset[str]) -> dict[str, str]:
    """The texts of problems in a pipeline's data folder, read again where the training set in it (`trained`) changes."""
    return read_problems(data, ids)


def _find_steps(rollouts: Path) -> list[int]:
    if rollouts.is_dir():
        return sorted(int(path.stem) for path in rollouts.glob("*.parquet") if path.stem.isdigit())
    return _kept_steps(rollouts) if rollouts.is_file() else []


_kept_steps = cached_by_files(kept_steps)


def _kept(every: int) -> str:
    return (
        "Kept of every iteration." if every == 1 else f"Kept of the first and the last iteration, and once in {every}."
    )


@cached_by_files
def _read_groups(path: Path, step: int) -> list[list[dict[str, Any]]]:
    """The responses to some problems of an iteration: most of them used, and one that was left out, where there is one."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for number, row in enumerate(_rows(path, step)):
        fates = [rows[0]["used"] for rows in groups.values()]
        enough = number >= MOST_ROWS or (sum(fates) >= GROUPS - 1 and not all(fates))
        if row["group"] not in groups and enough:
            break
        groups.setdefault(row["group"], []).append(row)
    used = [rows for rows in groups.values() if rows[0]["used"]]
    left_out = [rows for rows in groups.values() if not rows[0]["used"]]
    return [*used[: GROUPS - 1], *left_out[:1], *used[GROUPS - 1 :], *left_out[1:]][:GROUPS]


def _rows(path: Path, step: int) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH):
            kept = batch.filter(pa.compute.equal(batch.column("step"), step))
            yield from kept.to_pylist()
            if kept.num_rows == 0 and batch.num_rows and batch.column("step")[0].as_py() > step:
                return


def _problem(rows: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> dict[str, Any]:
    right = [row for row in rows if row["right"]]
    wrong = [row for row in rows if not row["right"]]
    half = EACH // 2
    chosen = [*right[: max(half, EACH - len(wrong))], *wrong[: max(half, EACH - len(right))]][:EACH]
    fate = "used" if rows[0]["used"] else "left out of the update"
    if rows[0]["used"] and not any(row["advantage"] for row in rows):
        fate = "in the update without any advantage"
    level = f" · level {rows[0]['level']}" if rows[0]["level"] else ""
    about = f"{rows[0]['id']}{level} · {len(right)} of {len(rows)} right, {fate}"
    return show_group(about, chosen, texts, LONGEST)
