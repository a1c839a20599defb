"""The data stages alone, on any files, without DVC, vLLM or a parameter file.

    compass curate numina.jsonl.gz mine.csv --benchmark math500.jsonl --out curated

collect → dedup → denoise → verify → (select). The folder then holds

- `kept.parquet`: the records that survived; `dropped.parquet`: all others, with stage, reason and evidence;
- `card.md`, `card.html`: the data card;
- `summary.json`: rows read, kept and dropped by stage, reason and source, and the SHA-256 of the other files.

`summary.json` is removed first and written last: a folder without it is unfinished, and no reader takes it for whole. The
same input gives the same bytes, on any number of cores.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from compass.draw import draw
from compass.files import atomic_path, file_digest
from compass.ledger import LEDGER, check_counts, count_reasons
from compass.records import write_records
from compass.report.rows import SUMMARY
from compass.settings import Collect, Dedup, Denoise, Source, Verify


@dataclass(frozen=True)
class CurateSettings:
    """The sections of a parameter file that curation reads, and how many problems to select (0: all)."""

    collect: Collect
    dedup: Dedup = field(default_factory=Dedup)
    denoise: Denoise = field(default_factory=Denoise)
    verify: Verify = field(default_factory=Verify)
    problems: int = 0
    seed: int = 0


def curate(settings: CurateSettings, out: Path, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run the data stages and write `out`.

    Args:
        settings: sources, benchmarks and every threshold.
        out: the folder to fill; files of an earlier run in it are replaced.
        say: receives one line a stage.

    Returns:
        The summary, as in `summary.json`.

    Raises:
        SourceError: a source cannot be read.
        RecordError: rows were lost.
    """
    from compass.curation.dedup import dedup
    from compass.curation.denoise import denoise
    from compass.curation.verify_golds import verify_golds
    from compass.report.data_card import write_card
    from compass.sources.collect import collect, collect_benchmarks

    out.mkdir(parents=True, exist_ok=True)
    (out / SUMMARY).unlink(missing_ok=True)
    for leftover in out.glob(".*.part"):
        leftover.unlink()
    names = [source.name for source in settings.collect.sources]
    log = _Log(say)

    benchmarks = collect_benchmarks(settings.collect.benchmarks, settings.collect)
    collected = collect(settings.collect.sources, settings.collect)
    records = log.add("collect", collected.read, collected.kept, collected.dropped)
    facts, read = collected.sources, collected.read
    del collected
    records = log.add("dedup", records.num_rows, *dedup(records, settings.dedup, names))
    records = log.add("denoise", records.num_rows, *denoise(records, benchmarks.kept, settings.denoise))
    records = log.add("verify", records.num_rows, *verify_golds(records, settings.verify))
    if settings.problems:
        records = log.add("select", records.num_rows, *select(records, settings.problems, settings.seed))
    dropped = pa.concat_tables(log.dropped)
    check_counts("curate", read=read, kept=records, dropped=dropped)

    summary = {
        "read": read,
        "kept": records.num_rows,
        "dropped": dropped.num_rows,
        "stages": log.stages,
        "sources": _by_source(facts, records, dropped),
        "benchmarks": {name: fact["kept"] for name, fact in benchmarks.sources.items()},
        "settings": {
            "collect": settings.collect.model_dump(),
            "dedup": settings.dedup.model_dump(),
            "denoise": settings.denoise.model_dump(),
            "verify": settings.verify.model_dump(),
            "problems": settings.problems,
            "seed": settings.seed,
        },
    }
    write_records(out / "kept.parquet", records)
    write_records(out / "dropped.parquet", dropped)
    write_card(out, summary, records, dropped)
    summary["files"] = {path.name: file_digest(path) for path in sorted(out.iterdir()) if path.is_file()}
    with atomic_path(out / SUMMARY) as temporary:
        temporary.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    log.finish(out)
    return summary


def select(records: pa.Table, count: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """Keep `count` records with the lowest seeded hash of their id: a sample that more rows hardly change.

    Returns:
        Kept and dropped (`not_selected`) rows.
    """
    from compass.ledger import Drop, Reason, split

    ids = records["id"].to_pylist()
    chosen = set(draw(ids, count, seed))
    drop = Drop(Reason.NOT_SELECTED, {"rule": "lowest seeded hash of the id", "selected": count, "of": len(ids)})
    return split(records, [None if id_ in chosen else drop for id_ in ids], "select")


def source_settings(paths: Sequence[Path], known: Sequence[Source] = ()) -> list[Source]:
    """How to read files: as a parameter file's source of the same file name says, else as the registry knows or guesses.

    Raises:
        SourceError: a file's fields cannot be guessed, or two sources have one name.
    """
    from compass.sources.read import SourceError
    from compass.sources.registry import for_file

    by_file = {Path(source.path).name: source for source in known if source.path}
    found = [
        by_file[path.name].model_copy(update={"path": str(path)}) if path.name in by_file else for_file(path)
        for path in paths
    ]
    names = [source.name for source in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        where = ", ".join(source.path for source in found if source.name == twice[0])
        raise SourceError(f"two sources are called {twice[0]!r}: {where}; rename a file")
    return found


class _Log:
    """Collects each stage's counts and dropped rows, and says one line a stage."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.stages: dict[str, dict[str, Any]] = {}
        self.dropped: list[pa.Table] = []
        self.begin = self.last = time.monotonic()

    def add(self, stage: str, read: int, kept: pa.Table, dropped: pa.Table) -> pa.Table:
        check_counts(stage, read=read, kept=kept, dropped=dropped)
        reasons = count_reasons(dropped.column("reason").to_pylist())
        self.stages[stage] = {"read": read, "kept": kept.num_rows, "dropped": reasons}
        self.dropped.append(dropped.select(LEDGER.names).cast(LEDGER))
        now = time.monotonic()
        most = ", ".join(f"{reason} {count:,}" for reason, count in list(reasons.items())[:4])
        self.say(f"{stage:8} {read:>10,} read {kept.num_rows:>10,} kept  {now - self.last:6.1f} s  {most}")
        self.last = now
        return kept

    def finish(self, out: Path) -> None:
        now = time.monotonic()
        self.say(f"{'write':8} {out}  {now - self.last:6.1f} s; {now - self.begin:.1f} s in all")


def _by_source(facts: dict[str, dict[str, Any]], kept: pa.Table, dropped: pa.Table) -> dict[str, dict[str, Any]]:
    """For each source its origin and licence, rows read and kept, and drops by reason."""
    kept_of = count_reasons(kept.column("source").to_pylist())
    reasons: dict[str, list[str]] = {}
    for source, reason in zip(dropped["source"].to_pylist(), dropped["reason"].to_pylist(), strict=True):
        reasons.setdefault(source, []).append(reason)
    return {
        name: {
            **fact,
            "kept": kept_of.get(name, 0),
            "dropped": count_reasons(reasons.get(name, [])),
        }
        for name, fact in facts.items()
    }
