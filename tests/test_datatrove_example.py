"""examples/datatrove: the same rows as `compass curate`, its ledger whole, and a second run that does nothing again."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytest.importorskip("datatrove", reason="datatrove is not installed: pip install datatrove regex tokenizers")

from benchmarks.curation_memory import made_row
from compass.library.curate import CurateOptions, curate_settings
from compass.library.curate_stages import run_stages
from examples.datatrove.compare import differences, ids, rows
from examples.datatrove.pipeline import curate_in_steps


def test_the_same_rows_are_kept_but_for_near_duplicates(tmp_path: Path) -> None:
    files = []
    for shard in range(3):  # later shards repeat and reword rows of earlier ones
        files.append(tmp_path / f"part-{shard}.jsonl")
        lines = [json.dumps(made_row(number)) + "\n" for number in range(200 * shard, 200 * (shard + 1))]
        files[-1].write_text("".join(lines))
    sources = [str(path) for path in files]
    kept = curate_in_steps(sources, tmp_path / "out")
    curated = tmp_path / "curated"
    run_stages(curate_settings(sources, CurateOptions(), curated), curated, lambda line: None)
    found = differences(tmp_path / "out", curated)
    assert {row["reason"] for row in found} <= {"near_duplicate", "answer_conflict"}
    assert len(found) <= 6
    assert kept == len(ids((tmp_path / "out" / "kept").glob("*.parquet")))
    dropped = rows((tmp_path / "out" / "ledger").rglob("*.parquet"))
    assert kept + len(dropped) == 600
    assert {row["reason"] for row in dropped.values()} >= {
        "exact_duplicate",
        "near_duplicate",
        "proof",
        "unreadable_gold",
    }
    written = {
        path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet") if path.parent.name == "kept"
    }
    curate_in_steps(sources, tmp_path / "out")
    assert written == {path: path.stat().st_mtime_ns for path in written}
    assert pq.read_schema(next(iter(written))).names == pq.read_schema(curated / "verify" / "kept.parquet").names
