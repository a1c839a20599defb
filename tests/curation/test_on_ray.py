"""The stages on Ray against one process: the same bytes, with any number of workers, in bounded memory."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pytest
import ray

from compass.cli import main
from compass.curation.duplicates import find_duplicates
from compass.curation.on_ray import duplicates as partitioned
from compass.curation.on_ray.cluster import RayClusterError, ray_cluster
from compass.curation.on_ray.tasks import no_larger
from compass.records import read_records
from compass.settings import Curation, Dedup
from tests.conftest import digests

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 128
"""`memory_mb` of the runs."""

BEFORE_ANY_ROW = 160 << 20
"""Heap of a worker without records, in bytes: Python, its libraries, compiled functions, the index of the benchmark."""

NOUNS = ("apples", "books", "coins", "doors", "eggs", "flags", "games", "hats", "inks", "jars")


def problems(count: int) -> list[dict[str, str]]:
    """Rows of which a third is an exact or near-duplicate of an earlier one, some with another answer."""
    rng = random.Random(count)
    rows: list[dict[str, str]] = []
    while len(rows) < count:
        kind = rng.random()
        if rows and kind < 0.35:
            row = rng.choice(rows)
            text, answer = row["problem"], row["answer"]
            text = f"{text} Explain your work." if kind < 0.15 else text.upper() if kind < 0.3 else f" {text}"
            answer = answer if kind > 0.04 else "1"
        else:
            one, other, many, few = [*rng.sample(NOUNS, 2), rng.randrange(5, 400), rng.randrange(2, 90)]
            text = f"Ann has {many} {one} and {few} {other}. She gives away half of the {one} and buys {few} more {other}. "
            text += f"How many {rng.choice((one, other))} does Ann have in the end, if she began with {many}?"
            text, answer = (text, str(many)) if kind < 0.95 else (f"{text} See https://example.org/x.png", "2")
        rows.append({"problem": text, "answer": answer})
    return rows


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    rows = problems(4_000)
    for name, part in (("one", rows[::2]), ("two", rows[1::2]), ("bench", rows[:20])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    return folder


@pytest.fixture(scope="module")
def wide_files(files, tmp_path_factory):
    """The same rows with a long solution each: 160 MB, where a run has 128 MB for objects and 128 MB for heaps."""
    folder = tmp_path_factory.mktemp("wide")
    (folder / "bench.jsonl").write_bytes((files / "bench.jsonl").read_bytes())
    for name in ("one", "two"):
        with (folder / f"{name}.jsonl").open("w") as file:
            for number, line in enumerate((files / f"{name}.jsonl").read_text().splitlines()):
                row = json.loads(line)
                steps = (f"This is step {number}. " * 2_000)[:40_000]
                file.write(json.dumps({**row, "solution": f"{steps} The answer is {row['answer']}."}) + "\n")
    return folder


def command(files: Path, out: Path, *more: str) -> list[str]:
    sources = [str(files / "one.jsonl"), str(files / "two.jsonl")]
    return ["curate", *sources, "--benchmark", str(files / "bench.jsonl"), "--out", str(out), *more]


def heap_peaks(running: subprocess.Popen) -> dict[int, int]:
    """The largest heap, in bytes, of each of Ray's workers until the command ends."""
    peaks: dict[int, int] = {}
    while running.poll() is None:
        with contextlib.suppress(psutil.Error):
            for one in psutil.Process(running.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error, OSError):
                    name = " ".join(one.cmdline())  # empty after its end
                    if name.startswith("ray::") and "Agent" not in name:
                        status = Path(f"/proc/{one.pid}/status").read_text()
                        heap = int(status.partition("RssAnon:")[2].split()[0]) << 10
                        peaks[one.pid] = max(heap, peaks.get(one.pid, 0))
        time.sleep(0.1)
    return peaks


def on_ray(files: Path, out: Path, workers: int) -> list[str]:
    params = out.with_suffix(".yaml")
    params.write_text(f"curation: {{workers: {workers}, memory_mb: {MEMORY}}}\n")
    return [sys.executable, "-m", "compass.cli", *command(files, out, "--ray", "local", "--params", str(params))]


