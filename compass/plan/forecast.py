"""A run's stages before it starts: responses, tokens, FLOPs, memory and hours, each with a range over what is assumed.

What is known is taken from the settings, from the benchmarks' table and from the last run in this folder (`metrics/`, `work/times/`); what
is not is assumed, and listed. The range is the spread of the forecast over low and high values of what is assumed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compass.base.resolve import ModelError, fill_in
from compass.durations import duration
from compass.evaluation.benchmarks import BENCHMARKS
from compass.plan.hardware import Machine, sampling_speed, training_speed
from compass.plan.memory import find_sampling_shortage, find_training_shortage, sampling_parts, training_parts
from compass.plan.shape import Shape, grader_shape, policy_shape
from compass.plan.speed import FORWARD, WEIGHTS_S, WITH_RECOMPUTATION, Load, sampling_seconds, training_seconds
from compass.runs.stage_times import read_times
from compass.settings import RlStage, Sampling, Settings
from compass.settings.recipe import Rollout

START_S = {"base": 60, "grade": 40, "rl": 40, "evaluate": 30}
"""Seconds on two idle cores that a stage takes before it does its work."""

GPU_START_S = 180
"""Seconds that engines and trainers of billions of parameters take to load and compile; assumed."""

PROMPT_TOKENS = 130
"""Mean tokens of a problem with its instruction, in the papers' sets; assumed where nothing was measured."""

OTHER_ITEMS = 300
"""Problems of a benchmark that nothing counted and that is not in the table; assumed."""

PRETRAIN_S = 90.0
"""Seconds of pre-training the tiny policy on two idle cores."""

SOLUTION_TOKENS = 100
"""Tokens of a problem and a worked solution in a warm start; assumed."""


@dataclass(frozen=True)
class Scenario:
    """Values of what is assumed: a response's mean share of its limit, utilisation while training, and batches per batch of mixed groups."""

    share: float
    mfu: float
    batches: float


LOW, MIDDLE, HIGH = Scenario(0.15, 0.5, 1.0), Scenario(0.3, 0.35, 1.5), Scenario(0.5, 0.3, 2.5)
"""Short responses and full use of GPUs; what published runs of 7B models report; long responses, few mixed groups."""


Range = tuple[float, float, float]
"""Low, middle and high."""


@dataclass(frozen=True)
class StageForecast:
    """What one stage takes."""

    name: str
    responses: int
    tokens: float
    """Sampled tokens."""

    pflops: float
    """10^15 FLOPs, of sampling and of training."""

    memory_gb: float | None
    """Per GPU at its peak; None on a CPU."""

    hours: Range


@dataclass(frozen=True)
class Input:
    """What a forecast is made from: the stage, empty for all; what, its value, and where it is from: `setting`, `configuration`, `measured`,
    `assumed`, or `left out`."""

    stage: str
    what: str
    value: str
    source: str


@dataclass(frozen=True)
class Shortage:
    """What does not fit: the stage, what it lacks, and the setting that mends it."""

    stage: str
    found: str
    remedy: str


@dataclass
class Forecast:
    """A run's stages, what does not fit with the setting that mends it, and what was assumed or measured."""

    machine: Machine
    stages: list[StageForecast] = field(default_factory=list)
    shortages: list[Shortage] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)


@dataclass(frozen=True)
class Known:
    """What the last run in this folder measured, or the user says; None where neither does."""

    rows: int | None = None
    """Problems that curation leaves."""

    rows_from: str = "measured"
    """Where `rows` is from: `measured` in the last run, or `setting`."""

    response: dict[str, float] = field(default_factory=dict)
    """Mean tokens of a response by stage."""

    groups_used: dict[str, float] = field(default_factory=dict)
    """Share of sampled groups that were mixed, by RL stage."""

    graded: int | None = None
    """Problems that the last run graded."""

    items: Mapping[str, int] = field(default_factory=dict)
    """Problems by benchmark, as counted."""

    took: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What the last run of a stage took here, as `compass.runs.stage_times` records it."""


def count_generated(settings: Settings) -> int | None:
    """Training problems that the pipeline generates itself; None where it reads files."""
    return 5 * settings.collect.generate.problems_per_level if settings.collect.generate else None


def read_known(root: Path) -> Known:
    """What `metrics/` of a folder tells; empty where nothing ran in it."""

    def metrics(stage: str) -> dict[str, Any]:
        try:
            return json.loads((root / "metrics" / f"{stage}.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    response, used = {}, {}
    for path in sorted((root / "metrics").glob("rl*.json")):
        measured = metrics(path.stem).get("metrics") or {}
        if "response_tokens_first" in measured:
            response[path.stem] = (measured["response_tokens_first"] + measured["response_tokens_last"]) / 2
        if measured.get("groups_used"):
            used[path.stem] = measured["groups_used"]
    grading = metrics("grade").get("metrics") or {}
    if tokens := grading.get("tokens"):
        response["grade"] = tokens
    scores = [
        (one["length"], one.get("problems", 1) * one.get("samples", 1))
        for model in (metrics("evaluate").get("models") or {}).values()
        for name, one in model.items()
        if name != "average" and "length" in one
    ]
    if count := sum(responses for _, responses in scores):
        response["evaluate"] = sum(length * responses for length, responses in scores) / count
    rows, graded = metrics("denoise").get("kept"), grading.get("graded")
    items = (metrics("collect").get("metrics") or {}).get("benchmarks") or {}
    return Known(rows, response=response, groups_used=used, graded=graded, items=items, took=read_times(root))


def _say_taken(facts: Mapping[str, Any]) -> str:
    """What a stage's last run took, of `compass.runs.stage_times`."""
    words = [duration(facts["seconds"])]
    if "cpu_seconds" in facts:
        words += [f"{duration(facts['cpu_seconds'])} of CPU time", f"{facts['peak_memory_gb']:.1f} GB of memory"]
    machine = facts.get("machine", {})
    gpus = machine.get("gpus") or []
    where = f"{len(gpus)} x {gpus[0]}" if gpus else f"{machine.get('cores', '?')} CPU cores"
    return f"{', '.join(words)} on {where}"


