"""Settings of `collect`: sources and benchmarks, and the generator of the tiny profile."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from compass.settings.section import NotNegative, Positive, Probability, Section

_WRITTEN = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,2})?\s*%?", re.IGNORECASE)


class Generator(Section):
    """The generated problems of the tiny profile."""

    problems_per_level: Positive = 400
    """Clean training problems of each level 1-5, before anything is planted."""

    benchmark_per_level: Positive = 60
    """Held-out problems of each level; each level is one benchmark."""

    planted_per_kind: NotNegative = 30
    """Rows planted for each kind of defect (exact duplicate, near-duplicate, conflict, link, image, …)."""


class Source(Section):
    """One source of problems and how to read it."""

    name: str
    """The source's name in every record; unique."""

    path: str = ""
    """A file or folder (JSON lines, CSV, parquet; plain, .gz or .zst), local or by URL (`s3://…`, `gs://…`, `hf://…`, as
    fsspec opens it). `$COMPASS_DATA` and `$GENERATED` are filled in."""

    hub: str = ""
    """A dataset id on the Hugging Face hub; give either this or `path`."""

    revision: str = ""
    """The hub commit to read; required with `hub`. A branch (`main`) is read at its present commit, which the summary
    names with a warning: only a commit can be repeated."""

    subset: str = ""
    """The hub dataset's configuration, where it has several."""

    split: str = "train"
    """The split to read from the hub."""

    stream: bool = False
    """With `hub`: read rows as they come instead of downloading the dataset first, for one larger than the disk."""

    adapter: str = "columns"
    """How rows become problems: an adapter's name in `compass.sources.adapters`."""

    problem_field: str = "problem"
    """Where the problem's text is; dots reach into nested fields (`prompt.0.content`), `*` into the
    only one of an object. Texts of several fields, with commas between their names, are joined."""

    answer_field: str = "answer"
    """Where the gold answer is, or the text it is taken from; empty when only a solution has it."""

    answers_mean: Literal["all", "any"] = "all"
    """What several values in `answer_field` are: parts of one answer, all of which are needed, or answers of which any is right."""

    alternatives_field: str = ""
    """Where other right answers are, one or a list of them, each right on its own."""

    tolerance: str = ""
    """How far a number may be off its gold: `0.01`, or `5%` of the gold. Golds that are no numbers are not concerned."""

    tolerance_field: str = ""
    """Where a row says how far its number may be off; with `tolerances`, where the value is that decides. It wins over `tolerance`."""

    tolerances: dict[str, str] = {}
    """The tolerance by the value of `tolerance_field`, `{Numeric: "0.01"}`; rows with any other value have none."""

    other_answer_field: str = ""
    """Where the gold of other copies is, if it is known to be another one. It is scored beside the gold and never paid."""

    decimal_comma: bool = False
    """Whether numbers in golds have a decimal comma, and points between thousands: `2,25` and `2.501,00` become 2.25 and 2501.00."""

    unit_field: str = ""
    """Where the unit of the answer is, if it stands apart. It is written behind the gold where the gold can then be read."""

    solution_field: str = ""
    """Where the worked solution is, if published."""

    equation_field: str = ""
    """Where an equation is that computes the answer (`+ number0 number1`, `(32-5)*2`). A row without a published solution gets one from
    it, one operation per line."""

    id_field: str = ""
    """Where the source's own id is; the row number when empty. A row without an id there is called `#row7` by its number."""

    level_field: str = ""
    """Where the source's own difficulty is, if published."""

    level_means: Literal["difficulty", "solve_rate"] = "difficulty"
    """What `level_field` holds: a difficulty (more is harder), or a share of right solutions from 0 to 1 (more is easier)."""

    cluster_field: str = ""
    """Of a benchmark: where a row says which problems it shares a stem or a template with. Intervals and tests count these as one. Without it,
    problems with the same beginning share a stem."""

    options_field: str = ""
    """With the adapter `options`: where the choices are; several fields, one per choice, with commas between them."""

    answer_is_index: bool = False
    """With the adapter `options`: golds are positions among the choices; they are read as letters."""

    first_index: Literal[0, 1] = 0
    """With `answer_is_index`: the position of the first choice."""

    image_field: str = ""
    """Where a row's picture is. A row of a source with a picture there is dropped as `figure`: its text alone may not be solvable."""

    licence: str = "unknown"
    """The licence the rows are published under."""

    licence_field: str = ""
    """Where a row's own licence is; `licence` is that of rows without one."""

    strip_prefixes: list[str] = []
    """Instructions that the source puts before every problem; removed from the start of the text."""

    strip_suffixes: list[str] = []
    """Instructions that the source appends to every problem; removed from the end of the text."""

    only: dict[str, list[str]] = {}
    """Read only rows whose field has one of these values: `{answer_type: [number, set]}`. Rows with another value are not part of the source."""

    max_rows: NotNegative = 0
    """Read only the first so many rows; 0 reads all."""

    part: Annotated[list[Probability], Field(min_length=2, max_length=2)] = [0.0, 1.0]
    """Read only the rows whose hash, a number from 0 to 1, is from the first of these to below the second. Sources that read one file with
    parts that do not overlap share no row: `[0, 0.4]` for a warm start, `[0.4, 0.9]` for RL, `[0.9, 1]` held out as a benchmark."""

    operations: Annotated[list[Positive], Field(max_length=2)] = []
    """Read only the rows whose solution, published or made from `equation_field`, writes so many arithmetic operations, from the first of
    these to the second; empty reads all."""

    @model_validator(mode="after")
    def _tolerances(self) -> Source:
        for written in (self.tolerance, *self.tolerances.values()):
            if written and not _WRITTEN.fullmatch(written):
                raise ValueError(
                    f"source {self.name!r}: the tolerance {written!r} is neither a number (`0.01`) nor a share (`5%`)"
                )
        if self.tolerances and not self.tolerance_field:
            raise ValueError(
                f"source {self.name!r}: `tolerances` needs the `tolerance_field` whose values they are for"
            )
        return self

    @model_validator(mode="after")
    def _part_holds_rows(self) -> Source:
        if self.part[0] >= self.part[1]:
            raise ValueError(f"source {self.name!r}: `part` must be two rising numbers from 0 to 1, found {self.part}")
        if self.operations and (len(self.operations) != 2 or self.operations[0] > self.operations[1]):
            raise ValueError(f"source {self.name!r}: `operations` must be [fewest, most], found {self.operations}")
        return self

    @model_validator(mode="after")
    def _fields_are_read(self) -> Source:
        if self.answer_is_index and self.adapter != "options":
            raise ValueError(
                f"source {self.name!r}: `answer_is_index` needs `adapter: options`, and the adapter is {self.adapter!r}"
            )
        if self.first_index and not self.answer_is_index:
            raise ValueError(
                f"source {self.name!r}: `first_index` needs `answer_is_index: true`; golds that are letters have none"
            )
        if bool(self.options_field) != (self.adapter == "options"):
            raise ValueError(
                f"source {self.name!r}: `options_field` and `adapter: options` need each other, and the adapter is {self.adapter!r}"
            )
        if self.level_means != "difficulty" and not self.level_field:
            raise ValueError(f"source {self.name!r}: `level_means` needs the `level_field` whose values it explains")
        return self

    @model_validator(mode="after")
    def _one_place(self) -> Source:
        if bool(self.path) == bool(self.hub):
            raise ValueError(f"source {self.name!r}: give either `path` or `hub`")
        if not self.hub:
            for name in ("revision", "subset", "split", "stream"):
                if getattr(self, name) != Source.model_fields[name].default:
                    raise ValueError(
                        f"source {self.name!r}: `{name}` is for a `hub` dataset, and this one has a `path`; leave it out"
                    )
        if self.hub and not self.revision:
            raise ValueError(f"source {self.name!r}: `hub` needs a `revision`: a commit, or `main` until it is pinned")
        return self


