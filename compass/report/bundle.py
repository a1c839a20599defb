"""A run's results as a folder that anyone can check: responses, verdicts, settings, the page's figures, and a script that recomputes them."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.errors import UserError
from compass.files import atomic_path, write_json
from compass.report import recompute
from compass.report.run import Run
from compass.runs.stage_times import describe_machine, list_packages
from compass.verifier import group_equal, same_answer

SCRIPT = "recompute.py"


def write_bundle(run: Run, folder: Path) -> None:
    """Write the bundle of a run.

    - `responses.jsonl.gz`: every response as the model wrote it, with its verdicts, and of a wrong sampled answer its `vote`: the number of the
      first wrong answer of the model to that problem that the verifier calls the same.
    - `problems.jsonl.gz`: problems and golds as they were asked.
    - `settings.json`: parameters, evaluation setups, commit, times and versions of the stages, and of this machine.
    - `figures.json`: the scores and comparisons that the page shows.
    - `recompute.py`: computes every figure again, with the standard library and numpy alone.

    Args:
        run: with its responses and problems.
        folder: made where it is missing.

    Raises:
        UserError: the folder holds something else, or the run lacks what the figures are made of.
    """
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / SCRIPT).exists())):
        raise UserError(f"{folder}: holds something else; give --bundle a new folder")
    if run.samples is None or run.problems is None:
        raise UserError(
            f"{run.folder}: a bundle needs samples.parquet and problems.parquet, which are not there; evaluate again"
        )
    folder.mkdir(parents=True, exist_ok=True)
    _write_rows(folder / "responses.jsonl.gz", add_votes(run.samples))
    _write_rows(folder / "problems.jsonl.gz", run.problems.to_pylist())
    write_json(folder / "settings.json", {
        "parameters": run.parameters, "setups": run.setups, "commit": run.commit, "stages": run.times,
        "bundle": {"compass-thinker": version("compass-thinker"), "packages": list_packages(), "machine": describe_machine()},
    })  # fmt: skip
    write_json(folder / "figures.json", {"scores": run.results.scores, "comparisons": run.comparisons})
    shutil.copyfile(recompute.__file__, folder / SCRIPT)


def add_votes(samples: pa.Table) -> list[dict[str, Any]]:
    """The rows of responses with `vote`: which wrong sampled answers of a model to a problem are the same; null for all other rows."""
    rows = samples.to_pylist()
    wrong: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in rows:
        row["vote"] = None
        if not row["greedy"] and not row["correct"] and row["answer"] is not None:
            wrong.setdefault((row["model"], row["benchmark"], row["id"]), []).append(row)
    for group in wrong.values():
        for row, vote in zip(group, group_equal([row["answer"] for row in group], same_answer), strict=True):
            row["vote"] = vote
    return rows


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """JSON lines, compressed, without the time of writing."""
    with (
        atomic_path(path) as temporary,
        open(temporary, "wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as file,
    ):
        file.writelines((json.dumps(row, ensure_ascii=False) + "\n").encode() for row in rows)
