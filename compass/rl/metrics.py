"""The metrics of an RL stage: those that the project adds to verl's, and the files that hold them all.

A metric of an iteration is an entry in the dict that `GroupSampler.sample` (of sampled groups) or `StageTrainer` (of the update) gives verl. Its
name and what it means are here. All metrics are in `steps.csv`.

verl writes `metrics.live.jsonl` and starts a new one with every process; the stage's own `metrics.jsonl` holds each iteration up to the last
checkpoint once; `steps.csv` is made of it at the stage's end.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from compass.files import atomic_path
from compass.loops import ends_in_loop

CUT_OFF = "guards/cut_off_share"
"""Share of an update's responses that reach the longest length."""

LOOPS = "guards/loop_share"
"""Share of an update's responses that end in a repeated passage."""

LENGTH = "guards/response_length"
"""Mean tokens of an update's responses."""

ZERO_SIGNAL = "guards/zero_signal_share"
"""Share of sampled groups whose responses are all right or all wrong."""

FAILED = "guards/failed_groups"
"""Groups with a response that could not be sampled or scored."""

SAMPLED_REWARD = "sampled/reward"
"""Mean reward of all sampled responses; verl's `critic/score/mean` is that of the groups that the update uses."""

SAMPLED_ACCURACY = "sampled/accuracy"
"""Share of all sampled responses that are right."""

SAMPLED_LENGTH = "sampled/response_tokens"
"""Mean tokens of all sampled responses."""

LEANED = "reward/leaned"
"""Share of right responses whose verdict rests on one of the verifier's leniencies: a policy that drifts towards a loophole shows here first."""

SOLVED = "reward/solved_groups"
"""Share of sampled groups with a right response: pass@G on the problems of an iteration."""

DISTINCT = "reward/distinct_right"
"""How far the right responses of a group differ from each other: 0 where all are the same, 1 where no two are. Mean over the sampled groups with
several right ones; an iteration without any has none."""

ENTROPY = "actor/entropy"
"""Mean entropy per token, in nats, whatever `loss.aggregation` is (`compass.rl.policy_loss`)."""

COLLAPSING = (ENTROPY, DISTINCT)
"""Metrics whose fall below what training began with shows a policy that has stopped to explore."""

FEW = 5
"""Iterations whose median is what a stage began with."""

LEAST = 32
"""Tokens that the repetitions cover at least: a few equal digits are no loop."""

LONGEST = 128
"""Tokens of the longest passage that is looked for."""


