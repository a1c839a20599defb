"""dedup of one file of records in one process and on local Ray workers: seconds, memory of all processes, and equal bytes.

    python benchmarks/curation_on_ray.py RECORDS.parquet [--workers 1 2 4] [--memory-mb 128]

RECORDS is a file that the stage `collect` wrote. Memory is the proportional set size (PSS) of the run's processes added
up, looked at twice a second: shared pages, those of Ray's object store above all, count once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import psutil

from compass.files import file_digest
from compass.settings import Curation, Dedup

SOURCES = ["a", "b"]


def main() -> None:
    """Run the stage on each engine, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--memory-mb", type=int, default=128)
    parser.add_argument("--run", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.run:
        run(args.records, Curation(**args.run), args.out)
        return
    engines = [{"engine": "process"}]
    engines += [{"engine": "ray", "workers": number, "memory_mb": args.memory_mb} for number in args.workers]
    print("| engine | wall s | CPU s | peak memory of all processes, GB | bytes |\n| --- | ---: | ---: | ---: | --- |")
    first = ""
    for engine in engines:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, str(args.records), "--run", json.dumps(engine), "--out", folder]
            seconds, cpu, peak = watched(command)
            written = " ".join(file_digest(Path(folder) / f"{fate}.parquet") for fate in ("kept", "dropped"))
        first = first or written
        name = ", ".join(f"{key} {value}" for key, value in engine.items())
        print(
            f"| {name} | {seconds:.1f} | {cpu:.1f} | {peak:.2f} | {'same' if written == first else 'DIFFERENT'} |",
            flush=True,
        )


def run(records: Path, curation: Curation, folder: Path) -> None:
    """The stage, as `dvc repro dedup` runs it."""
    import stages.dedup

    collect = SimpleNamespace(sources=[SimpleNamespace(name=name) for name in SOURCES])
    summary = stages.dedup.run(SimpleNamespace(dedup=Dedup(), collect=collect, curation=curation), records, folder)
    print(summary.counts, file=sys.stderr)


def watched(command: list[str]) -> tuple[float, float, float]:
    """Wall and CPU seconds of a command with its children, and their largest memory together, in GB."""
    begin, used = time.monotonic(), sum(os.times()[2:4])
    running = subprocess.Popen(command)
    peak = 0
    while running.poll() is None:
        held = 0
        with contextlib.suppress(psutil.Error):
            me = psutil.Process(running.pid)
            for process in (me, *me.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    held += process.memory_full_info().pss
        peak = max(peak, held)
        time.sleep(0.5)
    if running.returncode:
        raise SystemExit(running.returncode)
    return time.monotonic() - begin, sum(os.times()[2:4]) - used, peak / 1e9


if __name__ == "__main__":
    main()
