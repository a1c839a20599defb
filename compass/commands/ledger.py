"""`compass ledger`: count, filter and sample the rows that curation dropped.

compass ledger                                   rows by stage, reason and source
compass ledger --reason figure --sample 5        five of them, with their evidence, the same five every time
compass ledger --stage denoise --out rows.jsonl  all of a stage, as JSON lines
compass ledger --doubtful                        rows that were kept although a noise filter doubts them
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

from compass.commands import add_data_folder
from compass.seeded_draw import draw_key


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_data_folder(parser)
    parser.add_argument("--stage", help="only rows that this stage dropped")
    parser.add_argument("--reason", help="only rows dropped for this reason")
    parser.add_argument("--source", help="only rows of this source")
    parser.add_argument(
        "--sample", type=int, default=0, metavar="N", help="show N of the rows instead of counting them"
    )
    parser.add_argument("--seed", type=int, default=0, help="another seed shows other rows")
    parser.add_argument(
        "--doubtful", action="store_true", help="kept rows that a noise filter doubts, instead of dropped rows"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the rows as JSON lines")


def run(args: argparse.Namespace) -> int:
    """Print counts or rows, or write rows.

    Raises:
        RecordError: the folder holds no outputs.
    """
    from compass.report.outputs import by_reason, choose, open_outputs

    if args.doubtful:
        return _doubtful(args)
    ledger = choose(open_outputs(args.data).ledger(), stage=args.stage, reason=args.reason, source=args.source)
    if args.out:
        _write(args.out, ledger)
        print(f"{ledger.num_rows:,} rows: {args.out}")
    elif args.sample:
        _show(sample(ledger, args.sample, args.seed))
    else:
        _count(by_reason(ledger))
    return 0


def _doubtful(args: argparse.Namespace) -> int:
    """Print or write kept rows with doubts; `--stage` is the stage that kept them."""
    from compass.report.doubts import by_reason, doubtful
    from compass.report.outputs import open_outputs
    from compass.report.printable import printable

    rows = doubtful(open_outputs(args.data), stage=args.stage, reason=args.reason, source=args.source)
    if args.out:
        _write_lines(args.out, rows)
        print(f"{len(rows):,} rows: {args.out}")
    elif args.sample:
        for row in sorted(rows, key=lambda row: draw_key(row["id"], args.seed))[: args.sample]:
            print(f"{row['id']}  kept  ({printable(row['source'])}:{printable(row['source_id'])})")
            print(f"  problem   {printable(row['problem'], 400)}")
            print(f"  answer    {printable(row['answer'] or 'none', 100)}")
            for finding in row["doubt"]:
                said = json.dumps(finding["evidence"], ensure_ascii=False)
                print(f"  doubt     {finding['reason']} ({finding['strength']}): {printable(said, 400)}")
            print()
    else:
        print(f"{'doubt':17} {'strength':9} {'rows':>9}  sources")
        for reason, strength, sources in by_reason(rows):
            named = ", ".join(f"{printable(name)} {count:,}" for name, count in list(sources.items())[:4])
            more = f", {len(sources) - 4} more" if len(sources) > 4 else ""
            print(f"{reason:17} {strength:9} {sum(sources.values()):>9,}  {named}{more}")
        print(f"{'':27} {len(rows):>9,}  doubtful")
    return 0


def sample(ledger: pa.Table, count: int, seed: int) -> list[dict[str, Any]]:
    """`count` rows with the lowest seeded hash of their id."""
    import pyarrow as pa

    ids = ledger.column("id").to_pylist()  # rows, not ids, are drawn: rows of one id may have been dropped
    rows = sorted(range(len(ids)), key=lambda row: draw_key(ids[row], seed))[:count]
    return ledger.take(pa.array(rows, type=pa.int64())).to_pylist()


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


def _show(rows: list[dict[str, Any]]) -> None:
    from compass.report.printable import printable

    for row in rows:
        print(
            f"{row['id']}  {row['stage']}: {row['reason']}  ({printable(row['source'])}:{printable(row['source_id'])})"
        )
        print(f"  problem   {printable(row['problem'], 400)}")
        print(f"  answer    {printable(row['answer'] or 'none', 100)}")
        print(f"  evidence  {printable(row['evidence'], 400)}\n")


def _write(path: Path, ledger: pa.Table) -> None:
    rows = (row for batch in ledger.to_batches(max_chunksize=10_000) for row in batch.to_pylist())
    _write_lines(path, ({**row, "evidence": json.loads(row["evidence"])} for row in rows))


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    from compass.files import atomic_path

    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
