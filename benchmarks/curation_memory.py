"""Peak memory and time of `compass curate` by the number of rows and workers, and of dedup alone.

    python benchmarks/curation_memory.py --out benchmarks/curation_memory.md
    python benchmarks/curation_memory.py --sizes curate:100000:2 dedup:3000000:2 --folder /tmp/made

Rows are made (`made_row`): word problems of some 120 characters with an id, a worked solution and a numeric answer; of a hundred rows
10 repeat an earlier one, 6 reword one, 2 repeat one with another answer, and 9 are noise or have a gold that nothing equals. Each size
is a process of its own; with one worker it may use one core alone. Memory is what the process and all below it hold together
(`process_usage.py`); files that they map count, the system's file cache does not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from compass.machine import cores

SIZES = ("curate:100000:2", "curate:1000000:2", "curate:1000000:1", "dedup:3000000:2", "dedup:10000000:2")

MORE = 400
"""MB that 1,000,000 rows may take above 100,000."""

DEDUP = 6_000
"""MB that dedup of 10,000,000 rows may take."""

NAMES = (
    *("Ada", "Ben", "Chen", "Dora", "Emil", "Fay", "Gus", "Hana", "Ivo", "Jun", "Kai", "Lea", "Mia"),
    *("Noor", "Omar", "Pia", "Quin", "Rosa", "Sam", "Tess", "Uma", "Vic", "Wes", "Yara", "Zoe"),
)
THINGS = (
    *("apples", "books", "coins", "doors", "eggs", "forks", "goats", "hats", "jars", "keys"),
    *("lamps", "maps", "nuts", "oars", "pens", "rings", "shoes", "tiles", "urns", "vases"),
)
PLACES = (
    *("in a box", "at the market", "on a shelf", "under the bridge"),
    *("behind the barn", "near the lake", "in the attic", "by the road"),
)
ENDS = ("How many {t} are left?", "Find the number of {t} that remain.", "How many {t} does {n} have now?")


def main() -> int:
    """Run every size in a process and write the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", nargs="+", default=SIZES, help="what to run: curate or dedup, rows, workers")
    options.add_argument(
        "--folder", type=Path, help="where rows and outputs lie, and stay; a temporary folder by default"
    )
    options.add_argument("--out", type=Path, help="the file to write the table to; stdout alone by default")
    options.add_argument("--one", action="store_true", help="measure the one size in this process")
    given = options.parse_args()
    if given.one:
        print(json.dumps(measure(given.sizes[0], given.folder)))
        return 0
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        for size in given.sizes:
            command = [sys.executable, __file__, "--one", "--sizes", size, "--folder", str(folder)]
            ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            rows.append(json.loads(ran.stdout.splitlines()[-1]))
            print(rows[-1], file=sys.stderr, flush=True)
    found = render(rows)
    if given.out:
        given.out.write_text(found)
    print(found, end="")
    return int(bool(too_much(rows)))


def made_row(number: int) -> dict[str, Any]:
    """Row `number`: the same for the same number."""
    draw = random.Random(number)
    kind = number % 100
    if 60 <= kind < 78 and number >= 100:  # tells of an earlier row
        first = made_row(number - kind - 100 + draw.randrange(60))
        problem, answer = first["problem"], first["answer"]
        if kind < 70:
            problem = problem.upper() if kind % 2 else f"  {problem} "
        elif kind < 76:
            problem += draw.choice((" Explain.", " Show your work.", " Give the answer as a number."))
        else:
            answer = str(int(answer) + 1)
        return {"id": f"made-{number}", "problem": problem, "answer": answer, "solution": f"It is \\boxed{{{answer}}}."}
    name, other, thing = draw.choice(NAMES), draw.choice(NAMES), draw.choice(THINGS)
    many, less, more = draw.randrange(1_000, 99_999), draw.randrange(2, 999), draw.randrange(2, 999)
    left = many - less + more
    end = draw.choice(ENDS).format(t=thing, n=name)
    problem = f"{name} finds {many} {thing} {draw.choice(PLACES)}, gives {less} of them to {other} and gets {more} more {draw.choice(PLACES)}. {end}"
    answer = str(left)
    if kind >= 97:
        answer = "as many as there were, give or take"
    elif kind >= 94:
        problem = (
            f"Prove that {name} cannot share {many} {thing} among {less} people {draw.choice(PLACES)} without a rest."
        )
    elif kind >= 91:
        problem += f" (a) What is half of it? (b) What is {more} more?"
    solution = (
        f"{many} - {less} = {many - less}, and {many - less} + {more} = {left}. The answer is \\boxed{{{answer}}}."
    )
    return {"id": f"made-{number}", "problem": problem, "answer": answer, "solution": solution}


