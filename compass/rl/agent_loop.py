"""From vLLM to the reward: one problem, its whole group of responses, scored where they are made; verl's agent loop without its cost per response.

verl's loop handles every response alone: it resolves its class by hydra, makes the prompt's tokens anew, asks the load balancer
for an engine and the engine for one response, sends the response to a reward actor, and puts it into the transfer queue.
With a small policy that takes several times the processor time of sampling. Here

1. a group is one call to one engine, which makes an output of a response once, not of every token (`GroupServer`);
2. the verifier scores in the worker, by the same reward manager that a reward actor would load;
3. a group is one entry in the transfer queue, with the fields that something reads;
4. the reason of a response that cannot be sampled or scored goes with its group, for the guard `failed_rollouts`;
5. under ReMax one greedy response per problem is sampled and scored next to the group, and its reward goes with each response;
6. with `rollout.reproducible` each response is drawn from a seed of its own (`compass.rl.reproducible`).

verl loads it by name (`actor_rollout_ref.rollout.agent.agent_loop_manager_class`); `compass.rl.train` registers `GroupReplica` in the place of
verl's replica.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import Any
from uuid import uuid4

import numpy as np
import ray
import torch
import transfer_queue as tq
from tensordict import TensorDict
from verl.experimental.agent_loop.agent_loop import AgentLoopOutput, DictConfigWrap
from verl.experimental.agent_loop.single_turn_agent_loop import SingleTurnAgentLoop
from verl.protocol import DataProto
from verl.trainer.ppo.reward import load_reward_manager
from verl.trainer.ppo.v1 import AgentLoopManagerTQ, AgentLoopWorkerTQ
from verl.trainer.ppo.v1.agent_loop_tq import apply_greedy_sampling_params
from verl.utils.tensordict_utils import list_of_dict_to_tensordict
from verl.workers.rollout.replica import TokenOutput
from verl.workers.rollout.vllm_rollout.vllm_async_server import vLLMHttpServer, vLLMReplica
from vllm.sampling_params import RequestOutputKind

from compass.rl.estimators import GREEDY_BASELINE, REWARD
from compass.rl.failure import TRACEBACK
from compass.rl.reproducible import BEFORE, response_seed
from compass.rl.reward_function import RESPONSE_TOKENS
from compass.verifier import warm

LONGEST_REASON = 400
"""Characters of an error that go with its group."""

STORED = ("uid", "data_source", "reward_model", "extra_info")
"""What the transfer queue keeps of a problem with each of its responses; the trainer fetches all that is there."""


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


class GroupLoop(SingleTurnAgentLoop):
    """verl's single-turn loop for all responses to one prompt."""

    async def sample(
        self, sampling: dict[str, Any], seeds: list[int | None], messages: list[dict[str, str]]
    ) -> list[AgentLoopOutput]:
        """Responses to one prompt, from one engine: as many as `seeds`, each drawn from its own where that is a number."""
        prompt = await self.ct_build_initial_tokens(messages)
        request = uuid4().hex
        name, server = await self.server_manager._acquire_server(request, prompt_ids=prompt, sampling_params=sampling)
        try:
            outputs = await server.generate_group.remote(prompt, sampling, seeds)
        finally:
            self.server_manager._release_server(name, request_id=request)
        return [self._output(prompt, output) for output in outputs]

    def _output(self, prompt: list[int], output: Any) -> AgentLoopOutput:
        """One response as verl hands it on."""
        step, length = output.extra_fields.get("global_steps"), self.response_length
        tokens = list(output.token_ids)[:length]
        return AgentLoopOutput(
            prompt_ids=prompt,
            response_ids=tokens,
            response_mask=[1] * len(tokens),
            response_logprobs=output.log_probs[:length] if output.log_probs else None,
            num_turns=2,
            metrics={},
            extra_fields={
                **output.extra_fields,
                "min_global_steps": step,
                "max_global_steps": step,
                "turn_scores": [],
                "tool_rewards": [],
            },
        )


