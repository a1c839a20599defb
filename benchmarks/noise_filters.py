"""Precision, recall and speed of the noise filters on the labelled real rows.

    COMPASS_DATA=folder python benchmarks/noise_filters.py [--write docs/reference/noise.md]

Reads the twelve sources of `profiles/small.yaml` from the folder and the labels of `tests/data/noise_labels.csv`. Labels
name every reason that applies to a row, not only the first that `noise.check` would give; a reason with a question mark
is one on which readers may differ, and counts neither way. Filters are judged one by one, each on its own reason.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from marked_page import write_part  # noqa: E402

from compass.curation import noise  # noqa: E402
from compass.ledger import REASONS  # noqa: E402
from compass.settings import Denoise, load_settings  # noqa: E402
from compass.sources.collect import collect  # noqa: E402

LABELS = ROOT / "tests/data/noise_labels.csv"


READERS = frozenset(("estimation", "lost_context", "letter_gold", "other"))
"""Reasons that readers give whether or not a filter has them; `other` is any other fault, such as a wrong gold."""


UNREAD = frozenset(("estimation", "scoring", "lost_context", "letter_gold"))
"""Reasons that were not known when the rows of `noise_labels.csv` were read; `noise_unseen.py` has labels of them."""


@dataclass(frozen=True)
class Label:
    """What a reader found in a row: reasons that apply, and reasons that are left open."""

    id: str
    reasons: frozenset[str]
    unsure: frozenset[str]
    sample: str
    split: str = ""


@dataclass
class Counts:
    """How a filter and the labels agree on its reason."""

    hits: int = 0
    false_hits: int = 0
    misses: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the filter's hits that the labels confirm; None without hits."""
        fired = self.hits + self.false_hits
        return self.hits / fired if fired else None

    @property
    def recall(self) -> float | None:
        """Share of the labelled rows that the filter finds; None without labelled rows."""
        labelled = self.hits + self.misses
        return self.hits / labelled if labelled else None


def read_labels(path: str | Path) -> list[Label]:
    """Labels of a CSV file with the columns `id`, `reasons` (separated by blanks), `sample` and, where rows are parted, `split`.

    Raises:
        ValueError: a reason is neither the ledger's nor a reader's.
    """
    known = {*REASONS, *READERS}
    labels = []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names = row["reasons"].split()
            if unknown := [name for name in names if name.rstrip("?") not in known]:
                raise ValueError(f"{path}: row {row['id']}: no reason {unknown[0]!r}")
            sure = frozenset(name for name in names if not name.endswith("?"))
            unsure = frozenset(name[:-1] for name in names if name.endswith("?"))
            labels.append(Label(row["id"], sure, unsure, row["sample"], row.get("split") or ""))
    return labels


def count_agreement(
    records: Mapping[str, dict[str, Any]], labels: Iterable[Label], settings: Denoise
) -> tuple[dict[str, Counts], list[str]]:
    """Judge every filter on labelled rows.

    Args:
        records: rows by id.
        labels: what readers found in them.
        settings: thresholds and languages.

    Returns:
        Counts by reason, and the ids of labels that have no record.
    """
    judges = {reason: judge for reason, judge in noise.FILTERS.items() if reason not in UNREAD}
    counts = {reason: Counts() for reason in judges}
    missing = []
    for label in labels:
        if label.id not in records:
            missing.append(label.id)
            continue
        for reason, judge in judges.items():
            if reason in label.unsure:
                continue
            finding = judge(records[label.id], settings)
            fired = finding is not None and finding.drops(settings.strictness)
            counts[reason].hits += fired and reason in label.reasons
            counts[reason].false_hits += fired and reason not in label.reasons
            counts[reason].misses += not fired and reason in label.reasons
    return counts, missing


def main() -> None:
    """Print the table; with `--write`, put it into a page between its two marks."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--write", type=Path, help="the page that holds the table")
    page = arguments.parse_args().write
    settings = load_settings(ROOT / "profiles/small.yaml")
    # As published: the labels say what a reader found there, damage that `collect` repairs included.
    rows = collect(settings.collect.sources, settings.collect.model_copy(update={"repair": False})).kept.to_pylist()
    labels = read_labels(LABELS)
    counts, missing = count_agreement({row["id"]: row for row in rows}, labels, settings.denoise)
    if missing:
        sys.exit(f"{LABELS}: {len(missing)} labelled rows are not in the sources, first {missing[0]}; other files?")
    start = time.process_time()
    first = Counter(drop.reason for row in rows if (drop := noise.check(row, settings.denoise)))
    seconds = time.process_time() - start
    text = table(counts, first, labels, len(rows), seconds)
    print(text)
    if page:
        write_part(page, "measured", text)


def table(counts: dict[str, Counts], first: Counter, labels: list[Label], rows: int, seconds: float) -> str:
    """The counts as a Markdown table, with a line on size and speed."""
    lines = ["| reason | labelled | precision | recall | rows dropped |", "|---|---|---|---|---|"]
    for reason, count in counts.items():
        lines.append(
            f"| `{reason}` | {count.hits + count.misses} | {share(count.precision)} | {share(count.recall)} "
            f"| {first.get(reason, 0):,} |"
        )
    clean = sum(not label.reasons and not label.unsure for label in labels)
    lines += [
        "",
        f'{len(labels):,} labelled rows, {clean} of them clean. "Rows dropped" counts the first reason of each of the '
        f"{rows:,} collected rows, before duplicates are removed: {sum(first.values()):,} in {seconds:.1f} s of one core.",
    ]
    return "\n".join(lines)


def share(value: float | None) -> str:
    """A share with three digits, a dash for none."""
    return "–" if value is None else f"{value:.3f}"


if __name__ == "__main__":
    main()
