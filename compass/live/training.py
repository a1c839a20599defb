"""The view of an RL stage: figures and curves of every iteration so far, its guards, and where the trainer is."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.curves import CURVES, read_steps, unlisted_curves
from compass.durations import duration
from compass.live.file_cache import cached_by_files
from compass.page.blocks import (
    Block,
    Caution,
    Curves,
    Guards,
    Note,
    curve,
    figures,
    finite,
    format_number,
    format_share,
)
from compass.rl.guards.findings import read_findings
from compass.rl.metrics import all_metrics, whole_lines
from compass.rl.paths import StagePaths, find_newest
from compass.rl.rollouts import find_right, read_rewards
from compass.runs.pipeline import Stage
from compass.settings import RlStage

PARTS = {
    "rollout": "timing_s/gen",
    "reward": "timing_s/reward",
    "old log-probs": "timing_s/old_log_prob",
    "reference": "timing_s/ref",
    "values": "timing_s/values",
    "advantages": "timing_s/adv",
    "update of the critic": "timing_s/update_critic",
    "update": "timing_s/update_actor",
    "weights": "timing_s/update_weights",
    "checkpoint": "timing_s/save_checkpoint",
    "guards": "timing_s/guards",
}
"""Parts of an iteration's time, by verl's names; what is left is `other`."""


@dataclass
class Rewards:
    """All responses of an iteration, those that the update left out included."""

    responses: int = 0
    reward: float = 0.0
    right: int = 0
    tokens: int = 0
    used: int = 0
    left_out: int = 0
    """Groups that the update used, and that it left out as all right, all wrong or surplus."""
    mixed: int = 0
    """Groups that the update used and whose rewards differ."""


@dataclass(frozen=True)
class Training:
    """What an RL stage recorded: verl's metrics and the rewards by iteration, findings, and the folder of its rollouts."""

    metrics: dict[int, dict[str, Any]]
    rewards: dict[int, Rewards]
    findings: list[dict[str, Any]]
    rollouts: Path | None

    @property
    def steps(self) -> list[int]:
        return sorted(self.metrics.keys() | self.rewards.keys())


def find_course(root: Path, stage: Stage) -> StagePaths | None:
    """The work folder of a stage's last run. None where there is none, where a run has not begun its own yet, and where the stage has its
    result, which may be of another run than that folder."""
    if stage.state == "finished":
        return None
    paths = find_newest(root, stage.name)
    # Until the trainer starts, the newest folder is that of an earlier run, maybe with other settings. The kernel's clock for files lags
    # some milliseconds behind the one that says when a stage started.
    begun = stage.progress.started - 1 if stage.state in ("running", "failed") and stage.progress else 0.0
    return paths if paths and paths.touched >= begun else None


def read_training(root: Path, stage: Stage) -> Training | None:
    """What an RL stage has recorded so far; None where there is nothing."""
    paths = find_course(root, stage)
    if paths:
        metrics = _read_metrics(paths.saved_metrics, paths.live_metrics, paths.metrics)
        return Training(metrics, _read_groups(paths.rewards), read_findings(paths.findings), paths.rollouts)
    out = root / "data" / stage.name
    findings = out / "guards.json"
    if stage.state == "running" or not (out / "steps.csv").exists():
        return None
    return Training(
        _read_steps(out / "steps.csv"),
        _read_rewards(out / "rewards.parquet"),
        json.loads(findings.read_text(encoding="utf-8")) if findings.exists() else [],
        out / "rollouts.parquet",
    )


def training_view(stage: Stage, training: Training | None, settings: RlStage | None) -> list[Block]:
    """The blocks of an RL stage, but for its rollouts."""
    if training is None or not training.steps:
        if stage.state == "running":
            return [_describe_start(stage.name, settings)]
        if stage.state in ("failed", "killed"):
            return [Note("It ended before its first iteration.", command=f"compass run {stage.name}")]
        return [Note("This stage has not run here yet.", command=f"compass run {stage.name}")]
    steps, last = training.steps, settings.steps if settings else None
    guards = [] if settings is None else [_guards(settings, training.findings)]
    return [_headline(training), *_fired(training.findings), _curves(training, steps, last), *guards]


def _describe_start(name: str, settings: RlStage | None) -> Block:
    starting = "The trainer is starting: engines, model and weights. Curves appear with the first iteration."
    if settings is None:
        return Note(starting)
    return Note(
        f"{starting} It trains {settings.init_from} for {settings.steps} iterations, each of {settings.data.batch_size} problems with "
        f"{settings.rollout.group_size} responses, by {settings.advantage.estimator} at a learning rate of {settings.optimizer.learning_rate:g}.",
        command=f"compass rl show {name}",
    )


