"""A run's stages before it starts: responses, tokens, FLOPs, memory and hours, each with a range over what is assumed.

What is known is taken from the settings, from the benchmarks' table and from the last run in this folder (`metrics/`, `work/times/`); what
is not is assumed, and listed. The range is the spread of the forecast over low and high values of what is assumed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compass.durations import duration
from compass.evaluation.benchmarks import BENCHMARKS
from compass.plan.hardware import Machine, sampling_speed, training_speed
from compass.plan.memory import find_sampling_shortage, find_training_shortage, sampling_parts, training_parts
from compass.plan.shape import Shape, grader_shape, policy_shape
from compass.plan.speed import WEIGHTS_S, Load, sampling_seconds, training_seconds
from compass.runs.stage_times import read_times
from compass.settings import RlStage, Sampling, Settings

START_S = {"base": 60, "grade": 40, "rl": 40, "evaluate": 30}
"""Seconds on two idle cores that a stage takes before it does its work."""

GPU_START_S = 180
"""Seconds that engines and trainers of billions of parameters take to load and compile; assumed."""

PROMPT_TOKENS = 130
"""Mean tokens of a problem with its instruction, in the papers' sets; assumed where nothing was measured."""

OTHER_ITEMS = 300
"""Problems of a benchmark that is not in the table; assumed."""

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

    hours: tuple[float, float, float]
    """Low, middle and high."""


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

    took: dict[str, str] = field(default_factory=dict)
    """What the last run of a stage took here, in words: time, CPU time, memory and machine."""


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
    if tokens := (metrics("grade").get("metrics") or {}).get("tokens"):
        response["grade"] = tokens
    scores = [
        one["length"]
        for model in (metrics("evaluate").get("models") or {}).values()
        for one in model.values()
        if "length" in one
    ]
    if scores:
        response["evaluate"] = sum(scores) / len(scores)
    took = {stage: _say_taken(facts) for stage, facts in read_times(root).items()}
    return Known(metrics("denoise").get("kept"), response=response, groups_used=used, took=took)


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
    for name, shape in (("policy", policy), ("grader", grader)):
        value = _say_size(shape.parameters) if shape else "not known before it is downloaded"
        plan.inputs.append(Input("", name, value, "configuration" if shape else "left out"))
    graded = min(known.rows, settings.grade.max_problems or known.rows)
    plan.inputs.append(Input("", "problems graded", f"{graded:,}", known.rows_from))
    _add_base(plan, settings, policy)
    _add_grade(plan, settings, graded, grader or policy, known)
    for name, stage in settings.rl.stages.items():
        _add_training(plan, name, stage, policy, known)
    _add_evaluation(plan, settings, policy, known)
    for one in plan.stages:
        if one.name in known.took:
            plan.inputs.append(Input(one.name, "the last run here took", known.took[one.name], "measured"))
    plan.inputs.append(
        Input("", "use of a GPU while training", f"{MIDDLE.mfu:.0%} ({HIGH.mfu:.0%} to {LOW.mfu:.0%})", "assumed")
    )
    return plan


def _say_size(parameters: int) -> str:
    return (
        f"{parameters / 1e9:.3g} billion parameters"
        if parameters >= 1e9
        else f"{parameters / 1e6:.3g} million parameters"
    )


def _mean(plan: Forecast, stage: str, limit: int, known: Known) -> Callable[[Scenario], float]:
    """A response's mean tokens by scenario, and a note of where it is from."""
    if stage in known.response:
        measured = known.response[stage]
        plan.inputs.append(Input(stage, "mean response", f"{measured:,.0f} tokens", "measured"))
        return lambda scenario: min(limit, measured * {LOW: 0.9, MIDDLE: 1.0, HIGH: 1.1}[scenario])
    shown = f"{MIDDLE.share * limit:,.0f} tokens ({LOW.share * limit:,.0f} to {HIGH.share * limit:,.0f} of {limit:,})"
    plan.inputs.append(Input(stage, "mean response", shown, "assumed"))
    return lambda scenario: scenario.share * limit


