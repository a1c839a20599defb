"""What a stage records of its responses: the reward of each, and whole rollouts of chosen iterations.

- Rewards: `rewards.jsonl`, one line per group while a stage runs, and `rewards.parquet` after it.
- Rollouts: while a stage runs, each chosen iteration is one file in the folder `rollouts` of its work folder, so that a killed stage loses
  none and counts none twice; `rollouts.parquet` after it. `fetch_fields` takes them out of verl's transfer queue, `rollout_rows` makes rows of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from compass.files import atomic_path
from compass.rl.metrics import find_loops, without_end

REWARDS = pa.schema(
    [
        ("step", pa.int32()),
        ("id", pa.string()),
        ("reward", pa.float32()),
        ("right", pa.bool_()),  # whatever the reward is: a penalty or a function of the user's changes that alone
        ("response_tokens", pa.int32()),
        ("used", pa.bool_()),  # False: left out as all right, all wrong, or surplus
    ]
)

ROLLOUTS = pa.schema(
    [
        ("step", pa.int32()),
        ("id", pa.string()),  # the problem's
        ("level", pa.int32()),
        ("group", pa.string()),  # the responses that were compared with each other
        ("sample", pa.int32()),  # place in the group
        ("prompt", pa.string()),
        ("response", pa.string()),
        ("gold", pa.string()),
        ("answer", pa.string()),  # what the verifier read in the response
        ("right", pa.bool_()),
        ("verdict", pa.string()),
        ("method", pa.string()),  # how the verifier decided
        ("leaned", pa.string()),  # the rules that a right verdict leans on, joined by commas
        ("reward", pa.float32()),  # the one that trained
        ("advantage", pa.float32()),  # null where the update did not use the group
        ("response_tokens", pa.int32()),
        ("cut_off", pa.bool_()),
        ("loop", pa.bool_()),
        ("gap_mean", pa.float32()),  # difference of a token's log-probability between rollout and trainer
        ("gap_max", pa.float32()),
        ("used", pa.bool_()),  # False: left out as all right, all wrong, or surplus
    ]
)

SAMPLED = ("prompts", "responses", "rm_scores", "rollout_log_probs", "extra_fields", "extra_info", "reward_model")
"""What the queue holds of a response once it is scored."""

TRAINED = ("advantages", "old_log_probs")
"""What the trainer adds to the responses that it updates from. The second are its own log-probabilities, None where it made none."""

FIRST = 16
"""How many of an iteration's worst samples are kept when a guard fires."""


