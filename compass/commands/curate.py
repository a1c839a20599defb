"""`compass curate SOURCE…`: the options of the data stages alone, and what is said of their outcome."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from compass.commands.progress import draw_progress


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Asked:
    """What `compass curate` is asked for beside its sources."""

    out: Path = Path("curated")
    """the folder to write."""
    benchmarks: Annotated[list[str], Parameter(name="--benchmark", consume_multiple=(1, None))] = field(
        default_factory=list
    )
    """files of benchmarks that no kept problem may come from."""
    params: Path | None = None
    """a parameter file: its dedup, denoise and verify, limits, and how to read its sources and benchmarks; any of these
    sections alone will do."""
    filters: Annotated[list[str], Parameter(name="--filter", consume_multiple=(1, None))] = field(default_factory=list)
    """filters of yours, each package.module:function, instead of those that the parameter file names."""
    labels: Path | None = None
    """rows that you marked in the ledger's page or with compass label --rows: those marked fit stay, the unfit ones go."""
    problem_field: str = ""
    """the field of the problem, in the files that have it; guessed without it."""
    answer_field: str = ""
    """the field of the right answer."""
    solution_field: str = ""
    """the field of a worked solution that marks its answer."""
    explain: bool = False
    """say how each file would be read, with evidence; read no more."""
    write_params: Path | None = None
    """write how each file would be read, and all settings of the stages, as a parameter file to edit."""
    skip_unreadable: bool = False
    """skip a source that cannot be read, with a warning, instead of stopping."""
    problems: int = 0
    """keep at most so many problems, by a seeded hash of their id (0: all)."""
    seed: int = 0
    """of that hash."""
    export: Path | None = None
    """write the kept rows into this file as well, .csv or .jsonl."""
    json: bool = False
    """print the counts (`summary.json`) as JSON; the stages' lines go to standard error."""
    allow_licences: Annotated[list[str], Parameter(consume_multiple=(1, None))] = field(default_factory=list)
    """drop rows under any licence but these."""


def curate(sources: list[str] | None = None, /, *, asked: Asked = Asked()) -> int:
    """Run the data stages alone on any files: collect, dedup, denoise, verify, without DVC, vLLM or a parameter file.

    The output folder then holds `STAGE/kept.parquet` and `STAGE/dropped.parquet` for each stage, the data card (`card.html`,
    `card.md`), the settings (`curate.json`) and the counts (`summary.json`). The curated set is what the last stage kept.

    Args:
        sources: files or folders, local or by URL (s3://, gs://, hf://, …): jsonl, json, csv, tsv, parquet; plain, .gz, .zst;
            the preferred one first. Without any, those of the parameter file that --params names.

    Raises:
        UserError: an argument, a parameter file, a source or the output folder cannot be used; nothing was written.

    Examples:
        compass curate mine.csv --benchmark bench.jsonl --out curated    clean mine.csv, and drop what bench.jsonl holds
        compass curate held_out.csv --problem-field text --answer-field key  name the fields that are not guessed
        compass curate mine.csv --explain                                say how the file would be read, and why
        compass curate mine.csv --filter examples.own_csv.own_filter:program  drop what a filter of yours finds
        compass curate mine.csv --labels labels.jsonl                    with your marks of single rows, which overrule the rest
        compass curate mine.csv --export clean.csv                       the kept rows as a table
        compass curate a.jsonl.gz b.parquet --problems 1000              two sources as one, 1,000 problems of them
    """
    from compass.library.curate import CurateOptions, curate_settings
    from compass.library.curate_sources import write_params
    from compass.library.curate_stages import run_stages
    from compass.library.export_rows import check_export, export_rows

    if asked.export:
        check_export(asked.export, asked.out)
    options = CurateOptions(
        benchmarks=asked.benchmarks,
        params=asked.params,
        filters=asked.filters,
        labels=asked.labels,
        named={name: getattr(asked, name) for name in ("problem_field", "answer_field", "solution_field")},
        skip_unreadable=asked.skip_unreadable,
        problems=asked.problems,
        seed=asked.seed,
        allow_licences=asked.allow_licences,
    )
    settings = curate_settings(sources or [], options, asked.out)
    if asked.write_params:
        write_params(asked.write_params, settings)
    if asked.explain or asked.write_params:
        return 0
    if not settings.collect.benchmarks:
        print("curate: no --benchmark given: nothing is checked for contamination", file=sys.stderr)
    with draw_progress("curate"):
        summary = run_stages(
            settings, asked.out, say=lambda line: print(line, file=sys.stderr if asked.json else None, flush=True)
        )
    _warn_of_empty(summary["sources"])
    kept = asked.out / list(summary["stages"])[-1] / "kept.parquet"
    if asked.export:
        export_rows(kept, asked.export)
    if asked.json:
        print(json.dumps(summary, indent=2, ensure_ascii=False))
        return 0
    where = f"{kept}, {asked.export}" if asked.export else kept
    print(f"kept {summary['kept']:,} of {summary['read']:,} rows: {where}, card: {asked.out}/card.html")
    return 0


def _warn_of_empty(sources: Mapping[str, Mapping[str, Any]]) -> None:
    for name, fact in sources.items():
        if not fact["kept"]:
            reasons = ", ".join(f"{reason} {rows:,}" for reason, rows in fact["dropped"].items())
            said = f"none of its {fact['read']:,} rows is kept: {reasons}" if fact["read"] else "it was skipped"
            print(f"curate: warning: source {name!r}: {said}", file=sys.stderr)
