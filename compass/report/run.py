"""A finished run, or the outputs of an evaluation, as one object that pages, Markdown and cards are made from.

A run is a folder with `metrics/` and `data/`, as `dvc repro` leaves it. An evaluation is a folder with `samples.parquet`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from compass.errors import UserError
from compass.evaluation.comparisons import compare_models
from compass.evaluation.labels import error_of_run
from compass.evaluation.results import GIVEN, read_clusters
from compass.files import file_digest
from compass.records import RecordError
from compass.report.outputs import read_table
from compass.report.results import Results, read_json, read_results
from compass.report.tallies import Item, tally
from compass.runs.dvc_files import Graph
from compass.runs.run_name import ABSENT, differences
from compass.runs.stage_times import read_times
from compass.settings.load import read_values

if TYPE_CHECKING:
    import pandas

DEFAULT = "(default)"
"""Shown for a setting that a parameter file leaves to its default."""

EMPTY = {ABSENT, "", "[]", "{}"}
"""Values that say no more than that a setting is not there."""

NEEDED = (
    "model", "benchmark", "id", "sample", "greedy", "response", "answer", "answer_lenient", "correct", "correct_lenient", "outcome",
    "method", "leniencies", "boxed", "looped", "tokens", "finish_reason", "setup",
)  # fmt: skip
"""Columns of the responses that pages and figures are made of."""

SCORES = ("scores.json", "evaluate.json", "metrics.json")
"""Names under which an evaluation outside the pipeline may keep its scores."""


@dataclass(frozen=True)
class Run:
    """A run by its folder.

    `parameters`: its parameter file, nested. `profile_parameters`: those of the profile that it names, None where the
    profile is not at hand. `times`: stage to `compass.runs.stage_times`, of the run's stages. `commit`: `commit` and `dirty` as the stages
    recorded them (`find_commit`).
    `samples`, `problems`, `setups`, `comparisons`: what evaluation wrote, empty or None where it did not. `verifier`: its error as people's
    labels measure it (`compass.evaluation.labels.measured_error`), empty without labels. `outdated_by`: stages that ran again or
    have other settings since the evaluation. `given`: model to what is known of its responses where they were made elsewhere (`compass score`), empty
    where they were sampled here. `prompts`: responses to other prompts, `memorised`: what
    `compass memorised` found, None where there is neither.
    """

    folder: Path
    results: Results
    parameters: Mapping[str, Any] = field(default_factory=dict)
    profile_parameters: Mapping[str, Any] | None = None
    times: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    commit: Mapping[str, str] = field(default_factory=dict)
    samples: pa.Table | None = None
    problems: pa.Table | None = None
    setups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    comparisons: Mapping[str, Any] = field(default_factory=dict)
    verifier: Mapping[str, Any] = field(default_factory=dict)
    prompts: pa.Table | None = None
    memorised: pa.Table | None = None
    outdated_by: Sequence[str] = ()
    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The folder's name, for people."""
        return self.folder.resolve().name

    @property
    def title(self) -> str:
        """The heading of its page: whose responses they are where they were made elsewhere, else the folder's name."""
        if not self.given:
            return f"Report of {self.name}"
        return f"Responses of {' and '.join(self.models) if len(self.models) < 3 else f'{len(self.models)} models'}"

    @property
    def models(self) -> list[str]:
        """The models that were scored, in the order of training."""
        return list(self.results.scores)

    @property
    def scores(self) -> pandas.DataFrame:
        """A row per model and benchmark (or "average"): columns `model`, `benchmark` and what evaluation measured, such as `accuracy`
        (a fraction from 0 to 1) and its interval `ci95`; no rows before evaluation.

        Raises:
            ImportError: pandas is not installed; the message names the extra.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ImportError("pandas is not installed; pip install 'compass-thinker[score]'") from error
        rows = [
            {"model": model, "benchmark": benchmark} | measured
            for model, benchmarks in self.results.scores.items()
            for benchmark, measured in benchmarks.items()
        ]
        return pandas.DataFrame(rows, columns=None if rows else ["model", "benchmark"])

    @property
    def latest(self) -> Mapping[str, Any]:
        """The times of the stage that ran last, with the machine and the packages; empty where none was timed."""
        return max(self.times.values(), key=lambda fact: fact.get("started", ""), default={})

    @property
    def profile(self) -> str:
        """The profile's name; empty where there are no parameters."""
        return str(self.parameters.get("profile", ""))

    @cached_property
    def items(self) -> list[Item]:
        """Every problem with each model's tally; empty without samples."""
        return tally(self.samples, self.problems) if self.samples is not None else []

    @cached_property
    def missing_figures(self) -> dict[str, str]:
        """What a problem says of a figure that its text does not hold, by the problem's id; drawing code counts as a figure."""
        from compass.curation.noise.figure import figure
        from compass.curation.noise.finding import Strength
        from compass.settings import Denoise

        kept, marks = Denoise(drawing_code="keep"), {}
        for row in self.problems.to_pylist() if self.problems is not None else ():
            found = figure(row, kept) if row.get("problem") else None
            if found and found.strength != Strength.POSSIBLE:
                marks[row["id"]] = found.evidence["text"]
        return marks

    @cached_property
    def changed(self) -> list[tuple[str, str, str]]:
        """Settings that differ from the profile: name, the profile's value, the run's."""
        return changed_rows(self.profile_parameters, self.parameters) if self.profile_parameters else []

    def pair(self, model: str, other: str) -> Mapping[str, Any] | None:
        """The comparison of `model` with `other`, as `compass.evaluation.comparisons` has it; None where there is none."""
        pairs = self.comparisons.get("pairs", [])
        return next((pair for pair in pairs if (pair["model"], pair["other"]) == (model, other)), None)


