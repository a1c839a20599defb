"""Finding rows in what curation wrote: the stages' folders of a pipeline (`data/`) or one folder of `compass curate`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compass.files import file_digest
from compass.ledger import LEDGER
from compass.records import RecordError

STAGES = ("collect", "dedup", "denoise", "grade", "verify", "curriculum")
"""Stages of the pipeline that write kept and dropped rows, in their order."""

CURATE_STAGES = ("collect", "dedup", "denoise", "verify", "select")
"""Stages of `compass curate`, in their order."""


SUMMARY = "summary.json"
"""Written last by `compass curate`: what it read, kept and dropped, and the digests of its other files."""


@dataclass(frozen=True)
class Outputs:
    """Where the rows are: files of kept and dropped rows by stage.

    A curate folder has one file of kept rows, under its last stage, and one of dropped rows, under "".
    """

    folder: Path
    stages: tuple[str, ...]
    kept: dict[str, Path]
    dropped: dict[str, Path]
    summary: dict[str, Any] | None

    def find(self, id_: str) -> dict[str, tuple[str, dict[str, Any]]]:
        """For each stage that has the row: `kept` or `dropped`, and the row as that stage wrote it."""
        found = {}
        for fate, files in (("kept", self.kept), ("dropped", self.dropped)):
            for stage, path in files.items():
                for row in _read(path, filters=[("id", "=", id_)]).to_pylist():
                    found[row.get("stage") or stage] = (fate, row)
        return {stage: found[stage] for stage in self.stages if stage in found}

    def problems(self) -> pa.Table:
        """Id, source and problem of every row that was collected, kept or dropped."""
        files = [*self.kept.values(), *self.dropped.values()]
        if self.summary is None:
            files = [files_of["collect"] for files_of in (self.kept, self.dropped) if "collect" in files_of]
        return pa.concat_tables([_read(path, columns=["id", "source", "problem"]) for path in files])

    def files(self) -> dict[str, Path]:
        """The last stage's kept rows and every file of dropped rows, by the name to publish them under."""
        last = list(self.kept.values())[-1]
        return {"kept.parquet": last} | {
            f"dropped-{stage}.parquet" if stage else "dropped.parquet": path for stage, path in self.dropped.items()
        }

    def ledger(self) -> pa.Table:
        """All dropped rows, in the order of the stages."""
        tables = [_read(path, columns=LEDGER.names).cast(LEDGER) for path in self.dropped.values()]
        return pa.concat_tables(tables) if tables else LEDGER.empty_table()


def open_outputs(folder: Path) -> Outputs:
    """The outputs in a folder.

    Raises:
        RecordError: the folder holds neither a pipeline's stages nor a finished curate run.
    """
    if (folder / SUMMARY).exists() or (folder / "kept.parquet").exists():
        summary = read_summary(folder)
        stages = tuple(stage for stage in CURATE_STAGES if stage in summary["stages"])
        return Outputs(folder, stages, {stages[-1]: folder / "kept.parquet"}, {"": folder / "dropped.parquet"}, summary)
    kept = {stage: path for stage in STAGES if (path := folder / stage / "kept.parquet").exists()}
    dropped = {stage: path for stage in STAGES if (path := folder / stage / "dropped.parquet").exists()}
    if "collect" not in kept:
        raise RecordError(
            f"{folder}: holds neither stages (collect/kept.parquet) nor a finished curate run ({SUMMARY}); "
            "give the folder with --data"
        )
    return Outputs(folder, STAGES, kept, dropped, None)


def read_summary(folder: Path) -> dict[str, Any]:
    """The summary of a finished curate folder, its files checked against their digests.

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


def rewards(folder: Path, id_: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """For each RL stage of a pipeline that recorded rewards of this problem: its rows (step, reward, response_tokens, used)."""
    for path in sorted(folder.glob("rl-*/rewards.parquet")):
        if rows := _read(path, filters=[("id", "=", id_)]).to_pylist():
            yield path.parent.name, rows


def rollouts(folder: Path, id_: str) -> list[dict[str, Any]]:
    """A problem's graded rollouts: sample, answer, correct."""
    path = folder / "grade" / "rollouts.parquet"
    return _read(path, filters=[("id", "=", id_)]).to_pylist() if path.exists() else []


def search(
    problems: pa.Table, text: str, n: int = 3, limit: int = 3, least: float = 0.3
) -> list[tuple[float, str, str]]:
    """The problems most like a text, as (similarity, id, source), best first; 1 for equal tokens."""
    from compass.curation.clusters import jaccard_between, sorted_sets
    from compass.curation.minhash import hash_ngrams
    from compass.curation.words import split_words

    wanted = split_words([text])
    own, own_start = sorted_sets(*hash_ngrams(wanted, n))
    found = []
    for batch in problems.to_batches(max_chunksize=20_000):
        words = split_words(batch.column("problem"))
        sets, start = sorted_sets(*hash_ngrams(words, n))
        same = (words.key == wanted.key[0]).all(axis=1)
        for row in range(batch.num_rows):
            score = 1.0 if same[row] else float(jaccard_between(sets, start, row, own, own_start, 0))
            if score >= least:
                found.append((score, batch.column("id")[row].as_py(), batch.column("source")[row].as_py()))
    return sorted(found, key=lambda match: (-match[0], match[2], match[1]))[:limit]


def by_reason(ledger: pa.Table) -> list[dict[str, Any]]:
    """Rows (stage, reason, source, count) of a ledger, largest first within a stage."""
    counted = ledger.group_by(["stage", "reason", "source"]).aggregate([("id", "count")]).to_pylist()
    order = {stage: place for place, stage in enumerate((*STAGES, "select"))}
    return sorted(
        counted,
        key=lambda row: (order.get(row["stage"], 99), row["stage"], -row["id_count"], row["reason"], row["source"]),
    )


def choose(ledger: pa.Table, **wanted: str | None) -> pa.Table:
    """The rows of a ledger whose columns have the wanted values; None leaves a column free."""
    for column, value in wanted.items():
        if value is not None:
            ledger = ledger.filter(pc.equal(ledger.column(column), value))
    return ledger


def _read(path: Path, **options: Any) -> pa.Table:
    try:
        return pq.read_table(path, **options)
    except (pa.ArrowInvalid, OSError) as error:
        raise RecordError(f"{path}: unreadable ({error}); run its stage again") from None
