"""A study's runs: every arm with every seed, one after another through `flows.run`, each kept in `studies/results/NAME.json`.

A run that is there with the settings and the model that the study asks for is done; all others stay in the file. So a study that was
stopped or killed goes on with the run where it was, which itself goes on where its stages were; what arms share comes from DVC's cache.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from compass.checks.before_run import find_problems
from compass.checks.finding import format_findings
from compass.durations import duration
from compass.errors import UserError
from compass.files import file_digest, write_text
from compass.locks import read_turn
from compass.plan.forecast import Known, count_generated, forecast
from compass.plan.hardware import find_machine
from compass.report.results import read_results
from compass.runs.progress import read_progress
from compass.runs.repository import git_state
from compass.settings import Settings
from compass.settings.load import check_values, parse_values, read_text, read_values
from compass.settings.recipe_checks import without_effect
from compass.settings.rl import list_course
from compass.settings.section import Section
from compass.studies.study import FOLDER, RESULTS, Study, find_model, list_measures
from flows.overrides import FILE, change_text, check_edits, find_parameters
from flows.run import RunRequest, RunResult, find_free_name, list_experiments
from stages._deps import fit_graph, is_committed
from stages._rl_entries import filter_deps, reward_deps

CURVES = ("accuracy", "entropy", "response_tokens", "left_out", "clipped", "kl")
"""What is kept of every iteration, as far as all stages measure it."""

WRITTEN = (FILE, "dvc.yaml", RESULTS.as_posix())
"""Tracked files that every study changes: their changes say nothing of the code, but for edits of dvc.yaml that no parameter asks for."""

WITHOUT_SCORES: Any = {
    "rl": True,  # each stage of it by itself
    "profile": True,
    "engines": True,
    "curation": {"warn_share"},
    "report": {"title", "viewer_megabytes"},
}
"""Settings that change no score, as pydantic's `exclude`."""

Start = Callable[[RunRequest], tuple[int, RunResult | None]]
"""Starts a run; returns its exit status, and what it did where it ended well."""


