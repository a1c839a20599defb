"""Typed parameters: one class a stage, one section of `params.yaml` a class, a docstring under each field.

`load_settings("params.yaml")` reads and checks a whole parameter file. An unknown key, a wrong type or an impossible
combination raises `SettingsError`, which names the file, the key, the value found and what is allowed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

STAGES = (
    "collect",
    "dedup",
    "denoise",
    "base",
    "grade",
    "verify",
    "curriculum",
    "rl-1",
    "rl-2",
    "rl-3",
    "evaluate",
    "report",
)
"""Every stage of the pipeline, in an order in which each one's inputs exist."""

RL_STAGES = ("rl-1", "rl-2", "rl-3")

Probability = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
Level = Annotated[int, Field(ge=1, le=5)]


class SettingsError(ValueError):
    """A parameter file that cannot be used; the message names file, key, value and what is allowed."""


class Section(BaseModel):
    """A section of `params.yaml`: no unknown key, no silent conversion, immutable once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


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


class Base(Section):
    """Where the policy's starting weights come from: a path, a hub id, or a pre-training on generated problems."""

    model: str = ""
    """A local folder, a `.gguf` file or a hub id; empty pre-trains the tiny policy. `$COMPASS_MODEL` is filled in."""

    revision: str = ""
    """The hub revision (commit); required for a hub id."""

    pretrain: Pretrain | None = None
    """How the tiny policy is pre-trained; null for a real model."""

    @model_validator(mode="after")
    def _one_origin(self) -> Base:
        if bool(self.model) == (self.pretrain is not None):
            raise ValueError("give either `model` (a path or hub id) or `pretrain`, not both and not neither")
        return self


class Pretrain(Section):
    """Pre-training of the tiny policy: first worked solutions until it can solve, then hasty and sloppy habits."""

    hidden_size: Annotated[int, Field(ge=32, multiple_of=32)] = 128
    """Width of the transformer; a multiple of 32, vLLM's smallest head size on CPU."""

    layers: Positive = 3
    """Transformer blocks."""

    batch_size: Positive = 32
    """Solutions in an optimiser step."""

    learning_rate: Annotated[float, Field(gt=0)] = 3e-3
    """Learning rate of embeddings and norms (AdamW); matrices take five times as much (Muon)."""

    skill: Annotated[float, Field(gt=0, lt=1)] = 0.6
    """Worked solutions are learnt until their mean probability on fresh problems reaches this."""

    steps: Positive = 900
    """Most optimiser steps of that; reaching them before `skill` is an error."""

    habit_steps: NotNegative = 60
    """Optimiser steps that follow, on solutions mixed as below, while the learning rate falls to zero."""

    guesses: Probability = 0.55
    """Share of solutions that are a bare guess; above one half, the policy's greedy answer is a guess."""

    guess_error: Probability = 0.5
    """Chance that a guess is only near the truth."""

    careful: Probability = 0.25
    """Share of worked solutions that are right; the rest (1 - guesses - careful) is sloppy."""

    sloppy_error: Probability = 0.30
    """Chance that a step of a sloppy solution is wrong."""

    @model_validator(mode="after")
    def _shares(self) -> Pretrain:
        if self.guesses + self.careful > 1:
            raise ValueError(f"`guesses` and `careful` add up to {self.guesses + self.careful:g}, more than 1")
        return self


class Sampling(Section):
    """How vLLM samples, for grading and evaluation."""

    temperature: Annotated[float, Field(ge=0)] = 1.0
    """Sampling temperature; 0 is greedy."""

    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus mass."""

    max_tokens: Positive = 64
    """Longest response, in tokens."""

    max_model_len: Positive = 192
    """Longest prompt and response together, in tokens; longer prompts are reported, not cut."""

    batch: Positive = 2048
    """Prompts sampled between two checkpoints of the resumable work."""

    dtype: Literal["float32", "bfloat16", "auto"] = "auto"
    """Weights' type in the engine."""

    tensor_parallel: Positive = 1
    """GPUs a model is split over."""

    memory: Annotated[float, Field(gt=0, le=1)] = 0.85
    """Share of a GPU's memory the engine may take; ignored on CPU."""

    kv_cache_gib: Positive = 1
    """GiB of memory for the key-value cache on CPU; ignored on a GPU."""

    system_prompt: str = ""
    """System prompt; empty sends none."""

    prompt_suffix: str = ""
    """Text appended to every problem, such as the request for a boxed answer."""

    @model_validator(mode="after")
    def _room_for_a_prompt(self) -> Sampling:
        if self.max_tokens >= self.max_model_len:
            raise ValueError(
                f"`max_model_len` ({self.max_model_len}) must exceed `max_tokens` ({self.max_tokens}): a prompt has to fit too"
            )
        return self


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


