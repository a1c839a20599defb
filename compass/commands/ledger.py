"""`compass ledger`: count, filter and sample the rows that curation dropped, or make a page of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.report.outputs import Outputs

from compass.errors import did_you_mean
from compass.seeded_draw import draw_key


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asked:
    """Which rows, and how to show them."""

    data: Path = Path("data")
    """a pipeline's data folder, or one of `compass curate`."""
    stage: str | None = None
    """only rows that this stage dropped."""
    reason: str | None = None
    """only rows dropped for this reason."""
    source: str | None = None
    """only rows of this source."""
    sample: int = 0
    """show or write so many of the rows instead of counting them."""
    seed: int = 0
    """another seed shows other rows."""
    doubtful: bool = False
    """kept rows that a noise filter doubts, instead of dropped rows."""
    json: bool = False
    """print counts or rows as JSON lines."""
    out: Path | None = None
    """write the rows into this file: as CSV where its name ends in .csv, else as JSON lines."""
    html: Path | None = None
    """write a page with every stage, and a sample of each source and reason, into this file."""


def ledger(*, asked: Asked = Asked()) -> int:
    """Count, filter, sample or browse the rows that curation dropped.

    Raises:
        RecordError: the folder holds no outputs, it has no such stage, reason or source, or a file cannot be written.

    Examples:
        compass ledger                                   rows by stage, reason and source
        compass ledger --reason figure --sample 5        five of them, with their evidence, the same five every time
        compass ledger --stage denoise --out rows.jsonl  all of a stage, as JSON lines; with --sample N, N of them
        compass ledger --out dropped.csv                 all dropped rows as a table
        compass ledger --json                            the counts, or with --sample the rows, as JSON lines
        compass ledger --doubtful                        rows that were kept although a noise filter doubts them
        compass ledger --html ledger.html                a page to browse: every stage, reason and source
    """
    from compass.evaluation.label_files import row_key
    from compass.library.export_rows import write_rows
    from compass.library.output_folder import check_file
    from compass.records import RecordError
    from compass.report.outputs import DOUBTFUL, choose, count_by_reason, count_doubts, find_doubtful, open_outputs

    if asked.sample < 0:
        raise RecordError(f"--sample {asked.sample}: give how many rows to show, 1 or more")
    for option, path in (("--out", asked.out), ("--html", asked.html)):
        if path:
            check_file(path, option)
    outputs = open_outputs(asked.data)
    _check_names(outputs, asked)
    if asked.html:
        _page(outputs, asked.html, asked.seed)
        if not asked.out:
            return 0
    chosen = {"stage": asked.stage, "reason": asked.reason, "source": asked.source}
    if asked.doubtful:
        doubtful = find_doubtful(outputs, **chosen)
        if asked.sample:
            doubtful = sorted(doubtful, key=lambda row: draw_key(row["id"], asked.seed))[: asked.sample]
        rows, names, count = iter(doubtful), DOUBTFUL, len(doubtful)
    else:
        dropped = choose(outputs.ledger(), **chosen)
        if asked.sample:
            dropped = sample(dropped, asked.sample, asked.seed)
        rows, names, count = _dropped_rows(dropped), dropped.column_names, dropped.num_rows
    rows = ({**row, "digest": row_key(row)[1]} for row in rows)
    if asked.out:
        write_rows(rows, asked.out, [*names, "digest"])
        print(f"{count:,} row{'s' * (count != 1)}: {asked.out}")
    elif asked.json and asked.sample:
        _print_lines(rows)
    elif asked.sample:
        for row in rows:
            _show(row)
    else:
        counted = count_doubts(doubtful) if asked.doubtful else count_by_reason(dropped)
        if asked.json:
            _print_lines(counted)
        elif asked.doubtful:
            _print_counts(counted, {"reason": "doubt", "strength": "strength"}, ["", "", count, "doubtful"])
        else:
            _print_counts(counted, {"stage": "stage", "reason": "reason"}, ["", "", count, "dropped"])
    return 0