def read_run(folder: str | Path = ".", *, rl_stages: list[str] | None = None) -> Run:
    """Read a run's folder, or an evaluation's.

    Args:
        folder: a repository's root, a copy of `metrics/` and `data/`, or a folder with `samples.parquet`.
        rl_stages: as in `read_results`; None takes those of the run's own parameters.

    Raises:
        UserError: it is neither, or a file cannot be read; the message says what a run's folder holds.
    """
    folder = Path(folder)
    if (folder / "samples.parquet").exists():
        return _read_evaluation(folder)
    if not (folder / "metrics").is_dir():
        raise UserError(
            f"{folder}: neither a run (no metrics/) nor an evaluation (no samples.parquet); give the folder that `compass run` ran in, "
            "a copy of its metrics/ and data/, or what `compass evaluate` or `compass score --out` wrote"
        )
    parameters = read_values(path) if (path := folder / "params.yaml").exists() else {}
    stages = rl_stages if rl_stages is not None else list(parameters.get("rl", {}).get("stages", {})) or None
    results = read_results(folder, stages)
    profile = folder / "profiles" / f"{parameters.get('profile')}.yaml"
    primary = parameters.get("report", {}).get("primary") or None
    # Those of the run: stages of another profile left theirs in the same folder, and so did a later run of a result from the cache.
    own = {name: folder / "metrics" / f"{name}.json" for name in (*results.summaries, "evaluate")}
    times = {
        name: fact
        for name, fact in read_times(folder).items()
        if name in own and own[name].exists() and fact.get("result") in (None, file_digest(own[name]))
    }
    evaluated = _evaluated(folder / "data" / "evaluate", int(parameters.get("seed", 0)), primary)
    if "samples" in evaluated:
        evaluated["verifier"] = error_of_run(folder / "data", folder / "labels") or {}
    return Run(
        folder,
        results,
        parameters,
        read_values(profile) if profile.exists() else None,
        times,
        find_commit(times),
        outdated_by=Graph(folder).changed_since("evaluate"),
        **evaluated,
    )