class Benchmark(Source):
    """One held-out benchmark: by a name that the project knows (`compass benchmarks` lists them), or with a place like a source."""

    other_copy: bool = False
    """Score on a copy of a known benchmark whose count or content is not the published one, knowingly."""

    @model_validator(mode="after")
    def _one_place(self) -> Benchmark:
        return self if not self.path and not self.hub else super()._one_place()  # type: ignore[operator]


class Collect(Section):
    """Read every source and benchmark into records."""

    generate: Generator | None = None
    """Generate the tiny profile's sources and benchmarks first; null reads only what is published elsewhere."""

    sources: list[Source]
    """The sources of training problems, in order of preference: of two duplicates the earlier source's row survives."""

    benchmarks: list[Benchmark]
    """The held-out benchmarks, in the order in which results are shown."""

    skip_unreadable: bool = False
    """Skip a source that cannot be read, with a warning; otherwise it stops the stage. Benchmarks always stop it."""

    repair: bool = True
    """Mend damaged text of sources where only one reading is left (`\\frac` whose `\\f` became a form feed, doubled backslashes, HTML
    entities, UTF-8 read as Latin-1). `original` keeps the problem as published. Benchmarks stay as they are."""

    recast_choices: bool = False
    """Turn multiple choice into open questions where the right option is a value and the question does without the options; otherwise
    such rows are dropped. `original` and `published_answer` keep what was published. Benchmarks stay as they are."""

    max_problem_chars: Positive = 20_000
    """A longer problem is dropped as unreadable input."""

    max_answer_chars: Positive = 2_000
    """A longer gold answer is dropped as unreadable input."""

    max_solution_chars: Positive = 100_000
    """A longer published solution is dropped as unreadable input, with its row."""

    allow_licences: list[str] = []
    """Licences whose rows are kept, as the sources name them; rows under any other are dropped. Empty allows all."""

    @field_validator("benchmarks", mode="before")
    @classmethod
    def _sources_are_benchmarks(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [item.model_dump(exclude_unset=True) if type(item) is Source else item for item in value]

    @model_validator(mode="after")
    def _unique_names(self) -> Collect:
        for kind in (self.sources, self.benchmarks):
            names = [source.name for source in kind]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"the name {twice[0]!r} is used twice; every source needs its own")
        licences = [source.licence for source in self.sources]
        by_row = any(source.licence_field for source in self.sources)
        if self.generate and not any("$GENERATED" in one.path for one in (*self.sources, *self.benchmarks)):
            raise ValueError(
                "`generate` makes problems that no source or benchmark reads: give one a `path` with `$GENERATED`, or leave `generate` out"
            )
        if self.allow_licences and licences and not by_row and not set(licences) & set(self.allow_licences):
            raise ValueError(
                f"`allow_licences` ({', '.join(self.allow_licences)}) has the licence of no source "
                f"({', '.join(dict.fromkeys(licences))}), so that every row would be dropped"
            )
        return self