def forecast(settings: Settings, machine: Machine, known: Known, root: Path) -> Forecast:
    """The forecast of a whole run.

    Args:
        settings: the parameters.
        machine: what it would run on.
        known: what is known besides the settings; `rows` is needed.
        root: where model folders are looked for.

    Raises:
        ValueError: `known` has no rows.
    """
    if known.rows is None:
        raise ValueError("the number of problems is not known")
    plan = Forecast(machine)
    policy, grader = policy_shape(settings, root), grader_shape(settings, root)
    plan.inputs.append(Input("", "hardware", str(machine), "setting" if machine.gpu else "measured"))
    graded_by = settings.base.model if settings.grade.model == "models/base" else settings.grade.model
    for name, shape, model in (("policy", policy, settings.base.model), ("grader", grader, graded_by)):
        value = _say_size(shape.parameters) if shape else _say_unknown(model)
        plan.inputs.append(Input("", name, value, "configuration" if shape else "left out"))
    graded = min(known.rows, settings.grade.max_problems or known.rows)
    plan.inputs.append(Input("", "problems graded", f"{graded:,}", known.rows_from))
    if policy:
        _add_base(plan, settings, policy)
    if shape := grader or policy:
        count = graded * settings.grade.rollouts
        _add_sampling(plan, "grade", (count, count, count), shape, settings, known)
    if policy:
        for name, stage in settings.rl.stages.items():
            _add_training(plan, name, stage, policy, known)
        _add_evaluation(plan, settings, policy, known)
    for one in plan.stages:
        if facts := known.took.get(one.name):
            taken = _say_taken(facts)
            # Of the stages here grading alone grows with the rows.
            if one.name == "grade" and known.graded and known.graded != graded:
                scaled = duration(facts["seconds"] * graded / known.graded)
                taken += f"; in proportion {scaled} for {graded:,} problems in place of {known.graded:,}"
            plan.inputs.append(Input(one.name, "the last run here took", taken, "measured"))
    plan.inputs.append(
        Input("", "use of a GPU while training", f"{MIDDLE.mfu:.0%} ({HIGH.mfu:.0%} to {LOW.mfu:.0%})", "assumed")
    )
    return plan


def _say_unknown(model: str) -> str:
    """Why the shape of a model is not known."""
    try:
        fill_in(model, os.environ)
    except ModelError as error:
        return f"not known: {error}"
    return "not known before it is downloaded"


def _say_size(parameters: int) -> str:
    unit, name = (1e9, "billion") if parameters >= 1e9 else (1e6, "million")
    return f"{parameters / unit:.3g} {name} parameters"


def expect_lengths(limit: int, measured: float | None) -> Range:
    """A response's mean tokens: as measured, give or take a tenth, else as a share of the limit that the scenarios assume."""
    if measured:
        return min(limit, 0.9 * measured), min(limit, measured), min(limit, 1.1 * measured)
    return LOW.share * limit, MIDDLE.share * limit, HIGH.share * limit


def _note_lengths(plan: Forecast, stage: str, limit: int, known: Known) -> Range:
    measured = known.response.get(stage)
    low, middle, high = lengths = expect_lengths(limit, measured)
    shown = f"{measured or middle:,.0f} tokens" + ("" if measured else f" ({low:,.0f} to {high:,.0f} of {limit:,})")
    plan.inputs.append(Input(stage, "mean response", shown, "measured" if measured else "assumed"))
    return lengths


