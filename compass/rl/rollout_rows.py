"""The rollouts of an iteration, out of verl's transfer queue and into rows of `ROLLOUTS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from compass.rl.guards.loops import looping

SAMPLED = ("prompts", "responses", "rm_scores", "rollout_log_probs", "extra_fields", "extra_info", "reward_model")
"""What the queue holds of a response once it is scored."""

TRAINED = ("advantages", "old_log_probs")
"""What the trainer adds to the responses that it updates from. The second are its own log-probabilities, None where it made none."""


def fetch(keys: Iterable[str], partition_id: str, fields: Iterable[str]) -> dict[str, dict[str, Any]]:
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


def without_end(tokens: np.ndarray, longest: int) -> np.ndarray:
    """A response's tokens without the one that ends it; one that is cut off has none."""
    return tokens if len(tokens) >= longest else tokens[:-1]


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
    loops = looping([without_end(responses[name]["responses"], longest) for name in names])
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