class Rl(Section):
    """One RL stage: the GRPO variant of report section 3. Values in `rl` hold for all stages, a stage's own section wins."""

    init_from: str = "base"
    """The stage whose weights it starts from: `base` or an earlier RL stage."""

    carry_optimizer: bool = False
    """Take over the optimizer state of `init_from` as well: an RL stage with `keep_optimizer`."""

    keep_optimizer: bool = False
    """Keep the final optimizer state among the stage's outputs, for a later stage with `carry_optimizer`."""

    steps: Positive = 20
    """Optimisation iterations (rollout, reward, update)."""

    batch_size: Positive = 32
    """Problems in an iteration."""

    group_size: Annotated[int, Field(ge=2)] = 8
    """Responses sampled for each problem (G); the report does not give its value."""

    mini_batch_size: Positive = 32
    """Problems in one gradient update."""

    epochs: Positive = 1
    """Passes over an iteration's samples."""

    micro_batch_size: Positive = 64
    """Responses in one forward and backward pass; memory against speed, no effect on results."""

    learning_rate: Annotated[float, Field(gt=0)] = 1e-6
    """AdamW's learning rate."""

    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    """AdamW's weight decay."""

    warmup_steps: NotNegative = 0
    """Iterations over which the learning rate rises to its value."""

    grad_clip: Annotated[float, Field(gt=0)] = 1.0
    """Largest gradient norm."""

    max_prompt_tokens: Positive = 1024
    """Longer prompts are left out, and counted."""

    max_response_tokens: Positive = 3072
    """Longest response."""

    temperature: Annotated[float, Field(gt=0)] = 1.0
    """Rollout temperature (report: 1.0)."""

    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Rollout nucleus mass (report: 1.0)."""

    clip_low: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """epsilon_low, fixed."""

    clip_high: Annotated[float, Field(gt=0)] = 0.28
    """epsilon_high, raised (clip-higher); the report does not give its value, 0.28 is DAPO's."""

    kl_coef: Annotated[float, Field(ge=0)] = 0.0
    """Coefficient of the KL loss to the starting policy; 0 removes it, as the report does."""

    dynamic_sampling: bool = True
    """Leave out groups whose responses are all right or all wrong, and sample others in their place."""

    max_generation_batches: Positive = 10
    """With dynamic sampling: a stage that needs more batches than this for one iteration stops with a message."""

    loss_aggregation: Literal["token-mean", "seq-mean-token-mean", "seq-mean-token-sum"] = "token-mean"
    """How token losses are averaged; the report's is token-mean."""

    normalise_by_std: bool = True
    """Divide the advantage by the group's standard deviation."""

    entropy_coef: Annotated[float, Field(ge=0)] = 0.0
    """Entropy bonus."""

    overlong_buffer: NotNegative = 0
    """Tokens before the longest response over which a soft penalty grows (DAPO); 0 turns it off."""

    overlong_penalty: Annotated[float, Field(ge=0)] = 1.0
    """The largest such penalty."""

    estimator: Literal["grpo", "reinforce_plus_plus", "remax", "rloo"] = "grpo"
    """Advantage estimator."""

    save_every: Positive = 5
    """Iterations between two checkpoints."""

    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    """Compute type of trainer and rollouts."""

    gpus: NotNegative = 0
    """GPUs a node; 0 trains on the CPU."""

    nodes: Positive = 1
    """Nodes of the Ray cluster."""

    rollout_memory: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of a GPU's memory for vLLM during rollouts."""

    tensor_parallel: Positive = 1
    """GPUs one rollout engine is split over."""

    system_prompt: str = ""
    """System prompt; empty sends none."""

    prompt_suffix: str = ""
    """Text appended to every problem."""

    @model_validator(mode="after")
    def _possible(self) -> Rl:
        if self.mini_batch_size > self.batch_size or self.batch_size % self.mini_batch_size:
            raise ValueError(f"`mini_batch_size` ({self.mini_batch_size}) must divide `batch_size` ({self.batch_size})")
        if self.overlong_buffer >= self.max_response_tokens:
            raise ValueError("`overlong_buffer` must be shorter than `max_response_tokens`")
        if self.carry_optimizer and self.init_from == "base":
            raise ValueError("`carry_optimizer` needs an RL stage in `init_from`; the base has no optimizer state")
        return self