class ScoringWorker(AgentLoopWorkerTQ.__ray_actor_class__):
    """Samples groups of responses, scores them and puts them into the transfer queue."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        warm(wait=False)  # ready before the first response is
        self._rewards = load_reward_manager(self.config, self.tokenizer)
        self._loop: GroupLoop | None = None

    async def _run_prompt(
        self, prompt: dict[str, Any], sampling_params: dict[str, Any], trajectory: dict[str, Any], trace: bool = False
    ) -> None:
        """Sample, score and store the group of one problem; verl starts one such task per problem."""
        settings = self.config.actor_rollout_ref.rollout
        validate = trajectory["validate"]
        number = prompt.pop("__rollout_n__", settings.val_kwargs.n if validate else settings.n)
        sampling = {**sampling_params, "detokenize": False}
        if not validate and not prompt.pop("__do_sample__", True):
            apply_greedy_sampling_params(sampling)
        partition = "val" if validate else "train"
        try:
            error = await self._sample_and_store(prompt, sampling, int(number), partition)
        except Exception as failure:  # any: verl marks the group as failed, and does not hand on why
            error = failure
        tag: dict[str, Any] = {"status": "finished"}
        if error is not None:
            # Not as a traceback: `failure.first_cause` would take what a stage tolerates for what ended it.
            told = "".join(traceback.format_exception(error)).replace(TRACEBACK, "A group failed:")
            logging.getLogger(__name__).error(told)
            problem = prompt.get("extra_info", {}).get("id", "unknown")
            reason = f"{type(error).__name__}: {error}"[:LONGEST_REASON]
            tag = {"status": "failure", "error": reason, "problem": problem}
        await tq.async_kv_put(key=prompt["uid"], partition_id=partition, tag=tag)

    async def _sample_and_store(
        self, prompt: dict[str, Any], sampling: dict[str, Any], number: int, partition: str
    ) -> BaseException | None:
        """Put the responses of a group that could be scored into the queue; the first error of those that could not."""
        if self._loop is None:  # it takes hold of the running event loop
            self._loop = GroupLoop(
                trainer_config=DictConfigWrap(self.config),
                server_manager=self.llm_client,
                tokenizer=self.tokenizer,
                processor=self.processor,
                dataset_cls=self.dataset_cls,
                data_config=DictConfigWrap(self.config.data),
                hf_model_type=self.hf_model_type,
            )
        greedy = asyncio.create_task(self._greedy_reward(prompt, sampling)) if self._is_remax(partition) else None
        try:
            outputs = await self._loop.sample(sampling, self._seeds(prompt, number), list(prompt["raw_prompt"]))
        finally:
            if greedy is not None:  # a group is marked as finished or failed when no engine works on it any more
                await asyncio.wait([greedy])
        scored = await asyncio.gather(*(self._score(prompt, output) for output in outputs), return_exceptions=True)
        whole = {place: output for place, output in enumerate(outputs) if not isinstance(scored[place], BaseException)}
        if whole:
            kept = {name: prompt[name] for name in STORED}
            mask = self._loop.response_length if self._filters_overlong() else None
            if greedy is not None:
                kept[REWARD] = await greedy
            await tq.async_kv_batch_put(
                keys=[f"{prompt['uid']}_{place}_0" for place in whole],  # verl's names: GROUP_SAMPLE_PART
                fields=list_of_dict_to_tensordict([_fields(output, kept, mask) for output in whole.values()]),
                tags=[_tag(output, prompt["global_steps"]) for output in whole.values()],
                partition_id=partition,
            )
        return next((result for result in scored if isinstance(result, BaseException)), None)

    def _filters_overlong(self) -> bool:
        return bool(self.config.trainer.v1.sampler.sampler_kwargs.overlong_filter)

    def _is_remax(self, partition: str) -> bool:
        return partition == "train" and self.config.algorithm.adv_estimator == GREEDY_BASELINE

    async def _greedy_reward(self, prompt: dict[str, Any], sampling: dict[str, Any]) -> torch.Tensor:
        """The reward of the greedy response, which goes nowhere else: not into the queue, not into the record of rewards."""
        sampling = dict(sampling)
        apply_greedy_sampling_params(sampling)
        (output,) = await self._loop.sample(sampling, [None], list(prompt["raw_prompt"]))
        await self._score(prompt, output)
        return torch.tensor(float(output.reward_score))

    def _seeds(self, prompt: dict[str, Any], number: int) -> list[int | None]:
        """vLLM's `seed` for each response, where a response has one of its own."""
        if not self.config.trainer.v1.sampler.sampler_kwargs.reproducible:
            return [None] * number
        seed, step = self.config.actor_rollout_ref.rollout.seed, int(prompt["global_steps"])
        problem = prompt["extra_info"]["id"]
        first = number * int(prompt.get(BEFORE, 0))
        return [response_seed(seed, step=step, problem=problem, sample=first + place) for place in range(number)]

    async def _score(self, prompt: dict[str, Any], output: AgentLoopOutput) -> None:
        """Give a response its reward, by verl's reward manager."""
        tokens = torch.tensor(output.response_ids, dtype=torch.int64)
        rows = {"responses": tokens[None], "attention_mask": torch.ones(1, len(output.prompt_ids) + len(tokens))}
        stored = {name: prompt[name] for name in STORED}
        stored["extra_info"] = {**prompt["extra_info"], RESPONSE_TOKENS: len(tokens)}
        data = DataProto(
            batch=TensorDict({name: row.to(torch.int64) for name, row in rows.items()}, batch_size=1),
            non_tensor_batch={name: np.array([value], dtype=object) for name, value in stored.items()},
        )
        result = await self._rewards.run_single(data)
        output.reward_score = result["reward_score"]
        output.extra_fields["reward_extra_info"] = result["reward_extra_info"]


def _fields(output: AgentLoopOutput, problem: dict[str, Any], cut_off: int | None = None) -> dict[str, Any]:
    """What the queue holds of a response, as verl's trainer reads it.

    Args:
        output: the response.
        problem: the fields of its problem that are kept.
        cut_off: tokens of a response that no token of trains, for it was cut off; None where all train.
    """
    fields = {**output.as_dict(), **problem}
    if cut_off is not None and len(output.response_ids) >= cut_off:
        fields["response_mask"] = torch.zeros_like(fields["response_mask"])
    fields["loss_mask"] = fields["response_mask"]
    fields["input_ids"] = torch.cat([fields["prompts"], fields["responses"]])
    fields["position_ids"] = torch.arange(len(fields["input_ids"]))
    return fields


def _tag(output: AgentLoopOutput, step: int) -> dict[str, Any]:
    """What the queue's controller keeps of a response."""
    prompt, response = len(output.prompt_ids), len(output.response_ids)
    return {
        "status": "success",
        "prompt_len": prompt,
        "response_len": response,
        "seq_len": prompt + response,
        "global_steps": step,
        "min_global_steps": output.extra_fields["min_global_steps"],
        "max_global_steps": output.extra_fields["max_global_steps"],
    }


class AgentLoopManager(AgentLoopManagerTQ):
    """verl's manager with workers that score."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.agent_loop_workers_class = ray.remote(ScoringWorker)
