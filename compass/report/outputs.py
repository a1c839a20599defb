"""Finding rows in what curation wrote: one folder per stage, each with the rows it kept and the rows it dropped.

That is the pipeline's `data/` as well as a folder of `compass curate`. Such a folder also has `curate.json`, written
first, and `summary.json`, written last: without the second it is unfinished, and no reader takes it for whole.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compass.files import file_digest
from compass.ledger import LEDGER, Counts, most_first
from compass.records import RECORD, RecordError

STAGES = ("collect", "dedup", "denoise", "grade", "verify", "curriculum", "select")
"""Stages that write kept and dropped rows, in their order; `select` is the last one of `compass curate`."""

DECIDES = "denoise"
"""The stage that fills the column `findings`."""

DOUBTFUL = ["id", "source", "source_id", "problem", "answer", "findings"]
"""What is shown of a row that was kept with doubts."""

SETTINGS = "curate.json"
"""Written first by `compass curate`: its settings."""

SUMMARY = "summary.json"
"""Written last by `compass curate`: what it read, kept and dropped, and the digests of its other files."""


@dataclass(frozen=True)
class Outputs:
    """Where the rows are: files of kept and of dropped rows by stage, in the order of the stages."""

    folder: Path
    kept: dict[str, Path]
    dropped: dict[str, Path]

    @property
    def last(self) -> Path:
        """The rows that the last stage kept."""
        return list(self.kept.values())[-1]

    def find(self, id_: str) -> dict[str, tuple[str, dict[str, Any]]]:
        """For each stage that has the row: `kept` or `dropped`, and the row as that stage wrote it."""
        fates: dict[str, tuple[str, dict[str, Any]]] = {}
        for stage in STAGES:
            for fate, files in (("kept", self.kept), ("dropped", self.dropped)):
                if stage in files:
                    for row in read_table(files[stage], ids=[id_]).to_pylist():
                        fates[stage] = (fate, row)
        return fates

    def collected(self, columns: list[str], ids: Sequence[str] | None = None) -> pa.Table:
        """Columns of the rows that were collected, kept or dropped: of those with one of the ids, or of all."""
        return pa.concat_tables([read_table(path, columns, ids=ids) for path in self.collected_files()])

    def collected_files(self) -> list[Path]:
        """The files of the rows that were collected, kept or dropped."""
        return [files_of["collect"] for files_of in (self.kept, self.dropped) if "collect" in files_of]

    def benchmark_items(self, columns: list[str]) -> pa.Table:
        """Columns of the benchmarks' items; no rows where no benchmark was given."""
        path = self.folder / "collect" / "benchmarks.parquet"
        empty = pa.schema([RECORD.field(name) for name in columns]).empty_table()
        return read_table(path, columns) if path.exists() else empty

    def files(self) -> dict[str, Path]:
        """The last stage's kept rows and every file of dropped rows, by the name to publish them under."""
        return {"kept.parquet": self.last} | {f"dropped-{stage}.parquet": path for stage, path in self.dropped.items()}

    def ledger(self) -> pa.Table:
        """All dropped rows, in the order of the stages."""
        tables = [LEDGER.empty_table(), *map(read_table, self.dropped.values())]
        # Columns that an earlier version did not write are null.
        return pa.concat_tables(tables, promote_options="permissive").select(LEDGER.names).cast(LEDGER)

    def counts(self) -> list[Counts]:
        """Rows of every stage, in the order of the stages."""
        found = []
        for stage, path in self.kept.items():
            reasons = count_values([self.dropped[stage]] if stage in self.dropped else [], "reason")
            dropped = most_first({reason: count for (reason,), count in reasons.items()})
            kept = sum(batch.num_rows for batch in read_batches(path, ["id"]))
            found.append(Counts(stage, kept, dropped))
        return found

    def rewards(self) -> dict[str, Path]:
        """The files of rewards by RL stage."""
        return {path.parent.name: path for path in sorted(self.folder.glob("*/rewards.parquet"))}

    def sources(self) -> dict[str, dict[str, Any]]:
        """What the collect stage recorded of each source; empty where it did not."""
        return self._measured("collect").get("sources", {})

    def overruled(self, stage: str) -> dict[str, dict[str, Any]]:
        """By id, the rows that a person kept against the stage, with reason and evidence."""
        return self._measured(stage).get("overruled", {})

    def _measured(self, stage: str) -> dict[str, Any]:
        """What a stage measured, as `compass curate` or the pipeline wrote it; empty where neither did."""
        summary, metrics = self.folder / SUMMARY, self.folder.parent / "metrics" / f"{stage}.json"
        path = summary if summary.exists() else metrics
        facts = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return (facts.get("stages", {}).get(stage, {}) if summary.exists() else facts).get("metrics") or {}

    def origins(self) -> dict[str, str]:
        """Path or hub id of each source, as far as the collect stage recorded it."""
        return {name: str(fact.get("path") or fact.get("hub") or "") for name, fact in self.sources().items()}

    def languages(self) -> list[str]:
        """The languages that were kept, where `compass curate` noted its settings."""
        return self._settings().get("denoise", {}).get("languages", [])

    def keeps_duplicates(self) -> bool:
        """Whether dedup kept the duplicates that it found (`dedup.keep_all`)."""
        return self._settings().get("dedup", {}).get("keep_all", "kept_duplicates" in self._measured("dedup"))

    def _settings(self) -> dict[str, Any]:
        """The settings of `compass curate`; empty in the pipeline."""
        path = self.folder / SETTINGS
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def find_outputs(folder: Path) -> Outputs:
    """The outputs of the stages that have run in a folder, as far as there are any."""
    kept, dropped = (
        {stage: path for stage in STAGES if (path := folder / stage / f"{fate}.parquet").exists()}
        for fate in ("kept", "dropped")
    )
    return Outputs(folder, kept, dropped)


