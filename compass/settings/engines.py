"""Settings of `engines`: on what grading and evaluation sample."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from compass.settings.section import NotNegative, Section


class Engines(Section):
    """On what `grade` and `evaluate` sample: engines on this machine, on a Ray cluster, or servers. It decides no result and re-runs no stage."""

    count: NotNegative = 0
    """vLLM engines that sample at once, each on `sampling.tensor_parallel` GPUs. 0 takes one for each such group of GPUs, and one
    where there is no GPU. One engine runs in the stage's own process, several by Ray."""

    address: Annotated[str, Field(pattern=r"^([^\s/:]+:\d+)?$")] = ""
    """`HOST:PORT` of a running Ray cluster whose nodes the engines run on. Empty: several engines have a Ray of their own on this
    machine."""

    servers: list[str] = []
    """URLs of OpenAI-compatible servers (`vllm serve`, SGLang, a cloud) that sample instead. Each must offer the model by its path or
    hub id. Their key is read from the environment variable `COMPASS_API_KEY`."""

    @model_validator(mode="after")
    def _one_place(self) -> Engines:
        for url in self.servers:
            parts = urlsplit(url)
            if parts.username or parts.password or parts.query:  # the value is not shown: it may hold a key
                raise ValueError(
                    f"the URL of {parts.hostname} in `servers` holds a name, a password or a query, and settings are recorded: give the "
                    "key in the environment variable COMPASS_API_KEY"
                )
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(
                    f"`servers` has {url!r}, which is no URL of a server; give one such as http://127.0.0.1:8000/v1"
                )
        if twice := [url for url in self.servers if self.servers.count(url) > 1]:
            raise ValueError(f"`servers` has {twice[0]!r} twice")
        if self.servers and (self.count or self.address):
            given = "count" if self.count else "address"
            raise ValueError(f"`servers` sample with engines of their own: leave out `{given}`, or `servers`")
        return self
