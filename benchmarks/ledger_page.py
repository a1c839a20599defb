"""The ledger's page on many dropped rows: its size, how long it takes to write, and how long a filter takes in Chromium.

    python benchmarks/ledger_page.py [--rows 80000] [--sources 12] [--keep FOLDER]

Rows are generated: texts of 60 to 900 characters, every reason of the noise filters, twins and benchmark items. Filters are
timed in headless Chromium from the keystroke to the laid-out page, as the slowest of several.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import tempfile
import time
from pathlib import Path

from compass.ledger import Drop, Reason, split
from compass.records import record_id, table, write_records
from compass.report.ledger_page import write_page
from compass.report.outputs import open_outputs
from compass.settings.denoise import NoiseReason

WORDS = (
    *("the", "number", "of", "points", "sum", "find", "triangle", "if", "each", "circle", "value", "integer", "are"),
    *("how", "many", "which", "side", "$x^2$", "$\\frac{a}{b}$"),
)
NOISE = (
    NoiseReason.FIGURE,
    NoiseReason.LINK,
    NoiseReason.PROOF,
    NoiseReason.MULTIPLE_CHOICE,
    NoiseReason.MULTI_PART,
    NoiseReason.LANGUAGE,
)

FILTER = """([name, value]) => {
  const field = document.querySelector("form.filters").elements[name], begin = performance.now();
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  document.body.offsetHeight;
  return performance.now() - begin;
}"""


def text(random_: random.Random) -> str:
    """A problem of 60 to 900 characters."""
    return " ".join(random_.choices(WORDS, k=random_.randint(12, 160))) + f" {random_.randint(2, 999_999)}?"


def write_outputs(folder: Path, rows: int, sources: int) -> None:
    """A pipeline's outputs in which `rows` rows are dropped: half as duplicates, the others as noise or contaminated."""
    random_ = random.Random(0)
    made, duplicates, noisy = [], [], []
    for number in range(rows + 1_000):
        source, problem = f"source-{number % sources}", text(random_)
        id_ = record_id(source, str(number))
        drop = None
        if number >= 1_000:
            twin = made[random_.randrange(1_000)]
            if number % 2:
                problem = twin["problem"].replace("circle", "disc")
                reason = Reason.NEAR_DUPLICATE if number % 4 == 1 else Reason.EXACT_DUPLICATE
                drop = Drop(reason, {"twin": twin["id"], "similarity": 0.9, "answer": "1", "twin_answer": "1"})
            elif number % 20 == 0:
                drop = Drop(Reason.CONTAMINATED, {"benchmark": "quiz", "item": str(number % 50), "rule": "coverage"})
            else:
                evidence = {"strength": "sure", "text": problem[10:60], "span": [10, 60]}
                drop = Drop(NOISE[number % len(NOISE)], evidence)
        made.append({"id": id_, "source": source, "source_id": str(number), "problem": problem, "answer": "1"})
        (duplicates if number % 2 else noisy).append((number, drop))
    items = [{"id": str(n), "source": "quiz", "source_id": str(n), "problem": text(random_)} for n in range(50)]
    records = table(made)
    none = [None] * records.num_rows
    for stage, drops in (("collect", []), ("dedup", duplicates), ("denoise", noisy)):
        decided = dict(drops)
        kept, dropped = split(records, [decided.get(int(n)) for n in records["source_id"].to_pylist()] or none, stage)
        write_records(folder / stage / "kept.parquet", kept)
        write_records(folder / stage / "dropped.parquet", dropped)
        records = kept
    write_records(folder / "collect" / "benchmarks.parquet", table(items))


def measure(page: Path) -> dict[str, float]:
    """Seconds until the page shows rows, and milliseconds of the slowest filter of each kind."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        opened = browser.new_page()
        begin = time.monotonic()
        opened.goto(page.resolve().as_uri())
        opened.wait_for_selector(".item")
        figures = {"open_s": round(time.monotonic() - begin, 2)}
        tries = {"words": ["t", "tr", "triangle", "triangle circle", "zzz", ""], "reason": ["figure", "link", ""]}
        for name, values in {**tries, "source": ["source-1", "source-2", ""], "stage": ["dedup", ""]}.items():
            figures[f"{name}_ms"] = round(max(opened.evaluate(FILTER, [name, value]) for value in values), 1)
        browser.close()
    return figures


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=80_000)
    parser.add_argument("--sources", type=int, default=12)
    parser.add_argument("--keep", type=Path, help="a folder for the outputs and the page")
    parser.add_argument("--data", type=Path, help="outputs to measure, instead of generated ones")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or Path(scratch)
        if args.data is None:
            write_outputs(folder / "data", args.rows, args.sources)
        begin, page = time.monotonic(), folder / "ledger.html"
        dropped, shown = write_page(open_outputs(args.data or folder / "data"), page)
        took = round(time.monotonic() - begin, 1)
        figures = {"dropped": dropped, "shown": shown, "write_s": took, "mb": round(page.stat().st_size / 1e6, 2)}
        print(json.dumps({**figures, **measure(page)}))


if __name__ == "__main__":
    main()
