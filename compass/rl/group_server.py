"""verl's vLLM server, asked once for all responses to a prompt.

verl asks its server for every response alone, and the server makes an output of every token. For a small policy these calls take
longer than the tokens. `GroupReplica` is registered in the place of verl's replica (`compass.rl.train`).
"""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import ray
from verl.workers.rollout.replica import TokenOutput
from verl.workers.rollout.vllm_rollout.vllm_async_server import vLLMHttpServer, vLLMReplica
from vllm.sampling_params import RequestOutputKind


class GroupServer(vLLMHttpServer):
    """verl's server with one more method."""

    async def generate_group(
        self, prompt_ids: list[int], sampling: dict[str, Any], seeds: list[int | None]
    ) -> list[TokenOutput]:
        """Responses to one prompt, each as verl's `generate` gives it: as many as `seeds`, None for one without a seed of its own."""
        sampling = {**sampling, "output_kind": RequestOutputKind.FINAL_ONLY}
        return await asyncio.gather(
            *(self.generate(list(prompt_ids), {**sampling, "seed": seed}, request_id=uuid4().hex) for seed in seeds)
        )


class GroupReplica(vLLMReplica):
    """verl's replica, whose servers are `GroupServer`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.server_class = ray.remote(GroupServer)