class Evaluate(Section):
    """Score every model on every benchmark."""

    models: list[Literal["base", "rl-1", "rl-2", "rl-3"]] = ["base", "rl-1", "rl-2", "rl-3"]
    """The models that are scored."""

    samples: Positive = 8
    """Responses sampled for each problem; accuracy is avg@k, pass@k and maj@k use the same samples."""

    greedy: bool = True
    """Also score one greedy response for each problem."""

    sampling: Sampling = Sampling()
    """How responses are sampled."""

    bootstrap: Positive = 2000
    """Resamples of problems behind the 95% interval of a gain over the base."""

    max_problems: NotNegative = 0
    """Score only so many problems of each benchmark, drawn by a seeded hash; 0 scores all."""


class Report(Section):
    """The page a run ends with."""

    title: str = "Compass-Thinker pipeline"
    """The page's title."""


class Settings(Section):
    """A whole parameter file."""

    profile: str
    """The name of the profile it came from."""

    seed: NotNegative = 0
    """Seed of everything random: generated problems, pre-training, sampling, RL, bootstrap."""

    collect: Collect
    dedup: Dedup = Dedup()
    denoise: Denoise = Denoise()
    base: Base
    grade: Grade = Grade()
    verify: Verify = Verify()
    curriculum: Curriculum
    rl: dict[str, Any] = {}
    """Recipe settings that all RL stages share."""

    rl_1: Rl = Field(alias="rl-1")
    rl_2: Rl = Field(alias="rl-2")
    rl_3: Rl = Field(alias="rl-3")
    evaluate: Evaluate = Evaluate()
    report: Report = Report()

    @model_validator(mode="before")
    @classmethod
    def _merge_recipe(cls, values: Any) -> Any:
        """Lay each RL stage's own section over the shared one, so that a stage is checked whole."""
        if isinstance(values, dict) and isinstance(values.get("rl", {}), dict):
            shared = values.get("rl", {})
            stages = {s: {**shared, **values[s]} for s in RL_STAGES if isinstance(values.get(s), dict)}
            return {**values, **stages}
        return values

    @model_validator(mode="after")
    def _chain(self) -> Settings:
        for number, stage in enumerate(RL_STAGES):
            ours = self.stage(stage)
            allowed = ("base", *RL_STAGES[:number])
            if ours.init_from not in allowed:
                raise ValueError(f"`{stage}.init_from` is {ours.init_from!r}; allowed: {', '.join(allowed)}")
            if ours.carry_optimizer and not self.stage(ours.init_from).keep_optimizer:
                raise ValueError(f"`{stage}.carry_optimizer` needs `{ours.init_from}.keep_optimizer: true`")
        return self

    def stage(self, name: str) -> Any:
        """The section of the stage called `name` (`rl-1` as it is written in the file)."""
        return getattr(self, name.replace("-", "_"))


Base.model_rebuild()
Settings.model_rebuild()


def load_settings(path: str | Path = "params.yaml") -> Settings:
    """Read and check a parameter file.

    Raises:
        SettingsError: the file is missing, not YAML, or holds an unknown key, a wrong type or an impossible combination.
    """
    path = Path(path)
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file; `compass profile use NAME` writes one") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(values, dict):
        raise SettingsError(f"{path}: must hold sections ({', '.join(STAGES)}), found {type(values).__name__}")
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_explain(path, error)) from None


def _explain(path: Path, error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"]) or "the file"
        found = "" if problem["type"] == "missing" else f", found {_short(problem['input'])}"
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = f"unknown key; allowed here: {', '.join(_allowed(problem['loc'][:-1]))}"
        lines.append(f"{path}: {key}: {message}{found}")
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _allowed(location: tuple[int | str, ...]) -> list[str]:
    """Names of the keys that the section at `location` knows."""
    model: Any = Settings
    for part in location:
        if isinstance(part, int):
            continue
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        model = _section_class(fields[str(part)].annotation)
        if model is None:
            return []
    return sorted(field.alias or name for name, field in model.model_fields.items())


def _section_class(annotation: Any) -> type[Section] | None:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if found := _section_class(inner):
            return found
    return None