def start_seconds(machine: Machine, kind: str) -> float:
    """Seconds before a stage of a kind of `START_S` does its work."""
    return GPU_START_S if machine.gpu else START_S[kind]


def _make_load(machine: Machine, responses: float, length: float, limit: int) -> Load:
    return Load(responses, PROMPT_TOKENS if machine.gpu else 0, length, limit)


def _seconds_to_sample(machine: Machine, shape: Shape, load: Load, *, split: int, memory: float) -> float:
    """Seconds to sample a load: on GPUs with engines that are split over `split` of them and take a share `memory` of each, or on a CPU."""
    if machine.gpu is None:
        return load.tokens / sampling_speed(shape.parameters, machine.cores)
    return sampling_seconds(load, shape, machine.gpu, machine.gpus, split=split, memory=memory)


def sampling_hours(
    machine: Machine,
    shape: Shape,
    responses: Range,
    lengths: Range,
    *,
    limit: int,
    start: float,
    models: int = 1,
    split: int = 1,
    memory: float = 0.85,
) -> Range:
    """Hours that engines take to sample, as grading and evaluation have them.

    Args:
        machine: what they run on, all of its GPUs together.
        shape: the models'.
        responses: of all models together.
        lengths: mean tokens of a response.
        limit: on a response's tokens.
        start: seconds before it samples.
        models: sampled one after another.
        split: GPUs per engine (tensor parallel).
        memory: share of a GPU's memory for the engine.
    """

    def hours(count: float, length: float) -> float:
        load = _make_load(machine, count / models, length, limit)
        return (start + models * _seconds_to_sample(machine, shape, load, split=split, memory=memory)) / 3600

    low, middle, high = map(hours, responses, lengths)
    return low, middle, high


def _add_base(plan: Forecast, settings: Settings, shape: Shape) -> None:
    """The policy's own training before RL, if it has any."""
    warm = settings.base.warm_start
    if not (settings.base.pretrain or warm):
        return
    tokens = warm.steps * warm.batch_size * SOLUTION_TOKENS if warm else 0
    flops = 6 * shape.matrix_parameters * tokens
    if settings.base.pretrain:
        seconds = PRETRAIN_S * 2 / plan.machine.cores
    elif plan.machine.gpu:
        seconds = flops / (plan.machine.gpu.tflops * 1e12 * MIDDLE.mfu) + GPU_START_S
    else:
        seconds = tokens / training_speed(shape.parameters, plan.machine.cores) + START_S["base"]
    hours = 0.7 * seconds / 3600, seconds / 3600, 1.6 * seconds / 3600
    plan.stages.append(StageForecast("base", 0, 0.0, flops / 1e15, None, hours))


def _find_engine_gpus(settings: Settings, machine: Machine, split: int) -> int:
    """GPUs on which `grade` or `evaluate` sample: those of one node, or of as many engines as the settings name."""
    engines, nodes = settings.engines, max((stage.resources.nodes for stage in settings.rl.stages.values()), default=1)
    here = machine.gpus if engines.address else machine.gpus // nodes
    return min(here, engines.count * split) if engines.count else here


def _add_sampling(
    plan: Forecast,
    name: str,
    responses: Range,
    shape: Shape,
    settings: Settings,
    known: Known,
    *,
    models: int = 1,
) -> None:
    """A stage that samples with engines of its own, `grade` or `evaluate`."""
    sampling: Sampling = getattr(settings, name).sampling
    gpu, limit, split = plan.machine.gpu, sampling.max_tokens, sampling.tensor_parallel
    lengths = _note_lengths(plan, name, limit, known)
    start = start_seconds(plan.machine, name) * (models if gpu else 1)
    hours = sampling_hours(
        replace(plan.machine, gpus=_find_engine_gpus(settings, plan.machine, split)),
        shape,
        responses,
        lengths,
        limit=limit,
        start=start,
        models=models,
        split=split,
        memory=sampling.memory,
    )
    memory = None
    if gpu:
        parts = sampling_parts(shape, split=split, length=sampling.max_model_len, dtype=sampling.dtype)
        memory = max(sampling.memory * gpu.memory_gb, sum(parts.values()))
        if short := find_sampling_shortage(name, sampling, shape, gpu):
            plan.shortages.append(Shortage(name, *short))
    load = _make_load(plan.machine, responses[1], lengths[1], limit)
    flops = 2 * shape.matrix_parameters * load.responses * (load.prompt + load.mean)
    plan.stages.append(StageForecast(name, round(load.responses), load.tokens, flops / 1e15, memory, hours))


