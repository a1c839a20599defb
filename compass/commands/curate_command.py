"""`compass curate SOURCE…`: the options of the data stages alone, and what is said of their outcome."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from compass.commands.curate import CurateSettings
from compass.commands.curate import curate as run_stages
from compass.commands.output_folder import check_out
from compass.commands.progress import told
from compass.errors import UserError
from compass.sources.remote import path_or_url


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
    problem_field: str = ""
    """the field of the problem, in the files that have it; guessed without it."""
    answer_field: str = ""
    """the field of the right answer."""
    solution_field: str = ""
    """the field of a worked solution that marks its answer."""
    explain: bool = False
    """say how each file would be read, with evidence; read no more."""
    write_params: Path | None = None
    """write how each file would be read as a parameter file to edit."""
    skip_unreadable: bool = False
    """skip a source that cannot be read, with a warning, instead of stopping."""
    problems: int = 0
    """keep at most so many problems, by a seeded hash of their id (0: all)."""
    seed: int = 0
    """of that hash."""
    ray: str | None = None
    """run dedup, denoise and verify on the Ray cluster of this address: `local` starts one here, another is joined."""
    allow_licences: Annotated[list[str], Parameter(consume_multiple=(1, None))] = field(default_factory=list)
    """drop rows under any licence but these."""


def curate(sources: list[str], /, *, asked: Asked = Asked()) -> int:
    """Run the data stages alone on any files: collect, dedup, denoise, verify, without DVC, vLLM or a parameter file.

    The output folder then holds `STAGE/kept.parquet` and `STAGE/dropped.parquet` for each stage, the data card (`card.html`,
    `card.md`), the settings (`curate.json`) and the counts (`summary.json`). The curated set is what the last stage kept.

    Args:
        sources: files or folders, local or by URL (s3://, gs://, hf://, …): jsonl, json, csv, tsv, parquet; plain, .gz, .zst;
            the preferred one first.

    Raises:
        UserError: an argument, a parameter file, a source or the output folder cannot be used; nothing was written.

    Examples:
        compass curate mine.csv --benchmark bench.jsonl --out curated    clean mine.csv, and drop what bench.jsonl holds
        compass curate held_out.csv --problem-field text --answer-field key  name the fields that are not guessed
        compass curate mine.csv --explain                                say how the file would be read, and why
        compass curate mine.csv --filter docs.example.own_filter:program  drop what a filter of yours finds
        compass curate a.jsonl.gz b.parquet --problems 1000              the best of two sources, 1,000 problems
    """
    from compass.commands.curate_sources import ask, source_settings, write_params
    from compass.curation.noise.own_filter import load_filter
    from compass.process_tree import own_processes
    from compass.settings import Collect, Curation, Dedup, Denoise, Verify, load_sections
    from compass.sources.recognise import check_named

    files, benchmarks = [path_or_url(text) for text in sources], [path_or_url(text) for text in asked.benchmarks]
    if asked.problems < 0:
        raise UserError(f"--problems {asked.problems}: give how many problems to keep, 1 or more (0 keeps all)")
    check_out(asked.out, [path for path in (*files, *benchmarks) if isinstance(path, Path)])
    sections = ("curation", "collect", "dedup", "denoise", "verify")
    given: dict[str, Any] = load_sections(asked.params, sections) if asked.params else {}
    curation = given.get("curation") or Curation()
    if asked.ray:
        curation = curation.model_copy(update={"engine": "ray", "address": asked.ray})
    if curation.engine == "ray" and curation.address == "local":
        own_processes()  # Ray's end with this command, also where it is killed
    limits = given.get("collect") or Collect(sources=[], benchmarks=[])
    skip = asked.skip_unreadable or limits.skip_unreadable
    questions: list[str] = []
    named = {name: getattr(asked, name) for name in ("problem_field", "answer_field", "solution_field")}
    check_named([*files, *benchmarks], named)
    read = source_settings(files, limits.sources, skip=skip, questions=questions, named=named)
    update: dict[str, object] = {"generate": None, "sources": read, "skip_unreadable": skip}
    if benchmarks:
        update["benchmarks"] = source_settings(benchmarks, limits.benchmarks, questions=questions, named=named)
    ask(questions)
    if asked.allow_licences:
        update["allow_licences"] = asked.allow_licences
    denoise = given.get("denoise") or Denoise()
    if asked.filters:
        denoise = denoise.model_copy(update={"filters": asked.filters})
    for name in denoise.filters:
        load_filter(name)  # an error now, not after minutes
    settings = CurateSettings(
        collect=limits.model_copy(update=update),
        dedup=given.get("dedup") or Dedup(),
        denoise=denoise,
        verify=given.get("verify") or Verify(),
        problems=asked.problems,
        seed=asked.seed,
        curation=curation,
    )
    if asked.write_params:
        write_params(asked.write_params, settings.collect)
    if asked.explain or asked.write_params:
        return 0
    if not settings.collect.benchmarks:
        print("curate: no --benchmark given: nothing is checked for contamination", file=sys.stderr)
    with told("curate"):
        summary = run_stages(settings, asked.out, say=lambda line: print(line, flush=True))
    _warn_of_empty(summary["sources"])
    last = list(summary["stages"])[-1]
    print(
        f"kept {summary['kept']:,} of {summary['read']:,} rows: {asked.out}/{last}/kept.parquet, "
        f"card: {asked.out}/card.html"
    )
    return 0


def _warn_of_empty(sources: Mapping[str, Mapping[str, Any]]) -> None:
    for name, fact in sources.items():
        if not fact["kept"]:
            reasons = ", ".join(f"{reason} {rows:,}" for reason, rows in fact["dropped"].items())
            said = f"none of its {fact['read']:,} rows is kept: {reasons}" if fact["read"] else "it was skipped"
            print(f"curate: warning: source {name!r}: {said}", file=sys.stderr)
