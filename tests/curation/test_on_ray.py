"""The stages on Ray against one process: the same bytes, with any number of workers, in bounded memory."""

from __future__ import annotations

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

from compass.cli import main
from compass.curation.duplicates import find_duplicates
from compass.curation.on_ray import duplicates as partitioned
from compass.files import file_digest
from compass.settings import Curation, Dedup

ROOT = Path(__file__).resolve().parents[2]
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


def command(files: Path, out: Path, *more: str) -> list[str]:
    sources = [str(files / "one.jsonl"), str(files / "two.jsonl")]
    return ["curate", *sources, "--benchmark", str(files / "bench.jsonl"), "--out", str(out), *more]


def digests(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in folder.rglob("*") if path.is_file()}


def on_ray(files: Path, out: Path, workers: int) -> list[str]:
    params = out.with_suffix(".yaml")
    params.write_text(f"curation: {{workers: {workers}, memory_mb: 128}}\n")
    return [sys.executable, "-m", "compass.cli", *command(files, out, "--ray", "local", "--params", str(params))]


@pytest.fixture(scope="module")
def alone(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("alone") / "out"
    assert main(command(files, out)) == 0
    return digests(out)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_every_number_of_workers_writes_the_bytes_of_one_process(files, alone, tmp_path, workers):
    done = subprocess.run(on_ray(files, tmp_path / "out", workers), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
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


@pytest.mark.parametrize("partitions", [1, 3, 8])
@pytest.mark.parametrize("numbers_must_match", [True, False])
def test_partitions_find_the_clusters_of_one_process(monkeypatch, partitions, numbers_must_match):
    """The partitioned search itself, its tasks run here."""
    monkeypatch.setattr(partitioned, "deal", _deal)
    monkeypatch.setattr(partitioned, "gather", _gather)
    texts = [row["problem"] for row in problems(700)] + ["", "?", "What is 2 + 2?"]
    settings = Dedup(numbers_must_match=numbers_must_match)
    whole = find_duplicates(texts, settings)
    pieces = [pa.chunked_array([texts[low : low + 97]]) for low in range(0, len(texts), 97)]
    parts = partitioned.find_duplicates(pieces, settings, partitions)
    assert np.array_equal(parts.exact, whole.exact)
    assert np.array_equal(parts.cluster, whole.cluster)
    assert 100 < len(np.unique(whole.cluster)) < 600
    assert partitioned.find_duplicates([], settings, partitions).cluster.size == 0


def _deal(function, calls, results):
    made = [function(*arguments) for arguments in calls]
    return [list(one) if results > 1 else [one] for one in made]


def _gather(function, shards):
    return [function(*[piece[place] for piece in shards]) for place in range(len(shards[0]) if shards else 0)]


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="memory_mb"):
        Curation(memory_mb=100)
    with pytest.raises(ValueError, match="engine"):
        Curation(engine="spark")
