"""Deduplication of records: one row of each problem survives, the others go to the ledger with their twin.

`duplicates.py` decides which rows are alike, `survivor.py` which of those are one problem and which row of it survives;
`semantic.py`, where the user gives a model, which of the survivors say the same in other words.
Both compare problems as the words of `problem_words.py`; decontamination does so too.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from compass.curation.duplicates import CHUNK, Duplicates, search
from compass.curation.problem_words import similarity
from compass.curation.semantic import find_reworded, group_by_numbers
from compass.curation.survivor import settle
from compass.ledger import Drop, split
from compass.parallel import in_processes
from compass.progress import report
from compass.records import with_column
from compass.settings import Dedup

NEEDED = ("id", "source", "problem", "answer", "alternatives", "solution", "solve_rate")
"""The columns that decide which row of a cluster survives."""

BATCH = 500
"""Clusters that a process settles at a time."""

SMALL = 1_000
"""Fewer clusters are settled in this process: starting others takes longer."""

Read = Callable[[Sequence[str] | None], Iterator[pa.Table]]
"""Reads the records from the beginning, piece by piece: some columns, or all for None."""


def dedup(records: pa.Table, settings: Dedup, sources: Sequence[str]) -> tuple[pa.Table, pa.Table]:
    """`dedup_pieces` of a table: kept and dropped rows."""

    def read(columns: Sequence[str] | None) -> Iterator[pa.Table]:
        chosen = records.select(columns or records.column_names)
        return (chosen.slice(low, CHUNK) for low in range(0, records.num_rows, CHUNK))

    pieces = list(dedup_pieces(read, records.num_rows, settings, sources)) or [split(records, [], "dedup")]
    kept, dropped = zip(*pieces, strict=True)
    return pa.concat_tables(kept), pa.concat_tables(dropped)


def dedup_pieces(
    read: Read, count: int, settings: Dedup, sources: Sequence[str]
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Keep one row of each problem.

    The records are read three times: for the words of their problems, for the rows of clusters, and to be split. What is known of
    clusters lies in a temporary database on disk (`TMPDIR`), so that memory holds some numbers per row.

    Args:
        read: reads `RECORD` rows.
        count: how many there are.
        settings: the section `dedup`.
        sources: names of the sources, the preferred one first.

    Returns:
        Kept and dropped rows, piece by piece, in the records' order; both carry `cluster` (the id of the problem's survivor; of a
        dropped problem its preferred row's) and `cluster_size`.
    """
    problems = (piece.column("problem").to_pylist() for piece in read(["problem"]))
    duplicates = search(problems, count, settings)
    with closing(_database()) as database:
        database.executemany(_ADD_ROW, _clustered(read, duplicates))
        settle_clusters(database, settings, sources)
        if settings.semantic.model:
            join_reworded(database, read, settings, sources)
        begin = 0
        for piece in read(None):
            yield _split(piece, begin, database)
            begin += piece.num_rows


_TABLES = """
    CREATE TABLE rows(cluster INTEGER, row INTEGER, exact INTEGER, record TEXT);
    CREATE TABLE verdicts(row INTEGER PRIMARY KEY, cluster TEXT, size INTEGER, reason TEXT, evidence TEXT);
"""
_ADD_ROW = "INSERT INTO rows VALUES (?, ?, ?, ?)"
_ADD_VERDICT = "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?)"


def _database() -> sqlite3.Connection:
    """An empty database: SQLite keeps it in memory while it is small, else in a file that vanishes with it."""
    database = sqlite3.connect("")
    database.execute("PRAGMA cache_size = -65536")  # KiB
    database.execute("PRAGMA journal_mode = OFF")
    database.executescript(_TABLES)
    return database


def _clustered(read: Read, duplicates: Duplicates) -> Iterator[tuple[int, int, int, str]]:
    """The rows of clusters of two rows or more: cluster, row number, first row of the same tokens, and the columns `NEEDED`."""
    several = np.bincount(duplicates.cluster, minlength=1)[duplicates.cluster] > 1 if duplicates.cluster.size else None
    begin = 0
    for piece in read(NEEDED):
        here = np.flatnonzero(several[begin : begin + piece.num_rows])
        rows = (begin + here).tolist()
        numbers = zip(duplicates.cluster[rows].tolist(), rows, duplicates.exact[rows].tolist(), strict=True)
        for one, record in zip(numbers, piece.take(pa.array(here)).to_pylist(), strict=True):
            yield *one, json.dumps(record)
        begin += piece.num_rows


Cluster = list[tuple[int, int, str]]
"""The rows of a cluster: row number, first row of the same tokens, record as JSON."""


