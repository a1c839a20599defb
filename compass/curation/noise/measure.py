"""Precision and recall of the noise filters on labelled rows.

Labels name every reason that applies to a row, not only the first that `check` would give; a reason with a question mark
is one on which readers may differ, and counts neither way. Filters are judged one by one, each on its own reason.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.curation.noise import FILTERS
from compass.ledger import Reason
from compass.settings import Denoise


@dataclass(frozen=True)
class Label:
    """What a reader found in a row: reasons that apply, and reasons that are left open."""

    id: str
    reasons: frozenset[str]
    unsure: frozenset[str]
    sample: int


@dataclass
class Counts:
    """How a filter and the labels agree on its reason."""

    hits: int = 0
    false_hits: int = 0
    misses: int = 0

    @property
    def precision(self) -> float | None:
        """Share of the filter's hits that the labels confirm; None without hits."""
        found = self.hits + self.false_hits
        return self.hits / found if found else None

    @property
    def recall(self) -> float | None:
        """Share of the labelled rows that the filter finds; None without labelled rows."""
        labelled = self.hits + self.misses
        return self.hits / labelled if labelled else None


def read_labels(path: str | Path) -> list[Label]:
    """Labels of a CSV file with the columns `id`, `reasons` (separated by blanks) and `sample`.

    Raises:
        ValueError: a reason is no noise filter's.
    """
    labels = []
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            names = row["reasons"].split()
            if unknown := [name for name in names if name.rstrip("?") not in set(FILTERS)]:
                raise ValueError(f"{path}: row {row['id']}: no noise filter {unknown[0]!r}")
            sure = frozenset(name for name in names if not name.endswith("?"))
            unsure = frozenset(name[:-1] for name in names if name.endswith("?"))
            labels.append(Label(row["id"], sure, unsure, int(row["sample"])))
    return labels


def measure(
    records: Mapping[str, dict[str, Any]], labels: Iterable[Label], settings: Denoise
) -> tuple[dict[Reason, Counts], list[str]]:
    """Judge every filter on labelled rows.

    Args:
        records: rows by id.
        labels: what readers found in them.
        settings: thresholds and languages.

    Returns:
        Counts by reason, and the ids of labels that have no record.
    """
    counts = {reason: Counts() for reason in FILTERS}
    missing = []
    for label in labels:
        if label.id not in records:
            missing.append(label.id)
            continue
        for reason, judge in FILTERS.items():
            if reason in label.unsure:
                continue
            found = judge(records[label.id], settings) is not None
            counts[reason].hits += found and reason in label.reasons
            counts[reason].false_hits += found and reason not in label.reasons
            counts[reason].misses += not found and reason in label.reasons
    return counts, missing
