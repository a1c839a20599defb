"""The data stages alone, on any files, without DVC, vLLM or a parameter file: what `compass curate` and `compass.curate` do.

collect → dedup → denoise → verify → (select), by the same functions as the pipeline's stages. The folder then holds

- `STAGE/kept.parquet` and `STAGE/dropped.parquet`: the rows that each stage kept, and those it dropped with reason and
  evidence. The curated set is what the last stage kept: `verify/kept.parquet`, or `select/kept.parquet` with `--problems`;
- `card.md`, `card.html`: the data card;
- `curate.json`: the settings; written first;
- `summary.json`: rows read, kept and dropped by stage and source, and the SHA-256 of the other files.

A run builds `OUT.partial` and takes `OUT`'s place at its end (`output_folder.py`): until then, and after an error or a
kill, `OUT` is what the last run that ended wrote. The same input gives the same bytes, on any number of cores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.library.output_folder import replacing

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.report.outputs import Outputs
    from compass.settings import Collect, Curation, Dedup, Denoise, Verify
    from stages._stage import Summary

STAGES = ("collect", "dedup", "denoise", "verify", "select")
"""What runs, in this order; `select` with `--problems` alone."""

WORK = [
    "compass.sources.collect",
    "compass.curation.dedup",
    "compass.curation.denoise",
    "compass.curation.verify_golds",
    "numba",
]
"""What worker processes import, once for all stages."""


def _usual() -> Curation:
    from compass.settings import Curation

    return Curation()


@dataclass(frozen=True)
class CurateSettings:
    """The sections of a parameter file that the data stages read, and how many problems to select (0: all)."""

    collect: Collect
    dedup: Dedup
    denoise: Denoise
    verify: Verify
    problems: int = 0
    seed: int = 0
    curation: Curation = field(default_factory=_usual)


def run_stages(settings: CurateSettings, out: Path, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Run the data stages and write `out`.

    Args:
        settings: sources, benchmarks and every threshold.
        out: the folder to write; what an earlier run wrote there is replaced when this one ends.
        say: receives one line per stage.

    Returns:
        The content of `summary.json`.

    Raises:
        SourceError: a source cannot be read.
        OutputError: `out` cannot be written, holds what no run of this command wrote, or another run is writing it.
        RecordError: rows were lost.
    """
    import time

    begin = time.monotonic()
    with replacing(out) as folder:
        summary = _fill(settings, folder, say)
    say(f"{'write':8} {out}  {time.monotonic() - begin:.1f} s in all")
    return summary


def _fill(settings: CurateSettings, out: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Run the data stages in an empty folder."""
    import time

    from compass.files import file_digest, write_json
    from compass.parallel import processes
    from compass.report.data_card import write_card
    from compass.report.outputs import SETTINGS, SUMMARY, find_outputs

    last = time.monotonic()
    names = ("curation", "collect", "dedup", "denoise", "verify")
    sections = {name: getattr(settings, name).model_dump() for name in names}
    write_json(out / SETTINGS, {**sections, "problems": settings.problems, "seed": settings.seed})
    summaries: dict[str, Summary] = {}
    with processes(preload=WORK):
        for name, stage in _stages(settings, out).items():
            summaries[name] = stage()
            counts, now = summaries[name].counts, time.monotonic()
            numbers = f"{counts.read:>10,} read {counts.kept:>10,} kept  {now - last:6.1f} s"
            say(f"{name:8} {numbers}  {counts.reasons()}".rstrip())
            last = now

    outputs = find_outputs(out)
    facts = summaries["collect"].metrics["sources"]
    card = write_card(outputs, out, {name: fact.get("path") or fact.get("hub", "") for name, fact in facts.items()})
    read, kept = summaries["collect"].counts.read, next(reversed(summaries.values())).counts.kept
    written = [out / SETTINGS, *card, *sorted(path for name in summaries for path in (out / name).iterdir())]
    summary = {
        "read": read,
        "kept": kept,
        "dropped": read - kept,
        "stages": {name: stage_summary.as_dict() for name, stage_summary in summaries.items()},
        "sources": _by_source(summaries["collect"].metrics["sources"], outputs),
        "benchmarks": summaries["collect"].metrics["benchmarks"],
        "files": {path.relative_to(out).as_posix(): file_digest(path) for path in written},
    }
    write_json(out / SUMMARY, summary)
    return summary


def select(records: Path, count: int, seed: int) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Keep `count` records of a file with the lowest seeded hash of their id: a sample that more rows hardly change.

    Returns:
        Kept and dropped (`not_selected`) rows, piece by piece.
    """
    from compass.ledger import Drop, Reason, split
    from compass.records import ROW_GROUP, record_batches
    from compass.seeded_draw import draw

    ids = [id_ for piece in record_batches(records, ROW_GROUP, ["id"]) for id_ in piece["id"].to_pylist()]
    chosen = set(draw(ids, count, seed))
    drop = Drop(Reason.NOT_SELECTED, {"rule": "lowest seeded hash of the id", "selected": count, "of": len(ids)})
    for piece in record_batches(records, ROW_GROUP):
        yield split(piece, [None if id_ in chosen else drop for id_ in piece["id"].to_pylist()], "select")


def _stages(settings: CurateSettings, out: Path) -> dict[str, Callable[[], Summary]]:
    """The stages by their names, each ready to run on what the one before it kept."""
    import stages.collect
    import stages.dedup
    import stages.denoise
    import stages.verify
    from compass.records import count_records
    from stages._stage import write_pieces

    def kept(stage: str) -> Path:
        return out / stage / "kept.parquet"

    def selected() -> Summary:
        pieces = select(kept("verify"), settings.problems, settings.seed)
        return write_pieces(out / "select", "select", read=count_records(kept("verify")), pieces=pieces)

    benchmarks = out / "collect" / "benchmarks.parquet"
    ready: dict[str, Callable[[], Summary]] = {
        "collect": lambda: stages.collect.run(settings, out / "collect"),
        "dedup": lambda: stages.dedup.run(settings, kept("collect"), out / "dedup"),
        "denoise": lambda: stages.denoise.run(settings, kept("dedup"), benchmarks, out / "denoise"),
        "verify": lambda: stages.verify.run(settings, kept("denoise"), None, out / "verify"),
        "select": selected,
    }
    return ready if settings.problems else {name: ready[name] for name in STAGES[:-1]}


def _by_source(facts: Mapping[str, Mapping[str, Any]], outputs: Outputs) -> dict[str, dict[str, Any]]:
    """For each source its origin and licence, rows read and kept, and drops of every stage by reason."""
    from compass.ledger import most_first
    from compass.report.outputs import count_values

    kept = count_values([outputs.last], "source")
    dropped: dict[str, dict[str, int]] = {name: {} for name in facts}
    for (source, reason), rows in count_values(outputs.dropped.values(), "source", "reason").items():
        dropped[source][reason] = rows
    return {
        name: {**fact, "kept": kept.get((name,), 0), "dropped": most_first(dropped[name])}
        for name, fact in facts.items()
    }