@dataclass(frozen=True)
class Planned:
    """One training run of a study."""

    arm: str
    seed: int
    overrides: Mapping[str, Any]
    """What differs from the profile."""
    values: Mapping[str, Any]
    """The parameter file that the run has."""
    settings: Settings
    model: str
    """The model that is compared."""
    code: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each file of the user's functions that the settings name: rewards and noise filters."""

    @property
    def digest(self) -> str:
        """Of the model and of what its scores depend on: a run with another digest is another run."""
        told = _effective_settings(self.settings, self.model)
        if self.code:
            told += json.dumps(self.code, sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()[:16]


def plan_runs(name: str, study: Study, root: Path) -> list[Planned]:
    """Every run of a study, seed by seed, so that all arms have a run of the first seeds early.

    Raises:
        UserError: the profile, a setting or a value is none, an arm equals another, or the model or measure is none.
    """
    path, text, planned = root / FOLDER / f"{name}.yaml", read_text(find_parameters(root, study.profile)), []
    arms: dict[str, dict[str, Any]] = {}
    code: dict[str, dict[str, str]] = {}
    for seed in study.seeds:
        for arm, own in study.arms.items():
            overrides = {**study.settings, **own, "seed": seed}
            try:
                if arm not in arms:
                    arms[arm] = parse_values(change_text(text, overrides)[0])
                values = {**arms[arm], "seed": seed}
                settings = check_values(values)
            except UserError as error:
                raise UserError(f"{path}: arm {arm}: {str(error).replace(f'{FILE}: ', '')}") from None
            try:
                model = find_model(study, settings)
            except UserError as error:
                raise UserError(f"{path}: {error} (arm {arm})") from None
            if arm not in code:
                code[arm] = _digest_code(settings, model, root)
            planned.append(Planned(arm, seed, overrides, values, settings, model, code[arm]))
    first: dict[str, str] = {}
    for one in planned[: len(study.arms)]:
        if one.digest in first:
            raise UserError(
                f"{path}: the arms {first[one.digest]} and {one.arm} have the same settings, or differ only in such as do nothing with their "
                f"other settings or for {one.model}, which is compared; change or remove one"
            )
        first[one.digest] = one.arm
    return planned


def _digest_code(settings: Settings, model: str, root: Path) -> dict[str, str]:
    """Of each file in the repository that holds a function which the settings name and a model's scores depend on: its SHA-256."""
    rewards, course = reward_deps(settings, root), _list_course(settings, model)
    paths = {*(rewards[name] for name in course), *filter_deps(settings, root)} - {""}
    return {path: file_digest(root / path) for path in sorted(paths)}


def _list_course(settings: Settings, model: str) -> list[str]:
    return list_course({name: stage.init_from for name, stage in settings.rl.stages.items()}, model)


def _effective_settings(settings: Settings, model: str) -> str:
    """A model and the settings that its scores depend on.

    Left out are RL stages that do not lead to the model, the mixes of those after it, what a stage's other settings switch off (`lora.alpha`
    without LoRA), `WITHOUT_SCORES`, and settings at their default: one that a later version adds makes no run another one. A default that a
    version changes is a change of code, and the commit that is kept with each run tells it.
    """
    course = {name: settings.rl.stages[name] for name in _list_course(settings, model)}
    stages = {name: _list_changed(stage, without_effect(stage)) for name, stage in course.items()}
    names = list(settings.rl.stages)  # a stage before the model may take problems that its stages then lack
    after = set(names[names.index(model) + 1 :]) if model in names else set()
    without = WITHOUT_SCORES | {"curriculum": {"mixes": after}}
    return json.dumps([model, _list_changed(settings, without), stages], sort_keys=True)


def _list_changed(section: Section, without: Any) -> dict[str, Any]:
    """A section's settings that are not at their default; without groups of which none is left, as one that is new would be."""
    values = section.model_dump(mode="json", exclude=without, exclude_defaults=True)
    return {name: value for name, value in values.items() if value != {}}


def check_runs(name: str, planned: list[Planned], root: Path) -> None:
    """Check everything that can be checked of every run before the first starts.

    Raises:
        UserError: a run could not end well, or `params.yaml` holds edits that the study would overwrite.
    """
    for one in {one.arm: one for one in planned}.values():
        if found := find_problems(root, one.settings):
            raise UserError(f"{root / FOLDER / f'{name}.yaml'}: arm {one.arm}:\n{format_findings(found)}")
    if read_values(root / FILE) not in [one.values for one in planned]:
        check_edits(planned[0].settings.profile, root)


def read_runs(name: str, root: Path) -> list[dict[str, Any]]:
    """The runs that `studies/results/NAME.json` holds; none where it does not exist.

    Raises:
        UserError: the file is not what `run_study` writes.
    """
    path = root / RESULTS / f"{name}.json"
    if not path.exists():
        return []
    try:
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
        assert all({"arm", "seed", "digest"} <= set(run) for run in runs)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:
        raise UserError(f"{path}: holds no results of a study ({error}); restore it, or move it away") from None
    return runs


def find_done(planned: list[Planned], runs: list[dict[str, Any]]) -> list[tuple[Planned, dict[str, Any] | None]]:
    """Every planned run with its result; None where it has none with these settings."""
    kept = {(run["arm"], run["seed"], run["digest"]): run for run in runs}
    return [(one, kept.get((one.arm, one.seed, one.digest))) for one in planned]


def count_others(planned: Sequence[Planned], runs: Sequence[Mapping[str, Any]]) -> int:
    """How many of a study's kept runs are none of the planned ones: they have other settings, another model, or an arm or seed that is gone."""
    asked = {(one.arm, one.seed, one.digest) for one in planned}
    return sum((run["arm"], run["seed"], run["digest"]) not in asked for run in runs)


def find_running(done: Sequence[tuple[Planned, Mapping[str, Any] | None]], root: Path) -> Planned | None:
    """The run that is under way: the first without a result whose values `params.yaml` holds, while somebody works on the results.

    Args:
        done: every planned run with its result, as of `find_done`.
        root: the repository's root.
    """
    if read_turn(root) is None:
        return None
    values = read_values(root / FILE)
    return next(
        (one for one, result in done if (result is None or result.get("failed")) and one.values == values), None
    )


def estimate_seconds_left(done: Sequence[tuple[Planned, Mapping[str, Any] | None]], root: Path) -> float | None:
    """Seconds that the runs without a result, and those that failed, will take: by the forecast of `compass plan`, times how much longer
    than theirs the stages of the others took. What arms share counts once per seed. None where the number of problems is not known before
    curation.

    Args:
        done: every planned run with its result, as of `find_done`.
        root: where model folders are looked for.
    """
    machine, planned, begun = find_machine(), [one for one, _ in done], set()
    left, forecasted, took = 0.0, 0.0, 0.0
    for one, result in done:
        if (rows := count_generated(one.settings)) is None:
            return None
        stages = _own_stages(planned, one.settings) if one.seed in begun else None
        begun.add(one.seed)
        found = forecast(one.settings, machine, Known(rows), root).stages
        seconds = 3600 * sum(stage.hours[1] for stage in found if stages is None or stage.name in stages)
        if result is None or result.get("failed"):
            left += seconds
        elif ran := sum(3600 * stage.hours[1] for stage in found if stage.name in result.get("ran", ())):
            forecasted, took = forecasted + ran, took + result["seconds"]  # what came from a cache is in neither
    return left * took / forecasted if forecasted else left


def _own_stages(planned: Sequence[Planned], settings: Settings) -> set[str]:
    """The stages of a forecast that each arm runs for itself: those that read a section in which the arms' settings differ."""
    first = planned[0].settings
    sections = Settings.model_fields.keys() - {"seed"}
    differ = {name for one in planned for name in sections if getattr(one.settings, name) != getattr(first, name)}
    data = {"curation", "collect", "dedup", "denoise"}
    own = {"evaluate"}
    if differ != {"evaluate"}:
        own |= set(settings.rl.stages)
    if differ & {"base", "grade", *data}:
        own.add("grade")
    if differ & {"base", *(data if settings.base.warm_start else ())}:
        own.add("base")
    return own


def run_study(name: str, study: Study, root: Path, *, start: Start, show: Callable[[str], object]) -> int:
    """Run what a study still lacks, one run after another.

    A run that fails, as by a guard, is passed over, and tried again by the next call. `params.yaml` holds the values of each run meanwhile,
    and the study's profile afterwards.

    Args:
        name: the study's.
        study: its file.
        root: the repository's root.
        start: starts a run.
        show: gets a line per run.

    Returns:
        0 where every run has its result; 3 where one failed; else the status of the run that was stopped.

    Raises:
        UserError: the study cannot run; nothing has been started.
    """
    root = root.resolve()
    planned = plan_runs(name, study, root)
    check_runs(name, planned, root)
    kept = read_runs(name, root)
    failed, done = 0, find_done(planned, kept)
    if others := count_others(planned, kept):
        show(f"{others} kept runs have other settings and do not count here; they stay in {RESULTS / f'{name}.json'}")
    lacking = sum(result is None or result.get("failed") for _, result in done)
    if lacking and (left := estimate_seconds_left(done, root)) is not None:
        took = any(result and not result.get("failed") for _, result in done)
        source = "the runs that ended" if took else "the forecast of `compass plan`, on an idle machine"
        show(f"{lacking} of {len(planned)} runs to train, about {duration(left)} by {source}")
    try:
        for number, (one, result) in enumerate(done, 1):
            if result and not result.get("failed"):
                continue
            show(f"run {number} of {len(planned)}: {one.arm}, seed {one.seed}")
            experiment = find_free_name(root, f"{name}-{one.arm}-{one.seed}")
            began, clock = datetime.now(UTC), time.monotonic()
            # Whole runs: the report's headline is what DVC shows of an experiment, and would else stay that of another run.
            request = RunRequest(overrides=one.overrides, name=experiment, profile=study.profile, keep_edits=False)
            status, ended = start(request)
            if status not in (0, 3):
                show(f"stopped; `compass study run {name}` goes on where it was")
                return status
            facts: dict[str, Any] = {"arm": one.arm, "seed": one.seed, "digest": one.digest, "model": one.model}
            facts["failed"] = ended is None
            # At once: the turn is given back, and the next run writes over these files.
            measured = measure_run(root, one.settings, one.model) if ended else {}
            seconds = time.monotonic() - clock if ended is None else ended.seconds  # without the wait for its turn
            facts |= {"started": began.isoformat(timespec="seconds"), "seconds": round(seconds)}
            facts |= {"settings": dict(one.overrides), **_read_commit(root, one.settings)}
            if ended is None:
                failed += 1
                facts["failure"] = _find_failure(root, began.timestamp())
            else:
                facts |= {"ran": list(ended.ran), "restored": list(ended.restored), **measured}
                facts["experiment"] = experiment if experiment in list_experiments(root) else None
            _keep(name, root, facts)
    finally:
        _put_back_profile(study, planned, root)
    return 3 if failed else 0


def _read_commit(root: Path, settings: Settings) -> dict[str, str]:
    """The commit of a run, and whether anything but what its parameters ask for is changed since."""
    state = git_state(root, without=WRITTEN)
    return state | {"dirty": "true"} if state and not is_committed(root, settings) else state


def _put_back_profile(study: Study, planned: Sequence[Planned], root: Path) -> None:
    """Put a study's profile in force in place of a run's values, where nobody runs anything now: the files are then another's."""
    if read_turn(root) is not None:
        return
    try:
        is_own = read_values(root / FILE) in [one.values for one in planned]
    except UserError:  # edited meanwhile; the error on its way out is the one to show
        return
    if is_own:
        write_text(root / FILE, read_text(find_parameters(root, study.profile)))
        fit_graph(root)


def _find_failure(root: Path, since: float) -> str:
    """Which stage failed or was killed last since then (seconds since 1970), and the first line of why; empty where none did."""
    ended = [one for one in read_progress(root).values() if one.state in ("failed", "killed") and one.updated >= since]
    last = max(ended, key=lambda one: one.updated, default=None)
    return f"{last.stage}: {last.error.removeprefix(f'{last.stage}: ') or last.state}" if last else ""


def measure_run(root: Path, settings: Settings, model: str) -> dict[str, Any]:
    """What the outputs in a folder say of a model.

    Returns:
        `scores`, `base` (the base's score by each measure, where it was evaluated) and `response_tokens` (the length of its responses), on average over all benchmarks; `benchmarks`, its accuracy on each, and `base_benchmarks`, the base's; `training`, what its RL stages took (`seconds`, `tokens` sampled); `curves` over their iterations.
    """
    stages = _list_course(settings, model)
    found = read_results(root, stages)
    curves: dict[str, list[float]] = {}
    training = {"seconds": 0.0, "tokens": 0}
    for stage in stages:
        for name in CURVES:
            if all(name in found.curves[one] for one in stages):
                curves.setdefault(name, []).extend(round(value, 5) for value in found.curves[stage][name])
        facts = found.summaries[stage]["metrics"]
        training["seconds"] += facts["seconds_per_step"] * facts["steps"]
        training["tokens"] += found.tokens[stage]
    average = found.scores[model]["average"]
    scores = {name: average[name] for name in list_measures(settings)}
    base = found.scores.get("base", {}).get("average", {})
    return {
        "scores": scores,
        "base": {name: base[name] for name in scores if name in base},
        "benchmarks": _accuracies(found.scores[model]),
        "base_benchmarks": _accuracies(found.scores.get("base", {})),
        "response_tokens": average["length"],
        "training": {name: round(value) for name, value in training.items()},
        "curves": curves,
    }


def _accuracies(scored: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    return {name: round(scores["accuracy"], 5) for name, scores in scored.items() if name != "average"}


def _keep(name: str, root: Path, facts: Mapping[str, Any]) -> None:
    """Add a run to the study's results, in the place of an earlier one of the same arm, seed and digest."""
    key = ("arm", "seed", "digest")
    others = [run for run in read_runs(name, root) if any(run[part] != facts[part] for part in key)]
    lines = ",\n".join(json.dumps(run, ensure_ascii=False) for run in [*others, facts])
    write_text(root / RESULTS / f"{name}.json", f'{{"study": {json.dumps(name)}, "runs": [\n{lines}\n]}}\n')
