"""`compass curate`: the data stages alone, on any files, without DVC, vLLM or a parameter file.

    compass curate numina.jsonl.gz mine.csv --benchmark math500.jsonl --out curated

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

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compass.commands.output_folder import check_out, replacing
from compass.errors import UserError
from compass.sources.remote import path_or_url

if TYPE_CHECKING:
    import pyarrow as pa

    from compass.report.outputs import Outputs
    from compass.settings import Collect, Curation, Dedup, Denoise, Verify
    from stages._stage import Summary

STAGES = ("collect", "dedup", "denoise", "verify", "select")
"""What runs, in this order; `select` with `--problems` alone."""


def _one_process() -> Curation:
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
    curation: Curation = field(default_factory=_one_process)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "sources",
        nargs="+",
        type=path_or_url,
        metavar="SOURCE",
        help="files or folders, local or by URL (s3://, gs://, hf://, …): jsonl, json, csv, parquet; plain, .gz, .zst; the preferred one first",
    )
    parser.add_argument("--out", type=Path, default=Path("curated"), help="the folder to write (default: curated)")
    parser.add_argument(
        "--benchmark",
        dest="benchmarks",
        nargs="+",
        action="extend",
        default=[],
        type=path_or_url,
        metavar="FILE",
        help="benchmarks that no kept problem may come from",
    )
    parser.add_argument(
        "--params",
        type=Path,
        help="a parameter file: its dedup, denoise and verify, limits, and how to read its sources and benchmarks; "
        "any of these sections alone will do",
    )
    parser.add_argument(
        "--explain", action="store_true", help="say how each file would be read, with evidence; read no more"
    )
    parser.add_argument(
        "--write-params",
        type=Path,
        metavar="FILE",
        help="write how each file would be read as a parameter file to edit",
    )
    parser.add_argument(
        "--skip-unreadable",
        action="store_true",
        help="skip a source that cannot be read, with a warning (default: stop)",
    )
    parser.add_argument(
        "--problems", type=int, default=0, metavar="N", help="keep at most N problems, by a seeded hash of their id"
    )
    parser.add_argument("--seed", type=int, default=0, help="of that hash")
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="run dedup, denoise and verify on a Ray cluster: `local` starts one here, another address is joined",
    )
    parser.add_argument(
        "--allow-licences", nargs="+", default=[], metavar="LICENCE", help="drop rows under any other licence"
    )


def run(args: argparse.Namespace) -> int:
    """Curate, and say where the kept rows are.

    Raises:
        UserError: an argument, a parameter file, a source or the output folder cannot be used; nothing was written.
    """
    from compass.commands.curate_sources import source_settings, write_params
    from compass.process_tree import own_processes
    from compass.settings import Collect, Curation, Dedup, Denoise, Verify, load_sections

    if args.problems < 0:
        raise UserError(f"--problems {args.problems}: give how many problems to keep, 1 or more (0 keeps all)")
    check_out(args.out, [path for path in (*args.sources, *args.benchmarks) if isinstance(path, Path)])
    sections = ("curation", "collect", "dedup", "denoise", "verify")
    given: dict[str, Any] = load_sections(args.params, sections) if args.params else {}
    curation = given.get("curation") or Curation()
    if args.ray:
        curation = curation.model_copy(update={"engine": "ray", "address": args.ray})
    if curation.engine == "ray" and curation.address == "local":
        own_processes()  # Ray's end with this command, also where it is killed
    limits = given.get("collect") or Collect(sources=[], benchmarks=[])
    skip = args.skip_unreadable or limits.skip_unreadable
    sources = source_settings(args.sources, limits.sources, skip=skip)
    update: dict[str, object] = {"generate": None, "sources": sources, "skip_unreadable": skip}
    if args.benchmarks:
        update["benchmarks"] = source_settings(args.benchmarks, limits.benchmarks)
    if args.allow_licences:
        update["allow_licences"] = args.allow_licences
    settings = CurateSettings(
        collect=limits.model_copy(update=update),
        dedup=given.get("dedup") or Dedup(),
        denoise=given.get("denoise") or Denoise(),
        verify=given.get("verify") or Verify(),
        problems=args.problems,
        seed=args.seed,
        curation=curation,
    )
    if args.write_params:
        write_params(args.write_params, settings.collect)
    if args.explain or args.write_params:
        return 0
    if not settings.collect.benchmarks:
        print("curate: no --benchmark given: nothing is checked for contamination", file=sys.stderr)
    summary = curate(settings, args.out, say=lambda line: print(line, flush=True))
    _warn_of_empty(summary["sources"])
    last = list(summary["stages"])[-1]
    print(
        f"kept {summary['kept']:,} of {summary['read']:,} rows: {args.out}/{last}/kept.parquet, "
        f"card: {args.out}/card.html"
    )
    return 0


def _warn_of_empty(sources: Mapping[str, Mapping[str, Any]]) -> None:
    for name, fact in sources.items():
        if not fact["kept"]:
            reasons = ", ".join(f"{reason} {rows:,}" for reason, rows in fact["dropped"].items())
            said = f"none of its {fact['read']:,} rows is kept: {reasons}" if fact["read"] else "it was skipped"
            print(f"curate: warning: source {name!r}: {said}", file=sys.stderr)


def curate(settings: CurateSettings, out: Path, say: Callable[[str], None] = print) -> dict[str, Any]:
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

    from compass.curation.on_ray.cluster import ray_cluster
    from compass.files import file_digest, write_json
    from compass.report.data_card import write_card
    from compass.report.outputs import SETTINGS, SUMMARY, find_outputs

    last = time.monotonic()
    sections = {name: getattr(settings, name).model_dump() for name in ("collect", "dedup", "denoise", "verify")}
    write_json(out / SETTINGS, {**sections, "problems": settings.problems, "seed": settings.seed})
    summaries: dict[str, Summary] = {}
    with ray_cluster(settings.curation):
        for name, stage in _stages(settings, out).items():
            summaries[name] = stage()
            counts, now = summaries[name].counts, time.monotonic()
            numbers = f"{counts.read:>10,} read {counts.kept:>10,} kept  {now - last:6.1f} s"
            say(f"{name:8} {numbers}  {counts.reasons(4)}".rstrip())
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


def select(records: pa.Table, count: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """Keep `count` records with the lowest seeded hash of their id: a sample that more rows hardly change.

    Returns:
        Kept and dropped (`not_selected`) rows.
    """
    from compass.ledger import Drop, Reason, split
    from compass.seeded_draw import draw

    ids = records["id"].to_pylist()
    chosen = set(draw(ids, count, seed))
    drop = Drop(Reason.NOT_SELECTED, {"rule": "lowest seeded hash of the id", "selected": count, "of": len(ids)})
    return split(records, [None if id_ in chosen else drop for id_ in ids], "select")


def _stages(settings: CurateSettings, out: Path) -> dict[str, Callable[[], Summary]]:
    """The stages by their names, each ready to run on what the one before it kept."""
    import stages.collect
    import stages.dedup
    import stages.denoise
    import stages.verify
    from compass.records import read_records
    from stages._stage import write_split

    def kept(stage: str) -> Path:
        return out / stage / "kept.parquet"

    def selected() -> Summary:
        records = read_records(kept("verify"))
        chosen, others = select(records, settings.problems, settings.seed)
        return write_split(out / "select", "select", read=records.num_rows, kept=chosen, dropped=others)

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
    from compass.ledger import count_reasons, most_first
    from compass.records import read_records
    from compass.report.outputs import by_reason

    kept = count_reasons(read_records(outputs.last)["source"].to_pylist())
    dropped: dict[str, dict[str, int]] = {name: {} for name in facts}
    for row in by_reason(outputs.ledger()):
        dropped[row["source"]][row["reason"]] = row["rows"]
    return {
        name: {**fact, "kept": kept.get(name, 0), "dropped": most_first(dropped[name])} for name, fact in facts.items()
    }