@pytest.fixture(scope="module")
def alone(wide_files, tmp_path_factory):
    out = tmp_path_factory.mktemp("alone") / "out"
    assert main(command(wide_files, out)) == 0
    assert read_records(out / "collect" / "kept.parquet").nbytes > MEMORY << 20
    return digests(out)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_every_number_of_workers_writes_the_bytes_of_one_process(wide_files, alone, tmp_path, workers):
    """The records exceed both the object store and the heaps of all workers together."""
    with (tmp_path / "errors").open("w") as errors:
        running = subprocess.Popen(on_ray(wide_files, tmp_path / "out", workers), cwd=ROOT, stderr=errors)
        peaks = heap_peaks(running)
    assert running.returncode == 0, (tmp_path / "errors").read_text()
    assert max(peaks.values()) < BEFORE_ANY_ROW + (MEMORY << 20) // workers, peaks
    assert digests(tmp_path / "out") == alone
    counts = json.loads((tmp_path / "out" / "summary.json").read_text())["stages"]
    assert counts["dedup"]["dropped"]["near_duplicate"] > 10
    assert counts["dedup"]["dropped"]["answer_conflict"] > 10
    assert counts["denoise"]["dropped"]["contaminated"] > 5


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ray_listens_on_this_machine_alone_and_ends_with_a_run_that_is_killed(files, tmp_path, number):
    running = subprocess.Popen(on_ray(files, tmp_path / "out", 1), cwd=ROOT, stdout=subprocess.DEVNULL)
    me = psutil.Process(running.pid)
    deadline = time.monotonic() + 240
    started: list[psutil.Process] = []
    while not any("raylet" in one.name() for one in started):
        assert running.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
        started = [one for one in me.children(recursive=True) if one.is_running()]
    addresses = {place.laddr.ip.removeprefix("::ffff:") for one in started for place in _listening(one)}
    assert addresses <= {"127.0.0.1", "::1"}
    assert addresses
    os.kill(running.pid, number)
    running.wait(60)
    _, left = psutil.wait_procs(started, timeout=60)
    assert [one.name() for one in left] == []


def _listening(process: psutil.Process) -> list:
    try:
        return [place for place in process.net_connections("inet") if place.status == psutil.CONN_LISTEN]
    except psutil.Error:
        return []


def test_an_address_without_a_cluster_is_an_error_that_says_so(files, tmp_path, capsys):
    assert main(command(files, tmp_path / "out", "--ray", "127.0.0.1:9")) != 0
    assert "127.0.0.1:9: no Ray cluster answers there" in capsys.readouterr().err


def test_a_cluster_that_is_slow_to_start_is_started_again(monkeypatch):
    """Ray's own 30 s cannot be had in a test: its `init` is replaced."""
    tries = []

    def slow(**settings):
        tries.append(settings["num_cpus"])
        if len(tries) < 3 or settings["num_cpus"] == 2:
            raise Exception("The current node timed out during startup. This could happen because ...")

    monkeypatch.setattr(ray, "init", slow)
    with ray_cluster(Curation(engine="ray", workers=1)):
        assert tries == [1, 1, 1]
    with pytest.raises(RayClusterError, match="too busy"), ray_cluster(Curation(engine="ray", workers=2)):
        pass


@pytest.mark.parametrize("partitions", [1, 3, 8])
@pytest.mark.parametrize("numbers_must_match", [True, False])
@pytest.mark.parametrize("memory", [1 << 10, 1 << 30])
def test_partitions_find_the_clusters_of_one_process(monkeypatch, partitions, numbers_must_match, memory):
    """The partitioned search itself, its tasks run here; with little memory candidates are compared in files."""
    monkeypatch.setattr(partitioned, "deal", _deal)
    monkeypatch.setattr(partitioned, "gather", _gather)
    texts = [row["problem"] for row in problems(700)] + ["", "?", "What is 2 + 2?"]
    settings = Dedup(numbers_must_match=numbers_must_match)
    whole = find_duplicates(texts, settings)
    pieces = [pa.chunked_array([texts[low : low + 97]]) for low in range(0, len(texts), 97)]
    parts = partitioned.find_duplicates(pieces, settings, partitions, memory)
    assert np.array_equal(parts.exact, whole.exact)
    assert np.array_equal(parts.cluster, whole.cluster)
    assert 100 < len(np.unique(whole.cluster)) < 600
    assert partitioned.find_duplicates([], settings, partitions, memory).cluster.size == 0


def test_pieces_are_halved_until_they_fit():
    table = pa.table({"text": ["a" * 10, "b" * 1_000, *"cdef"], "row": range(6)})
    pieces = list(no_larger([table.slice(0, 0), table], 100))
    assert pa.concat_tables(pieces) == table
    assert all(piece.nbytes <= 100 or piece.num_rows == 1 for piece in pieces)
    assert max(piece.num_rows for piece in pieces) > 1


def _deal(function, calls, results, memory):
    made = [function(*arguments) for arguments in calls]
    return [list(one) if results > 1 else [one] for one in made]


def _gather(function, shards, memory):
    return [function(*[piece[place] for piece in shards]) for place in range(len(shards[0]) if shards else 0)]


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="memory_mb"):
        Curation(memory_mb=100)
    with pytest.raises(ValueError, match="engine"):
        Curation(engine="spark")