def seconds_to_sample(machine: Machine, shape: Shape, load: Load, *, split: int, memory: float) -> float:
    """Seconds to sample a load: on GPUs with engines that are split over `split` of them and take a share `memory` of each, or on a CPU."""
    if machine.gpu is None:
        return load.tokens / sampling_speed(shape.parameters, machine.cores)
    return sampling_seconds(load, shape, machine.gpu, machine.gpus, split=split, memory=memory)


def _hours(seconds: Callable[[Scenario], float], start: float) -> tuple[float, float, float]:
    low, middle, high = ((seconds(scenario) + start) / 3600 for scenario in (LOW, MIDDLE, HIGH))
    return low, middle, high


def _add_base(plan: Forecast, settings: Settings, shape: Shape | None) -> None:
    """The policy's own training before RL, if it has any."""
    warm = settings.base.warm_start
    if shape is None or not (settings.base.pretrain or warm):
        return
    tokens = warm.steps * warm.batch_size * SOLUTION_TOKENS if warm else 0
    flops = 6 * shape.matrix_parameters * tokens
    if settings.base.pretrain:
        seconds = PRETRAIN_S * 2 / plan.machine.cores
    elif plan.machine.gpu:
        seconds = flops / (plan.machine.gpu.tflops * 1e12 * MIDDLE.mfu) + GPU_START_S
    else:
        seconds = tokens / training_speed(shape.parameters, plan.machine.cores) + START_S["base"]
    plan.stages.append(
        StageForecast("base", 0, 0.0, flops / 1e15, None, (0.7 * seconds / 3600, seconds / 3600, 1.6 * seconds / 3600))
    )


def _add_grade(plan: Forecast, settings: Settings, graded: int, shape: Shape | None, known: Known) -> None:
    if shape is None:
        return
    sampling, count = settings.grade.sampling, graded * settings.grade.rollouts
    mean = _mean(plan, "grade", sampling.max_tokens, known)

    def seconds(scenario: Scenario) -> float:
        load = Load(count, PROMPT_TOKENS if plan.machine.gpu else 0, mean(scenario), sampling.max_tokens)
        return seconds_to_sample(
            one_engine(plan.machine, sampling.tensor_parallel),
            shape,
            load,
            split=sampling.tensor_parallel,
            memory=sampling.memory,
        )

    _add_sampling(plan, "grade", count, shape, mean(MIDDLE), _hours(seconds, _start(plan, "grade")), sampling)


def _add_sampling(
    plan: Forecast,
    name: str,
    count: int,
    shape: Shape,
    mean: float,
    hours: tuple[float, float, float],
    sampling: Sampling,
) -> None:
    memory = None
    if plan.machine.gpu:
        memory = max(
            sampling.memory * plan.machine.gpu.memory_gb,
            sum(sampling_parts(shape, split=sampling.tensor_parallel, length=sampling.max_model_len).values()),
        )
        if short := find_sampling_shortage(name, sampling, shape, plan.machine.gpu):
            plan.shortages.append(Shortage(name, *short))
    flops = 2 * shape.matrix_parameters * count * (mean + (PROMPT_TOKENS if plan.machine.gpu else 0))
    plan.stages.append(StageForecast(name, count, count * mean, flops / 1e15, memory, hours))


def one_engine(machine: Machine, split: int) -> Machine:
    """The part of a machine that grading and evaluation use: one engine, on as many GPUs as it is split over."""
    return Machine(machine.gpu, min(machine.gpus, split), machine.cores) if machine.gpu else machine


def _start(plan: Forecast, stage: str) -> float:
    return GPU_START_S if plan.machine.gpu else START_S[stage]