def group_line(step: int, responses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """One group as `rewards.jsonl` holds it, before it is known whether the update used it.

    Args:
        step: the iteration.
        responses: of each response its `problem_id`, the `reward` that trains, `acc` (1 for a right one), and its `tokens`.
    """
    return {
        "step": step,
        "id": responses[0]["problem_id"],
        "rewards": [float(response["reward"]) for response in responses],
        "right": [response["acc"] > 0 for response in responses],
        "tokens": [int(response["tokens"]) for response in responses],
    }


def append_groups(path: Path, groups: Mapping[str, Mapping[str, Any]], used: Iterable[str]) -> None:
    """Add an iteration's groups to `rewards.jsonl`, in the order of their names.

    Args:
        path: the file; made if it does not exist.
        groups: lines of `group_line` by the group's name.
        used: names of the groups that the update used.
    """
    chosen = set(used)
    with path.open("a", encoding="utf-8") as file:
        for name, group in sorted(groups.items()):
            file.write(json.dumps({**group, "used": name in chosen}) + "\n")


def find_right(group: Mapping[str, Any]) -> list[bool]:
    """Which responses of a line of `rewards.jsonl` are right; in one of an earlier version, those with a reward above 0."""
    return group["right"] if "right" in group else [reward > 0 for reward in group["rewards"]]


def read_rewards(path: Path) -> pa.Table:
    """Read what `write_rewards` wrote.

    Returns:
        The columns of `REWARDS`; in a file of an earlier version, responses with a reward above 0 are right.

    Raises:
        OSError, ValueError, KeyError: the file cannot be read, is not parquet, or lacks the rewards.
    """
    table = pq.read_table(path)
    if "right" not in table.column_names:
        table = table.append_column("right", pc.greater(table["reward"], 0))
    return table


def write_rewards(lines: Path, path: Path) -> pa.Table:
    """Write the recorded rewards as parquet, one row per response, ordered by iteration and problem.

    Returns:
        The table, columns as in `REWARDS`.
    """
    groups = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
    rows = [
        dict(zip(REWARDS.names, (group["step"], group["id"], *response, group["used"]), strict=True))
        for group in groups
        for response in zip(group["rewards"], find_right(group), group["tokens"], strict=True)
    ]
    rows.sort(key=lambda row: (row["step"], row["id"]))
    table = pa.Table.from_pylist(rows, schema=REWARDS)
    _write(table, path)
    return table


def fetch_fields(keys: Iterable[str], partition_id: str, fields: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The fields of responses, by key; tensors as numpy arrays."""
    import transfer_queue as tq

    keys, fields = list(keys), list(fields)
    if not keys:
        return {}
    data = tq.kv_batch_get(keys=keys, partition_id=partition_id, select_fields=fields)
    columns = {field: [_plain(value) for value in _values(data[field])] for field in fields}
    return {key: {field: columns[field][row] for field in fields} for row, key in enumerate(keys)}


def reward_of(scores: np.ndarray) -> float:
    """The reward that trains: the sum of a response's token scores."""
    return float(np.sum(scores))


def rollout_rows(
    step: int, responses: Mapping[str, Mapping[str, Any]], used: Iterable[str], tokenizer: Any, longest: int
) -> list[dict[str, Any]]:
    """Rows of `ROLLOUTS`.

    Args:
        step: the iteration.
        responses: the fields `SAMPLED` of each by its key `GROUP_SAMPLE_PART`, and `TRAINED` where the update used it.
        used: names of the groups that the update used.
        tokenizer: the policy's.
        longest: the token limit of a response.
    """
    used = set(used)
    names = list(responses)
    loops = find_loops([without_end(responses[name]["responses"], longest) for name in names])
    prompts = tokenizer.batch_decode([responses[name]["prompts"] for name in names], skip_special_tokens=True)
    texts = tokenizer.batch_decode([responses[name]["responses"] for name in names], skip_special_tokens=True)
    return [
        _row(step, name, responses[name], name.split("_")[0] in used, prompt, text, bool(loop), longest)
        for name, prompt, text, loop in zip(names, prompts, texts, loops, strict=True)
    ]


def _row(
    step: int, name: str, fields: Mapping[str, Any], used: bool, prompt: str, text: str, loop: bool, longest: int
) -> dict[str, Any]:
    scored, problem = fields["extra_fields"]["reward_extra_info"], fields["extra_info"]
    tokens = len(fields["responses"])
    gaps = advantage = None
    if "advantages" in fields and tokens:
        advantage = float(np.mean(fields["advantages"]))
        if fields["old_log_probs"] is not None:
            gaps = np.abs(np.asarray(fields["old_log_probs"]) - np.asarray(fields["rollout_log_probs"]))
    return {
        "step": step,
        "id": str(problem["id"]),
        "level": problem.get("level"),
        "group": name.split("_")[0],
        "sample": int(name.split("_")[1]),
        "prompt": prompt,
        "response": text,
        "gold": str(fields["reward_model"]["ground_truth"]),
        "answer": scored.get("pred"),
        "right": bool(scored["acc"]),
        "verdict": scored.get("outcome"),
        "method": scored.get("method"),
        "leaned": scored.get("leaned"),
        "reward": reward_of(fields["rm_scores"]),
        "advantage": advantage,
        "response_tokens": tokens,
        "cut_off": tokens >= longest,
        "loop": loop,
        "gap_mean": None if gaps is None else float(gaps.mean()),
        "gap_max": None if gaps is None else float(gaps.max()),
        "used": used,
    }


def _values(column: Any) -> list[Any]:
    """One value per response, of a nested tensor or of a list of anything."""
    import torch

    return list(column.unbind()) if isinstance(column, torch.Tensor) else list(column)


def _plain(value: Any) -> Any:
    """A tensor as an array; verl wraps some other values, and an array's `data` is its memory."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    return value if isinstance(value, np.ndarray) else getattr(value, "data", value)


def keeps_rollouts(step: int, last: int, every: int) -> bool:
    """Whether an iteration's rollouts are kept: those of the first, the last, and every `every`-th; 0 keeps none."""
    return every > 0 and (step in (1, last) or step % every == 0)


def write_step(folder: Path, step: int, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write an iteration's rollouts into its own file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{step:06d}.parquet"
    ordered = sorted(rows, key=lambda row: (row["id"], row["group"], row["sample"]))
    _write(pa.Table.from_pylist(ordered, schema=ROLLOUTS), path)
    return path


def write_worst(path: Path, rows: Iterable[Mapping[str, Any]], worst: str) -> Path:
    """Write the worst samples of an iteration, the worst first.

    Args:
        path: the file to write; its folder is made.
        rows: rows of `ROLLOUTS`.
        worst: `reward`, the lowest first; `advantage_size`, the farthest from 0 first; or another column, its largest first.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = sorted(rows, key=lambda row: _badness(row, worst), reverse=True)[:FIRST]
    _write(pa.Table.from_pylist(ordered, schema=ROLLOUTS), path)
    return path


def forget_rollouts_after(folder: Path, step: int) -> None:
    """Drop the rollouts of iterations after `step`, which will be run again."""
    for path in folder.glob("*.parquet"):
        if int(path.stem) > step:
            path.unlink()


def write_rollouts(folder: Path, path: Path) -> pa.Table:
    """Write the rollouts of all chosen iterations as one table, in their order; an empty one where none were kept."""
    parts = [pq.read_table(part, schema=ROLLOUTS) for part in sorted(folder.glob("*.parquet"))]
    table = pa.concat_tables(parts) if parts else ROLLOUTS.empty_table()
    _write(table, path)
    return table


def _badness(row: Mapping[str, Any], worst: str) -> float:
    if worst == "reward":
        return -row["reward"]
    value = abs(row["advantage"] or 0.0) if worst == "advantage_size" else float(row[worst] or 0.0)
    return math.inf if math.isnan(value) else value


def _write(table: pa.Table, path: Path) -> None:
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary, compression="zstd")
