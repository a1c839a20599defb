"""Precision, recall and speed of the noise filters on the labelled real rows.

    COMPASS_DATA=folder python benchmarks/noise_filters.py [--write docs/noise.md]

Reads the twelve sources of `profiles/small.yaml` from the folder and the labels of `tests/data/noise_labels.csv`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from compass.curation import noise  # noqa: E402
from compass.curation.noise.measure import Counts, Label, measure, read_labels  # noqa: E402
from compass.settings import load_settings  # noqa: E402
from compass.sources.collect import collect  # noqa: E402

LABELS = ROOT / "tests/data/noise_labels.csv"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def main() -> None:
    """Print the table; with `--write`, put it into a page between its two marks."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--write", type=Path, help="the page that holds the table")
    page = arguments.parse_args().write
    settings = load_settings(ROOT / "profiles/small.yaml")
    rows = collect(settings.collect.sources, settings.collect).kept.to_pylist()
    labels = read_labels(LABELS)
    counts, missing = measure({row["id"]: row for row in rows}, labels, settings.denoise)
    if missing:
        sys.exit(f"{LABELS}: {len(missing)} labelled rows are not in the sources, first {missing[0]}; other files?")
    start = time.process_time()
    first = Counter(drop.reason for row in rows if (drop := noise.check(row, settings.denoise)))
    seconds = time.process_time() - start
    text = table(counts, first, labels, len(rows), seconds)
    print(text)
    if page:
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


def table(counts: dict, first: Counter, labels: list[Label], rows: int, seconds: float) -> str:
    """The counts as a Markdown table, with a line on size and speed."""
    lines = ["| reason | labelled | precision | recall | rows dropped |", "|---|---|---|---|---|"]
    for reason, count in counts.items():
        found: Counts = count
        lines.append(
            f"| `{reason}` | {found.hits + found.misses} | {_share(found.precision)} | {_share(found.recall)} "
            f"| {first.get(reason, 0):,} |"
        )
    clean = sum(not label.reasons and not label.unsure for label in labels)
    lines += [
        "",
        f'{len(labels):,} labelled rows, {clean} of them clean. "Rows dropped" counts the first reason of each of the '
        f"{rows:,} collected rows, before duplicates are removed: {sum(first.values()):,} in {seconds:.1f} s of one core.",
    ]
    return "\n".join(lines)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
