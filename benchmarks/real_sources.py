"""What curation makes of the real sources of a profile: rows read, kept, dropped by reason and source, and levels.

    COMPASS_DATA=FOLDER python benchmarks/real_sources.py --out DIR [--params profiles/small.yaml] [--problems 30000]
        [--document docs/reference/sources.md]

Runs `compass curate` on every source of the profile, in its order, with its benchmarks and thresholds, selects
`--problems` rows, and prints tables in Markdown; with `--document` they replace what stands between its two markers.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from marked_page import write_part

from compass.curriculum.curriculum import source_levels
from compass.library.curate_stages import CurateSettings, run_stages
from compass.report.outputs import open_outputs, read_table
from compass.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
LEVELS = (1, 2, 3, 4, 5)


def tables(summary: dict, kept: pa.Table, dropped: pa.Table) -> str:
    """The Markdown: a row per source, a row per stage, and the levels before and after the selection."""
    selected = Counter(kept["source"].to_pylist())
    fates = Counter(zip(dropped["source"].to_pylist(), dropped["reason"].to_pylist(), strict=True))
    lines = ["| source | read | verifiable | selected | dropped, by reason |", "|---|---:|---:|---:|---|"]
    for source, facts in summary["sources"].items():
        reasons = Counter({reason: count for (name, reason), count in fates.items() if name == source})
        left = selected[source] + reasons.pop("not_selected", 0)
        lines.append(_row(f"`{source}`", facts["read"], left, selected[source], reasons))
    reasons = Counter(dropped["reason"].to_pylist())
    left = kept.num_rows + reasons.pop("not_selected", 0)
    lines.append(_row("**all**", summary["read"], left, kept.num_rows, reasons))

    lines += ["", "| stage | read | kept | dropped, by reason |", "|---|---:|---:|---|"]
    for stage, facts in summary["stages"].items():
        lines.append(f"| {stage} | {facts['read']:,} | {facts['kept']:,} | {_reasons(Counter(facts['dropped']))} |")

    unchosen = dropped.filter(pc.equal(dropped["stage"], "select"))
    of_kept, of_rest = _levels(kept), _levels(unchosen)
    lines += ["", "| level by the source | verifiable | selected |", "|---|---:|---:|"]
    for level in (*LEVELS, None):
        count = of_kept[level] + of_rest[level]
        lines.append(
            f"| {level or 'none given'} | {count:,} ({count / left:.1%}) "
            f"| {of_kept[level]:,} ({of_kept[level] / kept.num_rows:.1%}) |"
        )
    return "\n".join(lines)


def _row(name: str, read: int, left: int, selected: int, reasons: Counter) -> str:
    return f"| {name} | {read:,} | {left:,} | {selected:,} | {_reasons(reasons)} |"


def _reasons(reasons: Counter) -> str:
    return ", ".join(f"`{reason}` {count:,}" for reason, count in reasons.most_common())


def _levels(rows: pa.Table) -> Counter:
    return Counter(source_levels(rows["source"].to_pylist(), rows["source_level"].to_pylist()))


def main() -> None:
    """Curate, and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--params", type=Path, default=ROOT / "profiles/small.yaml")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--problems", type=int, default=30_000)
    parser.add_argument("--document", type=Path)
    args = parser.parse_args()
    given = load_settings(args.params)
    settings = CurateSettings(given.collect, given.dedup, given.denoise, given.verify, args.problems, given.seed)
    summary = run_stages(settings, args.out)
    outputs = open_outputs(args.out)
    text = tables(summary, read_table(outputs.last), outputs.ledger())
    if args.document is None:
        print(text)
    else:
        write_part(args.document, "curation", text)


if __name__ == "__main__":
    main()