def sampled_metrics(responses: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Means over all of an iteration's sampled responses, those of groups that are left out too.

    Args:
        responses: of each its `reward`, `acc` (1 for a right one) and `tokens`; one or more.
    """
    names = {SAMPLED_REWARD: "reward", SAMPLED_ACCURACY: "acc", SAMPLED_LENGTH: "tokens"}
    return {metric: sum(one[name] for one in responses) / len(responses) for metric, name in names.items()}


def leniency_metrics(responses: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Shares (0..1) of an iteration's right responses.

    Args:
        responses: what the reward function gave each response (`acc`, `leaned`).

    Returns:
        `reward/leaned`, the share whose verdict leans on any rule, and `reward/leaned/NAME` for each rule that occurs.
    """
    right = [response["leaned"] for response in responses if response["acc"] > 0]
    if not right:
        return {LEANED: 0.0}
    counts = Counter(name for names in right for name in names.split(",") if name)
    shares = {f"{LEANED}/{name}": counts[name] / len(right) for name in sorted(counts)}
    return {LEANED: sum(bool(names) for names in right) / len(right), **shares}


def group_metrics(groups: Sequence[Sequence[tuple[bool, bytes]]]) -> dict[str, float]:
    """What an iteration's groups show of how much the policy still explores.

    Args:
        groups: of each response of each group whether it is right, and its tokens.

    Returns:
        `SOLVED`, and `DISTINCT` where a group has several right responses.
    """
    right = [[tokens for is_right, tokens in group if is_right] for group in groups]
    spread = [(len(set(texts)) - 1) / (len(texts) - 1) for texts in right if len(texts) > 1]
    solved = {SOLVED: sum(map(bool, right)) / len(groups)} if groups else {}
    return {**solved, **({DISTINCT: sum(spread) / len(spread)} if spread else {})}


def measure_beginning(metrics: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The median of each of `COLLAPSING` over a stage's first `FEW` iterations; those that fewer of its iterations have are left out."""
    found = {}
    for name in COLLAPSING:
        values = [float(row[name]) for row in metrics if row.get(name) not in (None, "")]
        first = [value for value in values if math.isfinite(value)][:FEW]
        if len(first) == FEW:
            found[name] = median(first)
    return found


def without_end(tokens: np.ndarray, longest: int) -> np.ndarray:
    """A response's tokens without the one that ends it; one that is cut off has none."""
    return tokens if len(tokens) >= longest else tokens[:-1]


def find_loops(responses: Sequence[np.ndarray]) -> np.ndarray:
    """Which responses end in a loop.

    Args:
        responses: token ids of each, without an end-of-sequence token.

    Returns:
        Booleans, one per response.
    """
    texts = (np.asarray(tokens).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass") for tokens in responses)
    return np.array([ends_in_loop(text, least=LEAST, longest=LONGEST) for text in texts], dtype=bool)


def follow_metrics(live: Path, position: int, metrics: Path) -> tuple[list[dict[str, Any]], int]:
    """Move the whole lines that verl has written since `position` into the stage's own file.

    Args:
        live: the file that verl is writing; it may not exist yet.
        position: bytes of it that were moved before.
        metrics: the stage's own file.

    Returns:
        The new metrics, one dict per iteration with its `step`, and the new position.
    """
    if not live.exists():
        return [], position
    with live.open("rb") as file:
        file.seek(position)
        unread = file.read()
    whole = unread[: unread.rfind(b"\n") + 1]
    fresh = [_flat(line) for line in whole.splitlines()]
    with metrics.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in fresh)
    return fresh, position + len(whole)


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """The metrics of every iteration, in order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def all_metrics(saved: Path, live: Path, metrics: Path) -> dict[int, dict[str, Any]]:
    """The metrics of every iteration that a killed stage recorded, in any of its files, by its number; see `recover_metrics`."""
    rows = {row["step"]: row for path in (saved, live) for row in map(_flat, whole_lines(path))}
    return rows | {row["step"]: row for row in map(json.loads, whole_lines(metrics))}


def recover_metrics(saved: Path, live: Path, metrics: Path, done: int) -> None:
    """Keep the metrics of iterations up to the checkpoint, those that a killed stage had not taken over included.

    Args:
        saved: what the trainer writes before a checkpoint, for a kill between the checkpoint and verl's log; it may not
            exist, and is removed here. It lacks what verl measures after the checkpoint.
        live: verl's file of the killed process, removed here as well; it may not exist.
        metrics: the stage's own file; it may not exist yet.
        done: the last checkpoint's iteration; later ones will be run again.
    """
    rows = all_metrics(saved, live, metrics)
    lines = [json.dumps(rows[step]) + "\n" for step in sorted(rows) if step <= done]
    _replace(metrics, lines)
    for path in (saved, live):
        path.unlink(missing_ok=True)


def forget_after(path: Path, step: int) -> None:
    """Drop the JSON lines of iterations after `step`, which will be run again, and a line that a kill cut off."""
    kept = [line for line in whole_lines(path) if json.loads(line)["step"] <= step]
    _replace(path, kept)


def _replace(path: Path, lines: list[str]) -> None:
    """Write lines whole or not at all: a kill here must not cost the record of what was trained."""
    with atomic_path(path) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8")


def whole_lines(path: Path) -> list[str]:
    """The lines of a file, without one that a kill cut off; none where there is no file."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    return [line for line in lines if line.endswith("\n")]


def write_curves(metrics: list[dict[str, Any]], path: Path) -> None:
    """Write verl's metrics as CSV, one row per iteration; a metric that an iteration lacks stays empty."""
    columns = ["step", *sorted({name for row in metrics for name in row} - {"step"})]
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(metrics)


def _flat(line: str | bytes) -> dict[str, Any]:
    """verl's line `{"step": 1, "data": {...}}` as one dict."""
    entry = json.loads(line)
    return {"step": entry["step"], **entry["data"]}
