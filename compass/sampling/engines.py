"""Which engine samples: one in this process, several by Ray, or servers, as the section `engines` says; and what decides its responses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from compass.prompts.registry import find_prompt
from compass.sampling.engine import Engine, engine_version, resumes_anywhere
from compass.sampling.model_source import Model, Server, find_model, model_digest
from compass.sampling.response import Response, Wanted
from compass.sampling.server import ServerEngine, find_served
from compass.settings import Engines, Prompting, Sampling

PROTOCOL = 2
"""Raised when this package samples otherwise for the same settings: seeds, how text is made of tokens, or what a server is asked."""

NO_EFFECT = {"memory", "kv_cache_gib", "tensor_parallel", "batch"}
"""Sampling settings that change speed and memory but not what is sampled."""

PROMPTING = set(Prompting.model_fields)
"""Settings that make the prompt, which a setup names as a whole."""


class Samples(Protocol):
    """What can sample."""

    def sample(self, wanted: Iterable[Wanted], *, seed: int) -> Iterator[Response]:
        """A response for each that is wanted, in no particular order, and before it any of its beginnings."""


def find_source(path: str, revision: str, engines: Engines) -> Model | Server:
    """The model at `path` (`find_model`), or the servers of `engines` that offer it.

    Raises:
        SamplingError: there is no such model, or no server offers it.
    """
    model = find_model(path, revision)
    return find_served(engines.servers, model) if engines.servers else model


def choose_engine(model: Model | Server, sampling: Sampling, engines: Engines) -> AbstractContextManager[Samples]:
    """The engine, or engines, that sample a model; each gives the same responses.

    Raises:
        SamplingError: the model cannot be used, or there are no such engines.
    """
    if isinstance(model, Server):
        return ServerEngine(model, sampling)
    count = engines.count or max(1, gpus() // sampling.tensor_parallel)
    if count == 1 and not engines.address:
        return Engine(model, sampling)
    from compass.sampling.pool import Pool

    return Pool(model, sampling, count=engines.count if engines.address else count, address=engines.address)


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
    server = {}
    if isinstance(model, Server) and model.weights is None:
        server = {"url": model.url, "id": model.model, "name": model.name}
    return {
        "model": {"digest": model_digest(model, cache)} | server,
        "prompt": prompt.facts() | {"system": prompt.system, "user": prompt.user},
        "sampling": {name: value for name, value in settings.items() if name not in NO_EFFECT | PROMPTING},
        "seed": seed,
        "engine": _engine_facts(model),
        "protocol": PROTOCOL,
    }


def _engine_facts(model: Model | Server) -> dict[str, str]:
    """What tells apart the samples of two engines: its name and version, and whether its seeds are of whole responses."""
    if isinstance(model, Server):
        return {"name": "server", "version": model.version}
    return engine_version() | ({"seeds": "whole responses"} if resumes_anywhere() else {})


def gpus() -> int:
    """GPUs that this process may use."""
    import torch

    return torch.cuda.device_count()