def _headline(training: Training) -> Block:
    steps = training.steps
    at = steps[-1]
    metrics = training.metrics.get(at) or training.metrics.get(max(training.metrics, default=0), {})
    rewards = training.rewards.get(at, Rewards())
    first = training.rewards.get(steps[0], Rewards())
    now, then = (one.right / one.responses if one.responses else None for one in (rewards, first))
    groups = rewards.used + rewards.left_out
    times = [row["timing_s/step"] for row in training.metrics.values() if finite(row.get("timing_s/step"))]
    step_time = sorted(times)[len(times) // 2] if times else None
    return figures(
        ("accuracy", format_share(now), f"of all responses; {format_share(then)} in iteration {steps[0]}"),
        (
            "reward",
            format_number(rewards.reward / rewards.responses if rewards.responses else None),
            "mean of all responses",
        ),
        (
            "response length",
            format_number(rewards.tokens / rewards.responses if rewards.responses else None),
            "tokens, mean of all responses",
        ),
        (
            "mixed groups",
            f"{rewards.mixed} of {groups}" if groups else "–",
            f"used, and with unequal rewards; iteration {at}",
        ),
        ("throughput", format_number(_throughput(metrics)), "tokens per second, prompts included"),
        ("time per iteration", duration(step_time) if step_time is not None else "–", "median"),
    )


def _fired(findings: Sequence[Mapping[str, Any]]) -> list[Block]:
    if not findings:
        return []
    newest = findings[-1]
    count = f"{len(findings)} findings of guards" if len(findings) > 1 else "A guard fired"
    lines = "\n\n".join(f"{one['level']}: {one['message']}" for one in reversed(findings))
    return [Caution(f"{count}. The newest: {newest['guard']} in iteration {newest['step']}, {newest['level']}.", lines)]


def _curves(training: Training, steps: list[int], last: int | None) -> Curves:
    def metric(name: str) -> list[Any]:
        return [training.metrics.get(step, {}).get(name) for step in steps]

    def reward(value: Callable[[Rewards], float]) -> list[float | None]:
        rows = [training.rewards.get(step) for step in steps]
        return [value(row) if row and row.responses else None for row in rows]

    others = unlisted_curves(name for row in training.metrics.values() for name in row)
    parts = {name: metric(key) for name, key in PARTS.items()}
    whole = metric("timing_s/step")
    parts["other"] = [_rest(total, [values[n] for values in parts.values()]) for n, total in enumerate(whole)]
    kept = {"used": reward(lambda row: row.used), "left out": reward(lambda row: row.left_out)}
    right = {"right": reward(lambda row: row.right / row.responses)}
    mean = {"reward": reward(lambda row: row.reward / row.responses)}
    length = {"mean": reward(lambda row: row.tokens / row.responses), "longest": metric("response_length/max")}
    throughput = {"tokens per second": [_throughput(training.metrics.get(step, {})) for step in steps]}
    charts = [
        curve("Right responses, %", steps, right, last=last, percent=True, text="of all responses"),
        curve("Reward", steps, mean, last=last, zero=False, text="mean of all responses"),
        curve("Response length, tokens", steps, length, last=last, text="the longest is of the responses used"),
        curve(
            "Groups of responses", steps, kept, last=last, stacked=True, text="left out: all right, all wrong, surplus"
        ),
        *(
            curve(
                one.title[0].upper() + one.title[1:],
                steps,
                {one.title: metric(one.metric)},
                last=last,
                percent=one.percent,
            )
            for one in CURVES
            if one.title
        ),
        curve("Time per iteration, s", steps, parts, last=last, stacked=True),
        curve("Throughput, tokens per second", steps, throughput, last=last, text="prompts and responses"),
        *(curve(name, steps, {name: metric(name)}, last=last, zero=False) for name in others),
    ]
    return Curves([chart for chart in charts if chart])


def _guards(settings: RlStage, findings: Sequence[Mapping[str, Any]]) -> Block:
    """Each guard with its level, and the iterations in which it fired."""
    levels = {name: guard["level"] for name, guard in settings.guards.model_dump().items()}
    fired: dict[str, list[int]] = {}
    for finding in findings:
        fired.setdefault(finding["guard"], []).append(finding["step"])
    items = [{"name": name, "level": level, "fired": fired.get(name, [])} for name, level in levels.items()]
    return Guards(sorted(items, key=lambda item: (not item["fired"], item["level"] == "off")))


def _throughput(metrics: Mapping[str, Any]) -> float | None:
    tokens, seconds = metrics.get("perf/total_num_tokens"), metrics.get("timing_s/step")
    return tokens / seconds if finite(tokens) and finite(seconds) and seconds > 0 else None


def _rest(total: Any, parts: Sequence[Any]) -> float | None:
    return max(0.0, total - sum(part for part in parts if finite(part))) if finite(total) else None


_read_metrics = cached_by_files(all_metrics)
_read_steps = cached_by_files(read_steps)


@cached_by_files
def _read_groups(path: Path) -> dict[int, Rewards]:
    """The sums of `rewards.jsonl`, which has a line per group; one that is not whole yet, or lacks something, is left out."""
    groups = []
    for line in whole_lines(path):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            one = json.loads(line)
            rewards = [float(reward) for reward in one["rewards"]]
            groups.append((int(one["step"]), rewards, sum(find_right(one)), sum(one["tokens"]), one["used"]))
    return _sum_groups(groups)


@cached_by_files
def _read_rewards(path: Path) -> dict[int, Rewards]:
    """The sums of a finished stage; a problem that was drawn twice in one iteration counts as one group."""
    sums = [("reward", "list"), ("right", "sum"), ("response_tokens", "sum")]
    groups = read_rewards(path).group_by(["step", "id", "used"]).aggregate(sums)
    columns = ("step", "reward_list", "right_sum", "response_tokens_sum", "used")
    return _sum_groups(zip(*(groups[name].to_pylist() for name in columns), strict=True))


def _sum_groups(groups: Iterable[tuple[int, Sequence[float], int, int, bool]]) -> dict[int, Rewards]:
    """Iteration to its sums, of groups with their iteration, rewards, right responses, tokens, and whether they were used."""
    gathered: dict[int, Rewards] = {}
    for step, rewards, right, tokens, used in groups:
        row = gathered.setdefault(step, Rewards())
        row.responses += len(rewards)
        row.reward += sum(rewards)
        row.right += right
        row.tokens += tokens
        row.used += used
        row.left_out += not used
        row.mixed += used and len(set(rewards)) > 1
    return gathered