def open_outputs(folder: Path) -> Outputs:
    """The outputs in a folder.

    Raises:
        RecordError: nothing was collected there, or the folder belongs to a run of `compass curate` that did not end.
    """
    if (folder / SETTINGS).exists():
        check_finished(folder)
    outputs = find_outputs(folder)
    if "collect" not in outputs.kept:
        raise RecordError(
            f"{folder}: holds no collected rows (collect/kept.parquet); give with --data the folder that a pipeline or "
            "`compass curate` wrote"
        )
    return outputs


def check_finished(folder: Path) -> dict[str, Any]:
    """The summary of a finished folder of `compass curate`, its files checked against their digests.

    Raises:
        RecordError: the folder is unfinished, or a file was changed.
    """
    path = folder / SUMMARY
    if not path.exists():
        raise RecordError(f"{path}: no such file; the run of `compass curate` did not end, start it again")
    summary = json.loads(path.read_text(encoding="utf-8"))
    for name, expected in summary["files"].items():
        if not (folder / name).exists() or file_digest(folder / name) != expected:
            raise RecordError(f"{folder / name}: not the file that {path} describes; run `compass curate` again")
    return summary


def find_rows(path: Path, id_: str) -> list[dict[str, Any]]:
    """The rows of a problem in a file, none where there is no file."""
    return read_table(path, ids=[id_]).to_pylist() if path.exists() else []


def find_doubtful(
    outputs: Outputs, *, stage: str | None = None, reason: str | None = None, source: str | None = None
) -> list[dict[str, Any]]:
    """Rows with doubts that a stage kept: the columns `DOUBTFUL`, `findings` as a list.

    Args:
        outputs: where the rows are.
        stage: the stage that kept them; None for `denoise`, which doubts.
        reason: only rows with a doubt for this reason, and only these doubts.
        source: only rows of this source.

    Raises:
        RecordError: the stage has not run here, or comes before `denoise`.
    """
    stage = stage or DECIDES
    stages = list(outputs.kept)
    if DECIDES not in stages or stage not in stages[stages.index(DECIDES) :]:
        raise RecordError(
            f"{outputs.folder}: no rows that `{stage}` kept with doubts; `{DECIDES}` doubts, and these stages "
            f"have run: {', '.join(stages)}"
        )
    kept = read_table(outputs.kept[stage], columns=DOUBTFUL)
    rows = []
    for row in kept.filter(pc.is_valid(kept["findings"])).to_pylist():
        doubts = [finding for finding in json.loads(row["findings"]) if reason in (None, finding["reason"])]
        if doubts and source in (None, row["source"]):
            rows.append({**row, "findings": doubts})
    return rows


def count_doubts(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """How many `rows` have a doubt of each `reason` and `strength`, by `source`: the most rows first."""
    counts = Counter(
        (*doubt, row["source"])
        for row in rows
        for doubt in {(finding["reason"], finding["strength"]) for finding in row["findings"]}
    )
    names = ("reason", "strength", "source", "rows")
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [dict(zip(names, (*key, count), strict=True)) for key, count in ordered]


def count_values(files: Iterable[Path], *columns: str) -> Counter[tuple[Any, ...]]:
    """How many rows of files have each combination of values, in the order of their first rows; few rows are held at a time."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for path in files:
        for batch in read_batches(path, columns):
            table = pa.Table.from_batches([batch])
            for row in table.group_by(columns, use_threads=False).aggregate([([], "count_all")]).to_pylist():
                counts[tuple(row[column] for column in columns)] += row["count_all"]
    return counts


def count_by_reason(ledger: pa.Table) -> list[dict[str, Any]]:
    """How many `rows` of a ledger have each `stage`, `reason` and `source`: stages in their order, the most rows first."""
    counted = ledger.group_by(["stage", "reason", "source"]).aggregate([("id", "count")]).to_pylist()
    order = {stage: place for place, stage in enumerate(STAGES)}
    rows = [{"rows": row.pop("id_count"), **row} for row in counted]
    return sorted(
        rows, key=lambda row: (order.get(row["stage"], 99), row["stage"], -row["rows"], row["reason"], row["source"])
    )


def choose(ledger: pa.Table, **wanted: str | None) -> pa.Table:
    """The rows of a ledger whose columns have the wanted values; None leaves a column free."""
    for column, value in wanted.items():
        if value is not None:
            ledger = ledger.filter(pc.equal(ledger.column(column), value))
    return ledger


def read_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Columns of a stage's parquet file, some rows at a time.

    Raises:
        RecordError: it is no whole parquet file.
    """
    try:
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(columns=list(columns))
    except (pa.ArrowInvalid, OSError) as error:
        raise RecordError(f"{path}: unreadable ({error}); run its stage again") from None


def read_table(
    path: Path, columns: list[str] | None = None, *, ids: Sequence[str] | None = None, filters: Any = None
) -> pa.Table:
    """A stage's parquet file: all of it, or some columns, and the rows that have one of the ids or fit the filters.

    Raises:
        RecordError: it is no whole parquet file.
    """
    if ids is not None:
        filters = pc.field("id").isin(pa.array(ids, pa.string()))
    try:
        return pq.read_table(path, columns=columns, filters=filters)
    except (pa.ArrowInvalid, OSError) as error:
        raise RecordError(f"{path}: unreadable ({error}); run its stage again") from None
