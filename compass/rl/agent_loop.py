"""One prompt, one response, scored where it is made: verl's agent loop without its cost per response.

verl's loop resolves its class by hydra and sends every response to a reward actor, which costs more processor time than
sampling from a small policy does. Here

1. the worker makes its loop once;
2. the verifier scores in the worker, by the same reward manager that a reward actor would load;
3. vLLM is not asked for text: the loop reads tokens;
4. the reason of a response that cannot be sampled or scored goes with its group, for the guard `failed_rollouts`;
5. under ReMax one greedy response per problem is sampled and scored beside the group, and its reward goes with each response;
6. with `rollout.reproducible` each response is drawn from a seed of its own (`compass.rl.reproducible`).

verl loads it by name (`actor_rollout_ref.rollout.agent.agent_loop_manager_class`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import ray
import torch
import transfer_queue as tq
from verl.experimental.agent_loop.agent_loop import DictConfigWrap
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop
from verl.trainer.ppo.reward import load_reward_manager
from verl.trainer.ppo.v1 import AgentLoopManagerTQ, AgentLoopWorkerTQ

from compass.rl.remax import GREEDY_BASELINE, REWARD
from compass.rl.reproducible import response_seed
from compass.verifier import warm

LONGEST_REASON = 400
"""Characters of an error that go with its group."""

GREEDY = {"temperature": 0.0, "top_p": 1.0, "top_k": -1}
"""vLLM's sampling that always takes the likeliest token."""

NOT_THE_LOOPS = ("agent_name", "trace", REWARD)
"""What comes with a prompt and is not for verl's loop."""


class _RewardHere:
    """What verl takes for the handle of a reward actor: `compute_score.remote(data)`, awaited in this process."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self.compute_score = self

    def remote(self, data: Any) -> Coroutine[Any, Any, dict[str, Any]]:
        return self._manager.run_single(data)


class ScoringWorker(AgentLoopWorkerTQ.__ray_actor_class__):
    """Samples responses, scores them and puts them into the transfer queue."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        warm(wait=False)  # ready before the first response is
        self.reward_loop_worker_handles = [_RewardHere(load_reward_manager(self.config, self.tokenizer))]
        self._loop: SingleTurnAgentLoop | None = None

    async def _run_prompt(
        self, prompt: dict[str, Any], sampling_params: dict[str, Any], trajectory: dict[str, Any], trace: bool = False
    ) -> None:
        if not trajectory["validate"] and self.config.algorithm.adv_estimator == GREEDY_BASELINE:
            prompt = {**prompt, REWARD: asyncio.create_task(self._greedy_reward(sampling_params, prompt))}
        await super()._run_prompt(prompt, sampling_params, trajectory, trace)

    async def _greedy_reward(self, sampling_params: dict[str, Any], prompt: dict[str, Any]) -> torch.Tensor:
        """The reward of the greedy response, which goes nowhere else: not into the queue, not into the record of rewards."""
        prompt = {name: value for name, value in prompt.items() if name not in NOT_THE_LOOPS}
        output = await self._single_turn().run({**sampling_params, **GREEDY, "detokenize": False}, **prompt)
        await self._compute_score([output], kwargs=prompt)
        return torch.tensor(float(output.reward_score))

    async def _run_agent_loop(self, sampling_params: dict[str, Any], trajectory: dict[str, Any], **prompt: Any) -> None:
        greedy = prompt.get(REWARD)
        prompt = {name: value for name, value in prompt.items() if name not in NOT_THE_LOOPS}
        sampling_params = {**sampling_params, "detokenize": False, **self._seed(prompt)}
        try:
            output = await self._single_turn().run(sampling_params, **prompt)
            if greedy is not None:
                prompt[REWARD] = await greedy  # it becomes a field of the response, as all of the prompt's do
            await self._agent_loop_postprocess(output, trajectory["validate"], **prompt)
        except Exception as error:  # any: verl marks the group as failed, and does not hand on why
            problem = prompt.get("extra_info", {}).get("id", "unknown")
            reason = f"{type(error).__name__}: {error}"[:LONGEST_REASON]
            await tq.async_kv_put(
                key=prompt["uid"],
                partition_id="val" if trajectory["validate"] else "train",
                tag={"error": reason, "problem": problem},
            )
            raise

    def _single_turn(self) -> SingleTurnAgentLoop:
        """verl's loop, made once the event loop runs that it takes hold of."""
        if self._loop is None:
            self._loop = SingleTurnAgentLoop(
                trainer_config=DictConfigWrap(self.config),
                server_manager=self.llm_client,
                tokenizer=self.tokenizer,
                processor=self.processor,
                dataset_cls=self.dataset_cls,
                data_config=DictConfigWrap(self.config.data),
                hf_model_type=self.hf_model_type,
            )
        return self._loop

    def _seed(self, prompt: dict[str, Any]) -> dict[str, int]:
        """vLLM's `seed` for one response, where a response has one of its own."""
        if not self.config.trainer.v1.sampler.sampler_kwargs.reproducible:
            return {}
        return {
            "seed": response_seed(
                self.config.actor_rollout_ref.rollout.seed,
                step=int(prompt["global_steps"]),
                problem=prompt["extra_info"]["id"],
                sample=prompt["session_id"],
            )
        }


class AgentLoopManager(AgentLoopManagerTQ):
    """verl's manager with workers that score."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.agent_loop_workers_class = ray.remote(ScoringWorker)
