"""`compass evaluate` with the real engine, killed with SIGKILL on the way: it goes on, and ends with what it would have had."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WORDS = "--benchmarks sums.jsonl --samples 2 --greedy --max-tokens 300 --max-model-len 400 --dtype float32 --chat-template plain"


def start(folder: Path, out: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "compass.cli", "evaluate", "model", *WORDS.split(), "--out", out]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True)


def stored(folder: Path) -> dict[tuple, int]:
    """Tokens of every response, or beginning of one, that is kept."""
    kept: dict[tuple, int] = {}
    for part in folder.rglob("part-*.parquet"):
        for row in pq.read_table(part).to_pylist():
            key = row["key"], row["sample"], row["greedy"]
            kept[key] = max(kept.get(key, 0), row["tokens"])
    return kept


def texts(samples: Path) -> dict[tuple, str]:
    rows = pq.read_table(samples).to_pylist()
    return {(row["id"], row["sample"], row["greedy"]): row["response"] for row in rows}


def test_a_killed_run_keeps_what_it_had_and_ends_with_the_same_responses(random_model, tmp_path) -> None:
    random_model(tmp_path / "model", 0)
    problems = (f'{{"id": {n}, "problem": "What is the sum of {n} and 1?", "answer": "{n + 1}"}}\n' for n in range(60))
    (tmp_path / "sums.jsonl").write_text("".join(problems))
    killed = start(tmp_path, "out")
    while killed.poll() is None and not stored(tmp_path / "out"):
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    before = stored(tmp_path / "out")
    assert len(before) > 0
    assert start(tmp_path, "out").wait() == 0
    after = stored(tmp_path / "out")
    assert all(after[key] >= tokens for key, tokens in before.items())
    assert len(after) == 180
    assert start(tmp_path, "whole").wait() == 0
    one, other = (texts(tmp_path / name / "samples.parquet") for name in ("out", "whole"))
    same = sum(one[key] == other[key] for key in other)
    assert same >= 0.95 * 180  # responses beside others round differently, which may turn a draw that is nearly even
