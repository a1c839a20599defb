"""`compass.curate`: the data stages alone on files or tables, and the settings that `compass curate` runs them with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from compass.errors import UserError
from compass.library.curate_sources import ask, print_error, source_settings
from compass.library.curate_stages import CurateSettings, run_stages
from compass.library.output_folder import check_out

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

    Table: TypeAlias = "pa.Table | pandas.DataFrame"


@dataclass(frozen=True, kw_only=True)
class CurateOptions:
    """What the data stages are asked for beside their files; `compass curate --help` has each as an option."""

    benchmarks: Sequence[str | Path] = ()
    params: Path | None = None
    filters: Sequence[str] = ()
    labels: Path | None = None
    named: Mapping[str, str] = field(default_factory=dict)
    """Fields by their setting: `problem_field`, `answer_field`, `solution_field`; guessed without."""
    skip_unreadable: bool = False
    problems: int = 0
    seed: int = 0
    allow_licences: Sequence[str] = ()


class Curated(NamedTuple):
    """What curation made of the rows."""

    kept: pa.Table
    """The rows that every stage kept, as `compass.read_records` gives them."""
    dropped: pa.Table
    """The other rows, each with `stage`, `reason` and `evidence`."""
    card: str
    """The data card, as Markdown."""


def curate(
    sources: str | Path | Table | Sequence[str | Path | Table],
    *,
    benchmarks: str | Path | Table | Sequence[str | Path | Table] = (),
    out: str | Path | None = None,
    params: str | Path | None = None,
    filters: Sequence[str] = (),
    labels: str | Path | None = None,
    problem_field: str = "",
    answer_field: str = "",
    solution_field: str = "",
    skip_unreadable: bool = False,
    problems: int = 0,
    seed: int = 0,
    allow_licences: Sequence[str] = (),
    say: Callable[[str], None] | None = None,
) -> Curated:
    """Run the data stages on files or tables, as `compass curate` does: collect, dedup, denoise, verify, and select with `problems`.

    Args:
        sources: files, folders or URLs (jsonl, json, csv, tsv, parquet; plain, .gz, .zst), or tables (pyarrow, pandas), the preferred one
            first; without any, those of `params`. The source of the n-th table given is called `table-n`.
        benchmarks: files or tables that no kept problem may come from; a table's is called `benchmark-n`.
        out: the folder to write, as `compass curate` does; without it nothing stays on disk.
        params: a parameter file with any of the sections curation, collect, dedup, denoise and verify.
        filters: filters of your own, each `package.module:function`, instead of those of `params`.
        labels: a file of rows that a person marked (`compass label --rows`, or the ledger's page), which overrules the stages.
        problem_field: the field of the problem; guessed without it, as the next two.
        answer_field: the field of the right answer.
        solution_field: the field of a worked solution that marks its answer.
        skip_unreadable: skip a source that cannot be read instead of stopping.
        problems: keep at most so many problems, by a seeded hash of their id; 0 keeps all.
        seed: of that hash.
        allow_licences: drop rows under any licence but these.
        say: receives how each file is read and a line per stage; without it nothing is said.

    Returns:
        `kept`, `dropped`, `card`.

    Raises:
        UserError: an argument, a parameter file, a source or `out` cannot be used; nothing was written.
        EmptyError: a stage dropped every row; the message names the reasons.
    """
    from compass.records import read_records
    from compass.report.outputs import find_outputs

    said = say or (lambda line: None)
    with ExitStack() as held:
        temporary = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="compass-")))
        options = CurateOptions(
            benchmarks=_as_files(benchmarks, temporary, "benchmark"),
            params=Path(params) if params else None,
            filters=filters,
            labels=Path(labels) if labels else None,
            named={"problem_field": problem_field, "answer_field": answer_field, "solution_field": solution_field},
            skip_unreadable=skip_unreadable,
            problems=problems,
            seed=seed,
            allow_licences=allow_licences,
        )
        folder = Path(out) if out is not None else temporary / "curated"
        files = _as_files(sources, temporary, "table")
        run_stages(curate_settings(files, options, folder, said), folder, said)
        outputs = find_outputs(folder)
        card = (folder / "card.md").read_text(encoding="utf-8")
        return Curated(read_records(outputs.last), outputs.ledger(), card)


def curate_settings(
    sources: Sequence[str | Path], options: CurateOptions, out: Path, say: Callable[[str], None] = print_error
) -> CurateSettings:
    """The settings of a run of the data stages: how each file is read, and the parameter file's sections with the options in their place.

    Args:
        sources: files or folders, local or by URL; without any, the parameter file's sources.
        options: see there.
        out: the folder that the run will write.
        say: receives how each file is read, and why.

    Raises:
        UserError: an option, a parameter file, a source or the output folder cannot be used.
    """
    from compass.curation.noise.own_filter import load_filter
    from compass.settings import Collect, Curation, Dedup, Denoise, Verify, load_sections
    from compass.sources.recognise import check_named
    from compass.sources.remote import path_or_url
    from stages._marked_rows import MarkedRows

    files, benchmarks = ([path_or_url(str(path)) for path in paths] for paths in (sources, options.benchmarks))
    if options.problems < 0:
        raise UserError(f"--problems {options.problems}: give how many problems to keep, 1 or more (0 keeps all)")
    check_out(out, [path for path in (*files, *benchmarks) if isinstance(path, Path)])
    sections = ("curation", "collect", "dedup", "denoise", "verify")
    given: dict[str, Any] = load_sections(options.params, sections) if options.params else {}
    limits = given.get("collect") or Collect(sources=[], benchmarks=[])
    if not files and not limits.sources:
        raise UserError("which files? Name them, or give --params FILE, a parameter file with `collect.sources`")
    skip = options.skip_unreadable or limits.skip_unreadable
    questions: list[str] = []
    named = options.named
    check_named([*files, *benchmarks], named)
    read = limits.sources
    if files:
        read = source_settings(files, limits.sources, skip=skip, questions=questions, named=named, say=say)
    update: dict[str, object] = {"generate": None, "sources": read, "skip_unreadable": skip}
    if benchmarks:
        update["benchmarks"] = source_settings(benchmarks, limits.benchmarks, questions=questions, named=named, say=say)
    ask(questions)
    if options.allow_licences:
        update["allow_licences"] = list(options.allow_licences)
    denoise = given.get("denoise") or Denoise()
    if options.filters:
        denoise = denoise.model_copy(update={"filters": list(options.filters)})
    curation = given.get("curation") or Curation()
    if options.labels:
        curation = curation.model_copy(update={"labels": str(options.labels)})
    MarkedRows("collect", curation.labels)  # an error now, not after minutes
    for name in denoise.filters:
        load_filter(name)  # an error now, not after minutes
    return CurateSettings(
        collect=limits.model_copy(update=update),
        dedup=given.get("dedup") or Dedup(),
        denoise=denoise,
        verify=given.get("verify") or Verify(),
        problems=options.problems,
        seed=options.seed,
        curation=curation,
    )


def _as_files(given: Any, folder: Path, name: str) -> list[str | Path]:
    """Files as they are, and each table as a parquet file in `folder`.

    Raises:
        UserError: something is neither.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    files: list[str | Path] = []
    for one in [*given] if isinstance(given, list | tuple) else [given]:
        if isinstance(one, str | Path):
            files.append(one)
            continue
        if not isinstance(one, pa.Table):
            if not hasattr(one, "__dataframe__"):
                raise UserError(
                    f"{type(one).__name__}: is neither a file nor a table; give a path, a pyarrow table or a data frame"
                )
            try:
                one = pa.Table.from_pandas(one, preserve_index=False)
            except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
                raise UserError(
                    f"{type(one).__name__}: {' '.join(map(str, error.args))}; give the column one type, or a file of JSON lines"
                ) from None
        number = sum(str(folder) in str(file) for file in files) + 1
        files.append(folder / f"{name}-{number}.parquet")
        pq.write_table(one, files[-1])
    return files