def settle_clusters(database: sqlite3.Connection, settings: Dedup, sources: Sequence[str]) -> None:
    """Fill the table `verdicts` with what is decided on each row of the table `rows`."""
    total = database.execute("SELECT COUNT(DISTINCT cluster) FROM rows").fetchone()[0]
    done = 0
    start = partial(_settler, settings, {name: number for number, name in enumerate(sources)})
    for verdicts in in_processes(start, _batches(database), workers=1 if total < SMALL else 0):
        for cluster in verdicts:
            database.executemany(_ADD_VERDICT, cluster)
        done += len(verdicts)
        report(done, total, "clusters", "choosing survivors")


def join_reworded(database: sqlite3.Connection, read: Read, settings: Dedup, sources: Sequence[str]) -> None:
    """Drop, in the table `verdicts`, rows that say in other words what another row says; their duplicates follow their twin.

    Args and errors as `dedup_pieces`, and as `find_reworded`.
    """
    gone = {row for (row,) in database.execute("SELECT row FROM verdicts WHERE reason IS NOT NULL")}
    problems = enumerate(text for piece in read(["problem"]) for text in piece.column("problem").to_pylist())
    groups = group_by_numbers((row, text) for row, text in problems if row not in gone)
    wanted = np.array(sorted(row for group in groups for row in group), dtype=np.int64)
    rows: dict[int, dict[str, Any]] = {}
    begin = 0
    for piece in read(NEEDED):
        here = wanted[(wanted >= begin) & (wanted < begin + piece.num_rows)]
        rows |= zip(here.tolist(), piece.take(pa.array(here - begin)).to_pylist(), strict=True)
        begin += piece.num_rows
    rank = {name: number for number, name in enumerate(sources)}
    database.execute("CREATE INDEX by_cluster ON verdicts(cluster)")
    for row, (twin, drop) in find_reworded(groups, rows, rank, settings.semantic).items():
        for one in (row, twin):
            database.execute(
                "INSERT OR IGNORE INTO verdicts VALUES (?, ?, 1, NULL, NULL)",
                (one, rows[one]["id"]),
            )
        verdict = str(drop.reason), json.dumps(drop.evidence), row
        database.execute("UPDATE verdicts SET reason = ?, evidence = ? WHERE row = ?", verdict)
        database.execute("UPDATE verdicts SET cluster = ? WHERE cluster = ?", (rows[twin]["id"], rows[row]["id"]))
        size = "(SELECT COUNT(*) FROM verdicts WHERE cluster = ?1)"
        database.execute(f"UPDATE verdicts SET size = {size} WHERE cluster = ?1", (rows[twin]["id"],))


def _batches(database: sqlite3.Connection) -> Iterator[list[Cluster]]:
    """All clusters in the order of their first rows, some at a time."""
    rows = database.execute("SELECT cluster, row, exact, record FROM rows ORDER BY cluster, row")
    batch: list[Cluster] = []
    for _, members in groupby(rows, itemgetter(0)):
        batch.append([member[1:] for member in members])
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


Verdict = tuple[int, str, int, str | None, str | None]
"""Row number, id of the problem's survivor, how many rows the problem has, and reason and evidence of a dropped row."""


def _settler(settings: Dedup, rank: dict[str, int]) -> Callable[[list[Cluster]], list[list[Verdict]]]:
    alike = partial(similarity, n=settings.ngram)

    def settle_one(cluster: Cluster) -> list[Verdict]:
        numbers, exact, texts = zip(*cluster, strict=True)
        rows = [json.loads(text) for text in texts]
        heads, drops = settle(rows, exact, alike, rank, settings.conflicts)
        return [
            (number, rows[head]["id"], heads.count(head), drop and str(drop.reason), drop and json.dumps(drop.evidence))
            for number, head, drop in zip(numbers, heads, drops, strict=True)
        ]

    return lambda clusters: [settle_one(cluster) for cluster in clusters]


def _split(records: pa.Table, begin: int, database: sqlite3.Connection) -> tuple[pa.Table, pa.Table]:
    """Kept and dropped rows of a piece; a row without a verdict is alone in its cluster, and stays."""
    cluster, sizes = records.column("id").to_pylist(), [1] * records.num_rows
    drops: list[Drop | None] = [None] * records.num_rows
    verdicts = database.execute("SELECT * FROM verdicts WHERE row >= ? AND row < ?", (begin, begin + records.num_rows))
    for row, survivor, size, reason, evidence in verdicts:
        cluster[row - begin], sizes[row - begin] = survivor, size
        if reason:
            drops[row - begin] = Drop(reason, json.loads(evidence))
    records = with_column(records, "cluster", cluster)
    return split(with_column(records, "cluster_size", sizes), drops, "dedup")
