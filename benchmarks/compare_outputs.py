"""Whether two runs of the data stages gave the same results: rows, ids, reasons, evidence and every value.

    python benchmarks/compare_outputs.py ../before/data data
    python benchmarks/compare_outputs.py ../before/data data --stages collect dedup denoise
    python benchmarks/compare_outputs.py curated-before curated-after

OLD and NEW are folders with one folder per stage: `data/` of two checkouts, or two folders of `compass curate`. Rows of a
parquet file are matched by their key (`KEYS`), so that a row that moved is told from one that changed. Other files of a
stage must have the same bytes. Prints a table per stage, then what became of each kind of row that differs, and ends with
status 0 where everything is equal, 1 where something differs, 2 where a folder holds nothing to compare.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from compass.files import file_digest
from compass.report.printable import printable

KEYS = ("model", "benchmark", "source", "source_id", "id", "step", "sample")
"""Columns that name a row, as far as a table has them; rows with equal names are numbered in their order."""

EXAMPLES = 3
"""Differing rows that are shown of each kind."""


@dataclass(frozen=True)
class Difference:
    """What differs in one file of a stage; `equal` when nothing does.

    `only_old`, `only_new`: keys of rows that one side lacks. `columns`: per changed column the keys of the differing
    rows with both values. `note`: what cannot be said by rows (a missing file, other columns or bytes, another order).
    """

    file: str
    rows_old: int | None = None
    rows_new: int | None = None
    only_old: list[tuple] = field(default_factory=list)
    only_new: list[tuple] = field(default_factory=list)
    columns: dict[str, list[tuple[tuple, Any, Any]]] = field(default_factory=dict)
    note: str = ""

    @property
    def equal(self) -> bool:
        return not (self.only_old or self.only_new or self.columns or self.note)


def compare(old: Path, new: Path, stages: Sequence[str] = ()) -> list[Difference]:
    """Compare every file of every stage.

    Args:
        old: a folder with one folder per stage.
        new: another.
        stages: only these; all that either side has where it is empty.

    Returns:
        One entry per file that either side has, sorted by its name (`verify/kept.parquet`).
    """
    names = sorted({*_files(old, stages), *_files(new, stages)})
    return [_compare_file(old / name, new / name, name) for name in names]


def compare_tables(old: pa.Table, new: pa.Table, name: str) -> Difference:
    """Compare two tables row by row; see `Difference`."""
    notes = []
    if old.column_names != new.column_names:
        gone = [column for column in old.column_names if column not in new.column_names]
        added = [column for column in new.column_names if column not in old.column_names]
        notes.append(f"columns gone {gone}, added {added}" if gone or added else "columns in another order")
    shared = [column for column in old.column_names if column in new.column_names]
    for column in shared:
        if (before := old.schema.field(column).type) != (after := new.schema.field(column).type):
            notes.append(f"{column} was {before}, is {after}")
    keys_old, keys_new = _keys(old, shared), _keys(new, shared)
    place = {key: row for row, key in enumerate(keys_new)}
    known = set(keys_old)
    both = [key for key in keys_old if key in place]
    if [key for key in keys_new if key in known] != both:
        notes.append("rows in another order")
    rows_old = pa.array([row for row, key in enumerate(keys_old) if key in place], type=pa.int64())
    rows_new = pa.array([place[key] for key in both], type=pa.int64())
    columns = {}
    for column in shared:
        before, after = old.column(column).take(rows_old), new.column(column).take(rows_new)
        if not before.equals(after):
            pairs = zip(both, before.to_pylist(), after.to_pylist(), strict=True)
            if changed := [(key, was, now) for key, was, now in pairs if not _same(was, now)]:
                columns[column] = changed
    return Difference(
        name,
        old.num_rows,
        new.num_rows,
        [key for key in keys_old if key not in place],
        [key for key in keys_new if key not in known],
        columns,
        "; ".join(notes),
    )


def fates(old: Path, new: Path, stage: str) -> dict[tuple[str, str], list[str]]:
    """What became of the rows of a stage that were kept, or dropped for a reason, and are no longer.

    Returns:
        (fate before, fate now) to the ids; a fate is `kept`, a reason, or `absent`.
    """
    before, now = _fates(old / stage), _fates(new / stage)
    moved: dict[tuple[str, str], list[str]] = {}
    for id_ in dict.fromkeys([*before, *now]):
        fate = (before.get(id_, "absent"), now.get(id_, "absent"))
        if fate[0] != fate[1]:
            moved.setdefault(fate, []).append(id_)
    return dict(sorted(moved.items()))


def _compare_file(old: Path, new: Path, name: str) -> Difference:
    if not old.exists() or not new.exists():
        return Difference(name, note=f"only in {'NEW' if new.exists() else 'OLD'}")
    if old.suffix != ".parquet":
        return Difference(name, note="" if file_digest(old) == file_digest(new) else "other bytes")
    before, after = pq.read_table(old), pq.read_table(new)
    if before.equals(after):
        return Difference(name, before.num_rows, after.num_rows)
    return compare_tables(before, after, name)


def _files(folder: Path, stages: Sequence[str]) -> Iterator[str]:
    """Files in the folders of stages; what lies beside those folders (cards, summaries) belongs to no stage."""
    for path in folder.glob("*/**/*"):
        name = path.relative_to(folder)
        if path.is_file() and (not stages or name.parts[0] in stages):
            yield name.as_posix()


def _keys(table: pa.Table, shared: Sequence[str]) -> list[tuple]:
    columns = [table.column(name).to_pylist() for name in KEYS if name in shared]
    names = list(zip(*columns, strict=True)) if columns else [()] * table.num_rows
    seen: Counter[tuple] = Counter()
    keys = []
    for name in names:
        keys.append((*name, seen[name]) if seen[name] else name)
        seen[name] += 1
    return keys


def _fates(folder: Path) -> dict[str, str]:
    kept, dropped = folder / "kept.parquet", folder / "dropped.parquet"
    found = {}
    if kept.exists():
        found = dict.fromkeys(pq.read_table(kept, columns=["id"])["id"].to_pylist(), "kept")
    if dropped.exists():
        rows = pq.read_table(dropped, columns=["id", "reason"])
        found |= dict(zip(rows["id"].to_pylist(), rows["reason"].to_pylist(), strict=True))
    return found


def _same(before: Any, after: Any) -> bool:
    """Equal values; NaN equals itself here."""
    return before == after or (before != before and after != after)


def _print(differences: Sequence[Difference], old: Path, new: Path) -> None:
    print(f"{'file':38} {'rows old':>10} {'rows new':>10} {'only old':>9} {'only new':>9}  changed columns")
    for one in differences:
        changed = ", ".join(f"{name} {len(rows):,}" for name, rows in one.columns.items())
        counts = [f"{count:,}" if count is not None else "" for count in (one.rows_old, one.rows_new)]
        lacking = [f"{len(keys):,}" if one.rows_old is not None else "" for keys in (one.only_old, one.only_new)]
        said = "; ".join(text for text in (changed, one.note) if text)
        print(
            f"{one.file:38} {counts[0]:>10} {counts[1]:>10} {lacking[0]:>9} {lacking[1]:>9}  {said or 'equal'}".rstrip()
        )
    for stage in dict.fromkeys(Path(one.file).parts[0] for one in differences if not one.equal):
        for (before, now), ids in fates(old, new, stage).items():
            print(f"\n{stage}: {before} -> {now}: {len(ids):,} rows: {', '.join(ids[:EXAMPLES])}")
    for one in differences:
        for column, rows in one.columns.items():
            print(f"\n{one.file}: {column} differs in {len(rows):,} rows")
            for key, before, now in rows[:EXAMPLES]:
                print(f"  {' '.join(str(part) for part in key)}")
                print(f"    old {printable(str(before), 300)}\n    new {printable(str(now), 300)}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two folders and print what differs; returns 0, 1 or 2 as the module says."""
    parser = argparse.ArgumentParser(
        prog="compare_outputs.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, metavar="OLD")
    parser.add_argument("new", type=Path, metavar="NEW")
    parser.add_argument("--stages", nargs="+", default=[], metavar="STAGE", help="compare these stages only")
    args = parser.parse_args(arguments)
    for folder in (args.old, args.new):
        if not any(_files(folder, args.stages)):
            print(f"{folder}: holds no stage's outputs to compare", file=sys.stderr)
            return 2
    differences = compare(args.old, args.new, args.stages)
    _print(differences, args.old, args.new)
    differing = [one for one in differences if not one.equal]
    print(f"\n{len(differences)} files compared, {len(differing)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
