"""Settings of the data stages: collect, dedup, denoise, grade, verify, curriculum."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from compass.settings.models import Sampling
from compass.settings.section import RL_STAGES, NotNegative, Positive, Probability, Section


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
    """A local file or folder (JSON lines, CSV, parquet; plain, .gz or .zst). `$COMPASS_DATA` and `$GENERATED` are filled in."""

    hub: str = ""
    """A dataset id on the Hugging Face hub; give either this or `path`."""

    revision: str = ""
    """The hub commit to read; required with `hub`. A branch (`main`) is read at its present commit, which the summary
    names with a warning: only a commit can be repeated."""

    subset: str = ""
    """The hub dataset's configuration, where it has several."""

    split: str = "train"
    """The split to read from the hub."""

    adapter: str = "columns"
    """How rows become problems: an adapter's name in `compass.sources.adapters`."""

    problem_field: str = "problem"
    """Where the problem's text is; dots reach into nested fields (`prompt.0.content`)."""

    answer_field: str = "answer"
    """Where the gold answer is, or the text it is taken from; empty when only a solution has it."""

    solution_field: str = ""
    """Where the worked solution is, if published."""

    id_field: str = ""
    """Where the source's own id is; the row number when empty."""

    level_field: str = ""
    """Where the source's own difficulty is, if published."""

    options_field: str = ""
    """With the adapter `options`: where the list of choices is."""

    licence: str = "unknown"
    """The licence the rows are published under."""

    strip_prefixes: list[str] = []
    """Instructions that the source puts before every problem; removed from the start of the text."""

    strip_suffixes: list[str] = []
    """Instructions that the source appends to every problem; removed from the end of the text."""

    max_rows: NotNegative = 0
    """Read only the first so many rows; 0 reads all."""

    @model_validator(mode="after")
    def _one_place(self) -> Source:
        if bool(self.path) == bool(self.hub):
            raise ValueError(f"source {self.name!r}: give either `path` or `hub`")
        if self.hub and not self.revision:
            raise ValueError(f"source {self.name!r}: `hub` needs a `revision`: a commit, or `main` until it is pinned")
        return self


class Collect(Section):
    """Read every source and benchmark into records."""

    generate: Generator | None = None
    """Generate the tiny profile's sources and benchmarks first; null reads only what is published elsewhere."""

    sources: list[Source]
    """The sources of training problems, in order of preference: of two duplicates the earlier source's row survives."""

    benchmarks: list[Source]
    """The held-out benchmarks, in the order in which results are shown."""

    max_problem_chars: Positive = 20_000
    """A longer problem is dropped as unreadable input."""

    max_answer_chars: Positive = 2_000
    """A longer gold answer is dropped as unreadable input."""

    max_solution_chars: Positive = 100_000
    """A longer published solution is dropped as unreadable input, with its row."""

    allow_licences: list[str] = []
    """Licences whose rows are kept, as the sources name them; rows under any other are dropped. Empty allows all."""

    @model_validator(mode="after")
    def _unique_names(self) -> Collect:
        for kind in (self.sources, self.benchmarks):
            names = [source.name for source in kind]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"the name {twice[0]!r} is used twice; every source needs its own")
        return self