def find_commit(times: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The commit that the stages before the report ran at, and whether one ran with changes that it does not hold.

    Args:
        times: as `compass.runs.stage_times.read_times` gives them.

    Returns:
        `commit`, where stages ran at several each with its stages behind it in brackets, and `dirty`, "true" or "false"; empty
        where no stage recorded one.
    """
    stages: dict[str, list[str]] = {}
    made = {stage: fact for stage, fact in times.items() if stage != "report" and "commit" in fact}
    for stage, fact in sorted(made.items(), key=lambda item: item[1].get("started", "")):
        stages.setdefault(fact["commit"], []).append(stage)
    if not stages:
        return {}
    named = [f"{commit} ({', '.join(those)})" if len(stages) > 1 else commit for commit, those in stages.items()]
    dirty = any(fact.get("dirty") == "true" for fact in made.values())
    return {"commit": "; ".join(named), "dirty": str(dirty).lower()}


def changed_rows(a: Mapping[str, Any] | None, b: Mapping[str, Any] | None) -> list[tuple[str, str, str]]:
    """The `differences` of two parameter files as rows: name, value in `a`, value in `b`."""
    rows = [(one.name, one.before, one.after) for one in differences(a or {}, b or {})]
    return [
        (name, *(DEFAULT if value == ABSENT else value for value in values))
        for name, *values in rows
        if not set(values) <= EMPTY
    ]


def name_runs(runs: Sequence[Run]) -> list[str]:
    """The folders' names, with as many of the folders above as tell them apart, and numbers where nothing does."""
    parts = [run.folder.resolve().parts for run in runs]
    for count in range(1, max(map(len, parts)) + 1):
        names = ["/".join(one[-count:]) for one in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{run.name} ({number})" for number, run in enumerate(runs, 1)]


def list_problems(runs: Sequence[Run]) -> list[set[tuple[str, ...]]]:
    """What each run was asked, so that one problem of several runs is the same entry: benchmark, id, and text and gold where all runs have them.

    Benchmarks that are generated give other problems the same ids with every seed.

    Args:
        runs: each with its problems or its responses.
    """
    columns, problems = ["benchmark", "id"], [run.problems for run in runs if run.problems is not None]
    if len(problems) == len(runs):
        columns += [name for name in ("problem", "answer") if not any(table[name].null_count for table in problems)]
    tables = [run.problems if run.problems is not None else run.samples for run in runs]
    return [
        set(zip(*(table[name].to_pylist() for name in columns), strict=True)) for table in tables if table is not None
    ]


def _read_evaluation(folder: Path) -> Run:
    seen = _evaluated(folder, 0)
    path = next((folder / name for name in SCORES if (folder / name).exists()), None)
    if path:
        scores = read_json(path)
        scores = scores.get("models", scores)
    else:
        from compass.evaluation.evaluate import summarise

        scores = summarise(seen["samples"], seen["comparisons"], clusters=read_clusters(seen.get("problems")))
    seen["verifier"] = error_of_run(folder, folder / "labels") or {}
    times = {"evaluate": read_json(folder / "time.json")} if (folder / "time.json").exists() else {}
    given = read_json(folder / GIVEN) if (folder / GIVEN).exists() else {}
    return Run(folder, Results(scores=scores), times=times, given=given, **seen)


def _evaluated(folder: Path, seed: int, primary: Sequence[str] | None = None) -> dict[str, Any]:
    """What evaluation wrote into a folder; comparisons are made of the samples where there are none, and where another pair decides than they say.

    Raises:
        RecordError: the responses lack a column; the message names it.
    """
    tables = {name: folder / f"{name}.parquet" for name in ("samples", "problems", "prompts", "memorised")}
    found: dict[str, Any] = {name: read_table(path) for name, path in tables.items() if path.exists()}
    for name in ("setups", "comparisons"):
        if (path := folder / f"{name}.json").exists():
            found[name] = read_json(path)
    if "samples" not in found:
        return found
    if lacking := [name for name in NEEDED if name not in found["samples"].column_names]:
        raise RecordError(f"{tables['samples']}: lacks the columns {', '.join(lacking)}; evaluate again")
    if "problems" in found and "similar" not in found["problems"].column_names:
        raise RecordError(f"{tables['problems']}: lacks the column similar; evaluate again")
    known = found.get("comparisons", {})
    if not known or (primary and known.get("primary") != list(primary)):
        clusters = read_clusters(found.get("problems"))
        found["comparisons"] = compare_models(
            found["samples"], seed=seed, primary=primary, clusters=clusters, looks=known.get("looks")
        )
    return found
