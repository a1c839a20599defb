"""A person's marks on single rows, which overrule what the data stages decide: `curation.labels`.

    marked = MarkedRows("dedup", settings.curation.labels)
    summary = write_pieces(folder, "dedup", read=…, pieces=marked.overrule(pieces))
    marked.metrics()      # {"overruled": {ID: {"reason": "near_duplicate", "evidence": {…}, "right": True, "by": "page"}}}

The file is what the ledger's page exports and `compass label --rows` writes: a JSON object per line with `id`, `digest` (of problem and
gold), `right` and `by`; `note` may say why. A row marked right stays wherever dedup, denoise or verify would drop it; one that collect
drops is named in a warning. A row marked wrong is dropped by collect (by verify, where it changed the gold that was marked) as
`marked_unfit`. The last mark of a row counts.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.evaluation.label_files import LabelsError, read_whole_labels, row_key
from compass.ledger import KEPT_BY_MARKS, LEDGER, Drop, Reason, split
from compass.records import RECORD


class MarkedRows:
    """Applies marks to what a stage decided, and remembers which rows they changed."""

    def __init__(self, stage: str, path: str) -> None:
        """
        Raises:
            LabelsError: there is no such file, or a line of it is no label.
        """
        self.stage, self.path = stage, path
        self.marks: dict[tuple[str, str], dict[str, Any]] = {}
        if path:
            if not Path(path).is_file():
                raise LabelsError(f"`curation.labels`: {path}: no such file of marked rows")
            self.marks = read_whole_labels(Path(path))
        self._missing = dict(self.marks)
        self._powerless: dict[tuple[str, str], str] = {}
        self._overruled: dict[str, dict[str, Any]] = {}

    def overrule(self, pieces: Iterable[tuple[pa.Table, pa.Table]]) -> Iterator[tuple[pa.Table, pa.Table]]:
        """Pass on pieces of kept and dropped rows, with marked rows among those where they belong."""
        for kept, dropped in pieces:
            yield (
                self._moved(kept.select(RECORD.names), dropped.select(LEDGER.names)) if self.marks else (kept, dropped)
            )
        for warning in self.warnings():
            print(f"{self.stage}: warning: {warning}", flush=True)

    def _moved(self, kept: pa.Table, dropped: pa.Table) -> tuple[pa.Table, pa.Table]:
        own = [self._mark(row) for row in _keyed(dropped)]
        saved = [bool(mark and mark["right"]) and self.stage in KEPT_BY_MARKS for mark in own]
        columns = ["source", "source_id", "reason", "evidence"]
        for mark, row, stays in zip(own, dropped.select(columns).to_pylist(), saved, strict=True):
            if mark and stays:
                evidence = json.loads(row["evidence"])
                self._overruled[mark["id"]] = {"reason": row["reason"], "evidence": evidence, **_said(mark)}
            elif mark and mark["right"]:
                name = f"{row['source']}:{row['source_id']}"
                self._powerless[mark["id"], mark["digest"]] = f"{mark['id']} ({name}: {row['reason']})"
        drops: list[Drop | None] = []
        for mark in map(self._mark, _keyed(kept)):
            unfit = mark and mark["right"] is False and self.stage in ("collect", "verify")
            drops.append(Drop(Reason.MARKED_UNFIT, {**_said(mark), "labels": self.path}) if mark and unfit else None)
        left, unfit_rows = split(kept, drops, self.stage)
        mask = pa.array(saved, pa.bool_())
        stay = dropped.filter(mask).select(RECORD.names)
        gone = dropped.filter(pa.compute.invert(mask))
        return (
            pa.concat_tables([left.cast(RECORD), stay.cast(RECORD)]),
            pa.concat_tables([gone.cast(LEDGER), unfit_rows.select(LEDGER.names).cast(LEDGER)]),
        )

    def _mark(self, row: dict[str, Any]) -> dict[str, Any] | None:
        key = row_key(row)
        self._missing.pop(key, None)
        return self.marks.get(key)

    def warnings(self) -> list[str]:
        """What collect says of marks whose row is not there, or has another problem or gold by now, and of those that cannot keep their row."""
        if self.stage != "collect":
            return []
        found = []
        if self._missing:
            found.append(
                f"{self.path}: {len(self._missing)} of {len(self.marks)} marks name no row as it is read now "
                f"({_first(dict.fromkeys(id_ for id_, _ in self._missing))}): "
                "the row is not there, or its problem or gold is another; mark it anew"
            )
        if self._powerless:
            found.append(
                f"{self.path}: {len(self._powerless)} of {len(self.marks)} marks cannot keep their row, which collect drops "
                f"({_first(self._powerless.values())}): mend the row in its file, or change the setting that drops it"
            )
        return found

    def metrics(self) -> dict[str, Any]:
        """`overruled`: by id, what the stage would have dropped; nothing where it is empty."""
        return {"overruled": self._overruled} if self._overruled else {}


def _first(names: Collection[str]) -> str:
    """The first five of some names."""
    return ", ".join([*islice(names, 5), *(["…"] if len(names) > 5 else [])])


def _keyed(rows: pa.Table) -> list[dict[str, Any]]:
    return rows.select(["id", "problem", "answer"]).to_pylist()


def _said(mark: dict[str, Any]) -> dict[str, Any]:
    """What a mark says beside its row."""
    return {name: mark[name] for name in ("right", "by", "note") if name in mark}