class Dedup(Section):
    """Exact and near-duplicates (MinHash LSH), candidates confirmed by exact Jaccard similarity."""

    threshold: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Jaccard similarity of word n-gram sets from which two problems are near-duplicates."""

    ngram: Positive = 3
    """Words in an n-gram."""

    permutations: Positive = 128
    """MinHash permutations."""

    seed: NotNegative = 1
    """Seed of the MinHash permutations."""

    numbers_must_match: bool = True
    """Two near-duplicates whose numbers differ are different problems and both stay."""

    conflicts: Literal["majority", "drop"] = "majority"
    """Duplicates that disagree on the answer: keep the answer of most sources (of equals the preferred row's), or drop all."""

    memory_mb: Positive = 4_096
    """Memory for band keys and n-gram sets (about 600 bytes a row); what needs more is kept on disk while it is searched."""


class Denoise(Section):
    """Noise and quality filters, then decontamination against every benchmark."""

    min_problem_chars: Positive = 15
    """A shorter problem is dropped."""

    max_problem_chars: Positive = 4_000
    """A longer problem is dropped."""

    languages: list[Literal["en", "zh"]] = ["en"]
    """Languages that are kept."""

    skip_reasons: list[str] = []
    """Reasons whose noise filters are off, such as `figure` to keep problems that speak of a figure."""

    @field_validator("skip_reasons")
    @classmethod
    def _known_reasons(cls, names: list[str]) -> list[str]:
        from compass.curation.noise import FILTERS

        if unknown := [name for name in names if name not in set(FILTERS)]:
            raise ValueError(f"no noise filter {unknown[0]!r}; there are {', '.join(FILTERS)}")
        return names

    contamination_ngram: Positive = 13
    """Words in the n-grams by which a problem is compared with benchmark items."""

    contamination_coverage: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of a benchmark item's n-grams that a training problem must hold to count as contaminated."""

    contamination_similarity: Annotated[float, Field(gt=0, le=1)] = 0.6
    """Jaccard similarity of word trigrams from which a problem with an item's numbers counts as a rewording of it."""


class Grade(Section):
    """Difficulty 1-5 by a grader's solve rate (report section 4.2; Big-Math's method)."""

    model: str = "models/base"
    """The grader: a folder or hub id (the report uses an 8B Llama). The pipeline's own base policy in the tiny profile."""

    revision: str = ""
    """The hub revision (commit); required for a hub id."""

    rollouts: Positive = 8
    """Solutions sampled for each problem."""

    sampling: Sampling = Sampling()
    """How they are sampled."""

    max_problems: NotNegative = 0
    """Grade so many problems, drawn by a seeded hash of their id, and leave the rest ungraded; 0 grades all."""

    levels: Literal["quantiles", "thresholds"] = "quantiles"
    """`quantiles`: five levels of about equal size by rank of solve rate. `thresholds`: by the solve rate alone."""

    thresholds: list[Probability] = [0.8, 0.6, 0.4, 0.2]
    """With `thresholds`: the lowest solve rate of levels 1, 2, 3 and 4, falling."""

    @model_validator(mode="after")
    def _falling(self) -> Grade:
        if len(self.thresholds) != 4 or sorted(set(self.thresholds), reverse=True) != self.thresholds:
            raise ValueError(f"`thresholds` must be four falling solve rates, found {self.thresholds}")
        return self


class Verify(Section):
    """Keep the problems whose gold answer the verifier can read and trust."""

    require_self_equal: bool = True
    """Drop a gold that the verifier does not find equal to itself rewritten."""

    max_text_words: Positive = 4
    """A gold in words that is longer is an opinion or an explanation, and dropped as unreadable."""

    suspicious_agreement: Probability = 0.75
    """Share of a problem's graded rollouts that must agree on one wrong answer for the gold to be called suspicious."""

    suspicious_min_rollouts: Positive = 8
    """Fewer rollouts never make a gold suspicious."""


class Curriculum(Section):
    """Which levels each RL stage trains on, and in what share (report section 1: stages of different difficulty)."""

    mixes: dict[Literal["rl-1", "rl-2", "rl-3"], dict[Literal["1", "2", "3", "4", "5"], Probability]]
    """For each RL stage the share of every level; shares of a stage add up to 1."""

    problems: Positive = 1024
    """Most problems in the training set of one stage."""

    solve_rate: list[Probability] = [0.0, 1.0]
    """Lowest and highest solve rate that is trained on, ends included; a problem nobody or everybody solves teaches nothing."""

    use_source_level: bool = False
    """Use the source's own difficulty for problems that were not graded."""

    @model_validator(mode="after")
    def _shares(self) -> Curriculum:
        if set(self.mixes) != set(RL_STAGES):
            raise ValueError(f"`mixes` needs exactly {', '.join(RL_STAGES)}, found {', '.join(self.mixes) or 'none'}")
        for stage, mix in self.mixes.items():
            if abs(sum(mix.values()) - 1) > 1e-6:
                raise ValueError(f"`mixes.{stage}` adds up to {sum(mix.values()):g}, not 1")
        if len(self.solve_rate) != 2 or self.solve_rate[0] > self.solve_rate[1]:
            raise ValueError(f"`solve_rate` must be [lowest, highest], found {self.solve_rate}")
        return self
