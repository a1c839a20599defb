"""The results of an evaluation as files, written by the stage and by `compass evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.evaluation.comparisons import compare_models
from compass.evaluation.evaluate import summarise
from compass.files import atomic_path, write_json


def write_results(
    folder: Path, samples: pa.Table, problems: pa.Table, setups: Mapping[str, Any], *, seed: int
) -> dict[str, Any]:
    """Write `samples.parquet`, `problems.parquet`, `setups.json` and `comparisons.json`.

    Args:
        folder: where; made if need be.
        samples: rows of `compass.evaluation.evaluate.COLUMNS`.
        problems: rows of `compass.evaluation.problems.PROBLEMS`.
        setups: the setups that the samples name.
        seed: of the comparisons' resampling.

    Returns:
        The scores: model to benchmark (and `average`) to scores.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = [row for row in problems.select(["id", "similar"]).to_pylist() if row["similar"] is not None]
    similar = {row["id"] for row in known if row["similar"]} if known else None
    comparisons = compare_models(samples, seed=seed)
    scores = summarise(samples, comparisons, similar)
    for name, rows in (("samples", samples), ("problems", problems)):
        with atomic_path(folder / f"{name}.parquet") as temporary:
            pq.write_table(rows, temporary, compression="zstd")
    write_json(folder / "setups.json", dict(setups))
    write_json(folder / "comparisons.json", comparisons)
    return scores