def measure(size: str, folder: Path) -> dict[str, Any]:
    """One size: what was kept, a digest of all outputs, seconds, CPU seconds and peak memory."""
    from process_usage import Usage

    what, rows, workers = size.split(":")
    if workers == "1":
        os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])
    path = made_file(what, int(rows), folder)
    out = folder / size.replace(":", "-")
    with Usage() as usage:
        kept = WORK[what](path, out)
    measured = {"seconds": usage.seconds, "cpu": usage.cpu, "before_mb": usage.before_mb, "peak_mb": usage.peak_mb}
    return {"what": what, "rows": int(rows), "workers": int(workers), "kept": kept, "digest": digest(out), **measured}


def made_file(what: str, rows: int, folder: Path) -> Path:
    """The made rows: JSON lines for `compass curate`, and for dedup what collect makes of them."""
    from compass.records import RECORD, record_id, records_writer, table

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"made-{rows}.{'jsonl' if what == 'curate' else 'parquet'}"
    if path.exists():
        return path
    if what == "curate":
        with path.open("w") as file:
            file.writelines(f"{json.dumps(made_row(number))}\n" for number in range(rows))
        return path
    with records_writer(path, RECORD) as write:
        for low in range(0, rows, 10_000):
            made = [made_row(number) for number in range(low, min(low + 10_000, rows))]
            own = [{"source": "made", "source_id": row.pop("id"), **row} for row in made]
            write(table([{"id": record_id("made", row["source_id"]), **row} for row in own]))
    return path


def run_curate(path: Path, out: Path) -> int:
    """All data stages, as `compass curate` runs them."""
    from compass.library.curate import CurateOptions, curate_settings
    from compass.library.curate_stages import run_stages

    settings = curate_settings([str(path)], CurateOptions(), out)
    return run_stages(settings, out, lambda line: print(line, file=sys.stderr, flush=True))["kept"]


def run_dedup(path: Path, out: Path) -> int:
    """The stage dedup alone."""
    from compass.parallel import processes
    from compass.settings import load_settings
    from stages import dedup

    settings = load_settings(Path(__file__).parents[1] / "profiles/tiny.yaml")
    with processes():
        counts = dedup.run(settings, path, out).counts
    assert counts is not None
    return counts.kept


WORK = {"curate": run_curate, "dedup": run_dedup}


def digest(folder: Path) -> str:
    """Of all rows that the stages wrote, by the names of their files."""
    from compass.files import file_digest

    files = sorted(folder.rglob("*.parquet"))
    text = "\n".join(f"{path.relative_to(folder)} {file_digest(path)}" for path in files)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def too_much(rows: list[dict[str, Any]]) -> list[str]:
    """What misses its bound, in words."""
    found = []
    peaks = {(row["what"], row["rows"], row["workers"]): row for row in rows}
    few, many, alone = (peaks.get(("curate", *size)) for size in ((100_000, 2), (1_000_000, 2), (1_000_000, 1)))
    if few and many and many["peak_mb"] - few["peak_mb"] > MORE:
        found.append(f"1,000,000 rows take {many['peak_mb'] - few['peak_mb']:,.0f} MB more than 100,000")
    if many and alone and many["digest"] != alone["digest"]:
        found.append("one worker and two do not write the same bytes")
    if (dedup := peaks.get(("dedup", 10_000_000, 2))) and dedup["peak_mb"] > DEDUP:
        found.append(f"dedup of 10,000,000 rows takes {dedup['peak_mb']:,.0f} MB")
    return found


def render(rows: list[dict[str, Any]]) -> str:
    """The table as Markdown."""
    lines = [
        "# Memory and time of curation\n",
        f"`python benchmarks/curation_memory.py` on {cores()} cores, load average {os.getloadavg()[0]:.0f} at the end; seconds are of this",
        "machine under that load, CPU seconds less so. Made rows of some 120 characters. Memory of all processes together",
        "(proportional set size); the digest is of all rows that the stages wrote.\n",
        "| what | rows | workers | kept | seconds | CPU seconds | MB before | MB at most | digest |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        lines.append(
            f"| {row['what']} | {row['rows']:,} | {row['workers']} | {row['kept']:,} | {row['seconds']:,.0f} | {row['cpu']:,.0f} | "
            f"{row['before_mb']:,.0f} | {row['peak_mb']:,.0f} | {row['digest']} |"
        )
    missed = "; ".join(too_much(rows)) or "none"
    lines.append(
        f"\nBounds: 1,000,000 rows at most {MORE} MB above 100,000, dedup of 10,000,000 at most {DEDUP:,} MB. Missed: {missed}."
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
