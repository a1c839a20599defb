"""`compass ledger`: count, filter and sample the rows that curation dropped, or make a page of them."""

from __future__ import annotations

import json
import tempfile
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
    """write the rows as JSON lines into this file."""
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
        compass ledger --json                            the counts, or with --sample the rows, as JSON lines
        compass ledger --doubtful                        rows that were kept although a noise filter doubts them
        compass ledger --html ledger.html                a page to browse: every stage, reason and source
    """
    from compass.records import RecordError
    from compass.report.outputs import choose, count_by_reason, open_outputs

    if asked.sample < 0:
        raise RecordError(f"--sample {asked.sample}: give how many rows to show, 1 or more")
    for path in (asked.out, asked.html):
        _check_file(path)
    outputs = open_outputs(asked.data)
    _check_names(outputs, asked)
    if asked.html:
        return _page(outputs, asked)
    if asked.doubtful:
        return _doubtful(outputs, asked)
    dropped = choose(outputs.ledger(), stage=asked.stage, reason=asked.reason, source=asked.source)
    if asked.out or asked.sample:
        _rows(sample(dropped, asked.sample, asked.seed) if asked.sample else dropped, asked)
    elif asked.json:
        print("\n".join(json.dumps(row, ensure_ascii=False) for row in count_by_reason(dropped)))
    else:
        _count(count_by_reason(dropped))
    return 0


def sample(ledger: pa.Table, count: int, seed: int) -> pa.Table:
    """`count` rows with the lowest seeded hash of their id."""
    import pyarrow as pa

    ids = ledger.column("id").to_pylist()  # rows, not ids, are drawn: rows of one id may have been dropped
    rows = sorted(range(len(ids)), key=lambda row: draw_key(ids[row], seed))[:count]
    return ledger.take(pa.array(rows, type=pa.int64()))


def _check_file(path: Path | None) -> None:
    """Refuse a file that could not be written, before anything is read."""
    from compass.records import RecordError

    if path and path.is_dir():
        raise RecordError(f"{path}: is a folder; give the name of a file to write")
    if path and not path.absolute().parent.is_dir():
        raise RecordError(f"{path}: {path.parent} is no folder; make it, or give another file")
    if path:
        try:
            tempfile.TemporaryFile(dir=path.absolute().parent).close()
        except OSError as error:
            raise RecordError(f"{path}: cannot be written ({error.strerror}); give another file") from None


def _check_names(outputs: Outputs, asked: Asked) -> None:
    """Refuse a stage, reason or source that is not there: a misspelt one would count no rows, as if all were well."""
    from compass.ledger import REASONS
    from compass.records import RecordError

    sources = sorted(set(outputs.collected(["source"])["source"].to_pylist()))
    reasons = sorted({*REASONS, *outputs.ledger()["reason"].to_pylist()})
    stages = list(outputs.kept) if asked.doubtful else list(outputs.dropped)
    for kind, name, there in (
        ("stage", asked.stage, stages),
        ("reason", asked.reason, reasons),
        ("source", asked.source, sources),
    ):
        if name is not None and name not in there:
            meant = did_you_mean(name, there, "{!r}")
            raise RecordError(f"--{kind} {name!r}: no such {kind} in {asked.data}; {meant}there are {', '.join(there)}")


def _page(outputs: Outputs, asked: Asked) -> int:
    from compass.report.ledger_page import write_page

    rows, shown = write_page(outputs, asked.html, seed=asked.seed)
    print(f"{rows:,} dropped rows, {shown:,} of them and of doubtful rows to browse: {asked.html}")
    return 0


def _rows(ledger: pa.Table, asked: Asked) -> None:
    """Write, print or show rows of the ledger."""
    rows = (row for batch in ledger.to_batches(max_chunksize=10_000) for row in batch.to_pylist())
    if asked.out or asked.json:
        lines = ({**row, "evidence": json.loads(row["evidence"])} for row in rows)
        _lines(lines, asked.out, ledger.num_rows)
    else:
        _show(rows)


def _lines(rows: Iterable[dict[str, Any]], path: Path | None, count: int) -> None:
    """Rows as JSON lines, in a file or printed."""
    from compass.files import atomic_path

    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if path is None:
        print("".join(lines), end="")
        return
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(lines)
    print(f"{count:,} rows: {path}")


def _doubtful(outputs: Outputs, asked: Asked) -> int:
    """Print or write kept rows with doubts; `--stage` is the stage that kept them."""
    from compass.report.outputs import count_doubts, find_doubtful
    from compass.report.printable import printable

    rows = find_doubtful(outputs, stage=asked.stage, reason=asked.reason, source=asked.source)
    if asked.sample:
        rows = sorted(rows, key=lambda row: draw_key(row["id"], asked.seed))[: asked.sample]
    if asked.out or (asked.json and asked.sample):
        _lines(rows, asked.out, len(rows))
    elif asked.sample:
        for row in rows:
            print(f"{row['id']}  kept  ({printable(row['source'])}:{printable(row['source_id'])})")
            print(f"  problem   {printable(row['problem'], 400)}")
            print(f"  answer    {printable(row['answer'] or 'none', 100)}")
            for finding in row["findings"]:
                said = json.dumps(finding["evidence"], ensure_ascii=False)
                print(f"  doubt     {finding['reason']} ({finding['strength']}): {printable(said, 400)}")
            print()
    elif asked.json:
        counted = (
            {"reason": reason, "strength": strength, "source": source, "rows": count}
            for reason, strength, sources in count_doubts(rows)
            for source, count in sources.items()
        )
        _lines(counted, None, 0)
    else:
        print(f"{'doubt':17} {'strength':9} {'rows':>9}  sources")
        for reason, strength, sources in count_doubts(rows):
            named = ", ".join(f"{printable(name)} {count:,}" for name, count in list(sources.items())[:4])
            more = f", {len(sources) - 4} more" if len(sources) > 4 else ""
            print(f"{reason:17} {strength:9} {sum(sources.values()):>9,}  {named}{more}")
        print(f"{'':27} {len(rows):>9,}  doubtful")
    return 0


def _count(rows: list[dict[str, Any]]) -> None:
    print(f"{'stage':11} {'reason':17} {'rows':>9}  sources")
    for (stage, reason), group in _by_stage_and_reason(rows):
        sources = ", ".join(f"{row['source']} {row['rows']:,}" for row in group[:4])
        more = f", {len(group) - 4} more" if len(group) > 4 else ""
        print(f"{stage:11} {reason:17} {sum(row['rows'] for row in group):>9,}  {sources}{more}")
    print(f"{'':29} {sum(row['rows'] for row in rows):>9,}  dropped")


def _by_stage_and_reason(rows: list[dict[str, Any]]) -> list[tuple[tuple[str, str], list[dict[str, Any]]]]:
    """Rows of one stage and reason together: stages in their order, the most frequent reason of a stage first."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["stage"], row["reason"]), []).append(row)
    stages = list(dict.fromkeys(row["stage"] for row in rows))
    return sorted(groups.items(), key=lambda group: (stages.index(group[0][0]), -sum(row["rows"] for row in group[1])))


def _show(rows: Iterator[dict[str, Any]]) -> None:
    from compass.report.printable import printable

    for row in rows:
        print(
            f"{row['id']}  {row['stage']}: {row['reason']}  ({printable(row['source'])}:{printable(row['source_id'])})"
        )
        print(f"  problem   {printable(row['problem'], 400)}")
        print(f"  answer    {printable(row['answer'] or 'none', 100)}")
        print(f"  evidence  {printable(row['evidence'], 400)}\n")