def sample(ledger: pa.Table, count: int, seed: int) -> pa.Table:
    """`count` rows with the lowest seeded hash of their id."""
    import pyarrow as pa

    ids = ledger.column("id").to_pylist()  # rows, not ids, are drawn: rows of one id may have been dropped
    rows = sorted(range(len(ids)), key=lambda row: draw_key(ids[row], seed))[:count]
    return ledger.take(pa.array(rows, type=pa.int64()))


def _check_names(outputs: Outputs, asked: Asked) -> None:
    """Refuse a stage, reason or source that is not there: a misspelt one would count no rows, as if all were well."""
    from compass.ledger import REASONS
    from compass.records import RecordError
    from compass.report.outputs import count_doubts, find_doubtful

    sources = sorted(set(outputs.collected(["source"])["source"].to_pylist()))
    reasons = sorted({*REASONS, *outputs.ledger()["reason"].to_pylist()})
    if asked.doubtful and asked.reason not in (None, *reasons):
        reasons = sorted({*reasons, *(doubt["reason"] for doubt in count_doubts(find_doubtful(outputs)))})
    stages = list(outputs.kept) if asked.doubtful else list(outputs.dropped)
    for kind, name, there in (
        ("stage", asked.stage, stages),
        ("reason", asked.reason, reasons),
        ("source", asked.source, sources),
    ):
        if name is not None and name not in there:
            meant = did_you_mean(name, there, "{!r}")
            raise RecordError(f"--{kind} {name!r}: no such {kind} in {asked.data}; {meant}there are {', '.join(there)}")


def _page(outputs: Outputs, path: Path, seed: int) -> None:
    from compass.report.ledger_page import write_page

    rows, shown = write_page(outputs, path, seed=seed)
    print(f"{path}: counts of {rows:,} dropped rows, and {shown:,} rows to read, dropped or kept with a doubt")


def _dropped_rows(ledger: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in ledger.to_batches(max_chunksize=10_000):
        for row in batch.to_pylist():
            yield {**row, "evidence": json.loads(row["evidence"])}


def _print_lines(rows: Iterable[dict[str, Any]]) -> None:
    """Rows as JSON lines."""
    for row in rows:
        print(json.dumps(row, ensure_ascii=False))


def _show(row: dict[str, Any]) -> None:
    """A dropped row with its evidence, or a kept one with its doubts."""
    from compass.report.printable import printable

    dropped = "evidence" in row
    fate = f"{row['stage']}: {row['reason']}" if dropped else "kept"
    print(f"{row['id']}  {fate}  ({printable(row['source'])}:{printable(row['source_id'])})")
    print(f"  problem   {printable(row['problem'], 400)}")
    print(f"  answer    {printable(row['answer'] or 'none', 100)}")
    for finding in [row] if dropped else row["findings"]:
        name = "evidence  " if dropped else f"doubt     {finding['reason']} ({finding['strength']}): "
        print(f"  {name}{printable(json.dumps(finding['evidence'], ensure_ascii=False), 400)}")
    print()


def _print_counts(rows: list[dict[str, Any]], columns: dict[str, str], total: list[Any]) -> None:
    """Of all counted rows with the same values in some columns, each with its title, their number and their largest sources; and a last row.

    Stages stand in their order, and the largest groups first.
    """
    from compass.page.blocks import Table
    from compass.page.terminal import print_blocks
    from compass.report.printable import printable

    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in columns), []).append(row)
    stages = list(dict.fromkeys(row.get("stage") for row in rows))
    table = []
    for names, own in groups.items():
        sources = ", ".join(f"{printable(row['source'])} {row['rows']:,}" for row in own[:4])
        more = f", {len(own) - 4} more" if len(own) > 4 else ""
        table.append([*names, sum(row["rows"] for row in own), sources + more])
    table.sort(key=lambda row: (stages.index(row[0]) if row[0] in stages else 0, -row[-2]))
    print_blocks([Table([*columns.values(), "rows", "sources"], [*table, total])])