def _add_training(plan: Forecast, name: str, stage: RlStage, shape: Shape | None, known: Known) -> None:
    if shape is None:
        return
    rollout, machine = stage.rollout, plan.machine
    count = stage.data.batch_size * rollout.group_size
    mean = _mean(plan, name, rollout.max_response_tokens, known)
    updates = stage.optimizer.epochs * max(1, stage.data.batch_size // stage.optimizer.mini_batch_size)
    used = known.groups_used.get(name)
    if rollout.dynamic_sampling:
        shown = (
            f"{1 / used:.2g} per iteration"
            if used
            else f"{MIDDLE.batches:g} per iteration ({LOW.batches:g} to {HIGH.batches:g})"
        )
        plan.inputs.append(Input(name, "batches of rollouts", shown, "measured" if used else "assumed"))

    def batches(scenario: Scenario) -> float:
        if not rollout.dynamic_sampling:
            return 1.0
        return 1 / used if used else min(scenario.batches, rollout.max_generation_batches or scenario.batches)

    def seconds(scenario: Scenario) -> float:
        load = Load(count, PROMPT_TOKENS if machine.gpu else 0, mean(scenario), rollout.max_response_tokens)
        split, memory = stage.resources.tensor_parallel, stage.resources.rollout_memory
        if machine.gpu is None:
            prompt = 40 if shape.parameters < 1e7 else 90
            trained = (
                stage.optimizer.epochs
                * count
                * (mean(scenario) + prompt)
                / training_speed(shape.parameters, machine.cores)
            )
            iteration = batches(scenario) * seconds_to_sample(machine, shape, load, split=1, memory=1) + trained
        else:
            logged, updated = training_seconds(
                load, shape, machine.gpu, machine.gpus, passes=stage.optimizer.epochs, steps=updates, mfu=scenario.mfu
            )
            iteration = (
                batches(scenario) * seconds_to_sample(machine, shape, load, split=split, memory=memory)
                + logged
                + updated
                + WEIGHTS_S
            )
        return stage.steps * iteration

    load = Load(count, PROMPT_TOKENS if machine.gpu else 0, mean(MIDDLE), rollout.max_response_tokens)
    sampled = stage.steps * batches(MIDDLE) * count
    trained = (
        stage.optimizer.epochs * shape.training_flops(load.responses * (load.prompt + load.mean), load.squares) * 4 / 3
    )
    flops = stage.steps * (trained + batches(MIDDLE) * 2 * shape.matrix_parameters * load.tokens)
    memory = None
    if machine.gpu:
        memory = sum(training_parts(stage, shape, machine.gpus).values())
        if short := find_training_shortage(stage, shape, machine.gpu, machine.gpus):
            plan.shortages.append(Shortage(name, *short))
    plan.stages.append(
        StageForecast(
            name, round(sampled), sampled * mean(MIDDLE), flops / 1e15, memory, _hours(seconds, _start(plan, "rl"))
        )
    )


def _add_evaluation(plan: Forecast, settings: Settings, shape: Shape | None, known: Known) -> None:
    if shape is None:
        return
    items = count_items(settings)
    models = len(settings.evaluate.models) or 1 + len(settings.rl.stages)
    asked, sampling = settings.evaluate, settings.evaluate.sampling
    mean = _mean(plan, "evaluate", sampling.max_tokens, known)
    more = 2 * items * (asked.at_most - asked.samples) if asked.until == "verdict" else 0
    if more:
        shown = f"half of those between {asked.samples} and {asked.at_most} (none to all)"
        plan.inputs.append(Input("evaluate", "samples until a verdict", shown, "assumed"))

    def count(scenario: Scenario) -> int:
        """The first round of all models, and further ones of the two that decide."""
        rounds = {LOW: 0, MIDDLE: more // 2, HIGH: more}[scenario]
        return models * items * (asked.samples + asked.greedy) + rounds

    def seconds(scenario: Scenario) -> float:
        load = Load(
            count(scenario) / models, PROMPT_TOKENS if plan.machine.gpu else 0, mean(scenario), sampling.max_tokens
        )
        machine = one_engine(plan.machine, sampling.tensor_parallel)
        return models * seconds_to_sample(machine, shape, load, split=sampling.tensor_parallel, memory=sampling.memory)

    _add_sampling(
        plan,
        "evaluate",
        count(MIDDLE),
        shape,
        mean(MIDDLE),
        _hours(seconds, _start(plan, "evaluate") * (models if plan.machine.gpu else 1)),
        sampling,
    )


def count_items(settings: Settings) -> int:
    """Benchmark problems: generated ones by their setting, known ones by the table; 300 are assumed for any other file."""
    total = 0
    for benchmark in settings.collect.benchmarks:
        if settings.collect.generate and "$GENERATED" in benchmark.path:
            rows = settings.collect.generate.benchmark_per_level
        else:
            rows = BENCHMARKS[benchmark.name].rows if benchmark.name in BENCHMARKS else OTHER_ITEMS
        total += min(rows, settings.evaluate.max_problems or rows)
    return total