def _note_batches(plan: Forecast, name: str, rollout: Rollout, known: Known) -> Range:
    """Batches that are sampled per iteration, which dynamic sampling repeats until enough groups are mixed."""
    if not rollout.dynamic_sampling:
        return 1.0, 1.0, 1.0
    used = known.groups_used.get(name)
    low, middle, high = LOW.batches, MIDDLE.batches, HIGH.batches
    shown = f"{1 / used:.2g} per iteration" if used else f"{middle:g} per iteration ({low:g} to {high:g})"
    plan.inputs.append(Input(name, "batches of rollouts", shown, "measured" if used else "assumed"))
    if used:
        return 1 / used, 1 / used, 1 / used
    most = rollout.max_generation_batches or high
    return min(low, most), min(middle, most), min(high, most)


def _add_training(plan: Forecast, name: str, stage: RlStage, shape: Shape, known: Known) -> None:
    rollout, resources, passes = stage.rollout, stage.resources, stage.optimizer.epochs
    machine = plan.machine.take(resources.gpus * resources.nodes)
    count, limit = stage.data.batch_size * rollout.group_size, rollout.max_response_tokens
    asked = count + stage.data.batch_size * (stage.advantage.estimator == "remax")  # a greedy response per problem
    networks = 2 if stage.advantage.estimator == "gae" else 1
    reference = bool(stage.loss.kl_coef or stage.reward.kl_coef)
    lengths = _note_lengths(plan, name, limit, known)
    batches = _note_batches(plan, name, rollout, known)
    updates = passes * max(1, stage.data.batch_size // stage.optimizer.mini_batch_size)
    split, share = resources.tensor_parallel, resources.rollout_memory

    def hours(scenario: Scenario, length: float, batches: float) -> float:
        load, sampling = (_make_load(machine, responses, length, limit) for responses in (count, asked))
        sampled = batches * _seconds_to_sample(machine, shape, sampling, split=split, memory=share)
        if machine.gpu is None:
            prompt = 40 if shape.parameters < 1e7 else 90
            tokens = count * (length + prompt) * (passes * networks + FORWARD * reference)
            trained = tokens / training_speed(shape.parameters, machine.cores)
        else:
            gpu, gpus, mfu = machine.gpu, machine.gpus, scenario.mfu
            before, update = training_seconds(load, shape, gpu, gpus, passes=passes, steps=updates, mfu=mfu)
            trained = (networks + reference) * before + networks * update + WEIGHTS_S
        return (stage.steps * (sampled + trained) + start_seconds(machine, "rl")) / 3600

    load = _make_load(machine, count, lengths[1], limit)
    once = shape.training_flops(load.responses * (load.prompt + load.mean), load.squares)
    trained = (passes * networks * WITH_RECOMPUTATION + FORWARD * reference) * once
    flops = stage.steps * (trained + batches[1] * 2 * shape.matrix_parameters * load.tokens * asked / count)
    memory = None
    if machine.gpu:
        memory = sum(training_parts(stage, shape, machine.gpus).values())
        if short := find_training_shortage(stage, shape, machine.gpu, machine.gpus):
            plan.shortages.append(Shortage(name, *short))
    sampled = stage.steps * batches[1] * asked
    low, middle, high = map(hours, (LOW, MIDDLE, HIGH), lengths, batches)
    plan.stages.append(
        StageForecast(name, round(sampled), sampled * lengths[1], flops / 1e15, memory, (low, middle, high))
    )


def _add_evaluation(plan: Forecast, settings: Settings, shape: Shape, known: Known) -> None:
    items, asked = count_items(settings, known.items), settings.evaluate
    models, prompts = len(asked.models) or 1 + len(settings.rl.stages), len(asked.other_prompts)
    # Other prompts have neither greedy responses nor further rounds.
    first = models * items * (asked.samples * (1 + prompts) + asked.greedy)
    # The rounds after the first are of the two models that decide.
    more = 2 * items * (asked.at_most - asked.samples) if asked.until == "verdict" else 0
    responses = first, first + more // 2, first + more
    _add_sampling(plan, "evaluate", responses, shape, settings, known, models=models * (1 + prompts))
    if more:
        shown = f"half of those between {asked.samples} and {asked.at_most} (none to all)"
        plan.inputs.append(Input("evaluate", "samples until a verdict", shown, "assumed"))


def count_items(settings: Settings, counted: Mapping[str, int]) -> int:
    """Benchmark problems: generated ones by their setting, others as counted or by the table; 300 are assumed for any other file."""
    total = 0
    for benchmark in settings.collect.benchmarks:
        if settings.collect.generate and "$GENERATED" in benchmark.path:
            rows = settings.collect.generate.benchmark_per_level
        else:
            published = BENCHMARKS[benchmark.name].rows if benchmark.name in BENCHMARKS else OTHER_ITEMS
            rows = counted.get(benchmark.name, published)
        total += min(rows, settings.evaluate.max_problems or rows)
    return total
