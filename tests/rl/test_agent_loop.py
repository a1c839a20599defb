"""One prompt, one response, scored in the worker that samples it. verl's classes are stand-ins."""

import asyncio
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest


class WorkerBase:
    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.arguments = (arguments, named)
        options = SimpleNamespace(reproducible=False)
        self.config = SimpleNamespace(
            data="data settings",
            trainer=SimpleNamespace(v1=SimpleNamespace(sampler=SimpleNamespace(sampler_kwargs=options))),
            actor_rollout_ref=SimpleNamespace(rollout=SimpleNamespace(seed=5)),
        )
        self.llm_client, self.tokenizer, self.processor = "vllm", "tokenizer", "processor"
        self.dataset_cls, self.hf_model_type = "dataset", "qwen2"
        self.sent: list[Any] = []

    async def _agent_loop_postprocess(self, output: Any, validate: bool, **prompt: Any) -> None:
        self.sent.append((output, validate, prompt))


class SingleTurnAgentLoop:
    made: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, **options: Any) -> None:
        self.made.append(options)

    async def run(self, sampling: dict[str, Any], **prompt: Any) -> Any:
        return sampling, prompt


class Manager:
    async def run_single(self, data: Any) -> dict[str, Any]:
        return {"scored": data}


@pytest.fixture
def agent_loop(library: Any, load: Any) -> Any:
    SingleTurnAgentLoop.made = []
    worker = SimpleNamespace(__ray_actor_class__=WorkerBase)
    manager = type("AgentLoopManagerTQ", (), {"__init__": lambda self, *arguments, **named: None})
    tags: list[dict[str, Any]] = []

    async def put(**tag: Any) -> None:
        tags.append(tag)

    library("transfer_queue", async_kv_put=put)
    library("ray", remote=lambda kind: ("remote", kind))
    library("verl.experimental.agent_loop.agent_loop", DictConfigWrap=lambda config: ("wrapped", config))
    library("verl.experimental.agent_loop.single_turn_agent_loop", SingleTurnAgentLoop=SingleTurnAgentLoop)
    library("verl.trainer.ppo.reward", load_reward_manager=lambda config, tokenizer: Manager())
    library("verl.trainer.ppo.v1", AgentLoopManagerTQ=manager, AgentLoopWorkerTQ=worker)
    module = load("compass.rl.agent_loop")
    module.tags = tags
    return module


def test_a_response_is_scored_by_the_workers_own_reward_manager(agent_loop: Any) -> None:
    worker = agent_loop.ScoringWorker("config", name="one")
    assert worker.arguments == (("config",), {"name": "one"})
    (handle,) = worker.reward_loop_worker_handles
    assert asyncio.run(handle.compute_score.remote("response")) == {"scored": "response"}


def test_the_loop_is_made_once_and_vllm_is_not_asked_for_text(agent_loop: Any) -> None:
    worker = agent_loop.ScoringWorker()
    for number, validate in enumerate([False, True]):
        prompt = {"raw_prompt": f"problem {number}", "agent_name": "single", "trace": "off"}
        asyncio.run(worker._run_agent_loop({"top_p": 1.0, "detokenize": True}, {"validate": validate}, **prompt))
    assert SingleTurnAgentLoop.made == [
        {
            "trainer_config": ("wrapped", worker.config),
            "server_manager": "vllm",
            "tokenizer": "tokenizer",
            "processor": "processor",
            "dataset_cls": "dataset",
            "data_config": ("wrapped", "data settings"),
            "hf_model_type": "qwen2",
        }
    ]
    sampling = {"top_p": 1.0, "detokenize": False}
    prompts = [{"raw_prompt": "problem 0"}, {"raw_prompt": "problem 1"}]
    assert worker.sent == [((sampling, prompts[0]), False, prompts[0]), ((sampling, prompts[1]), True, prompts[1])]


def test_a_response_of_a_reproducible_run_is_drawn_from_a_seed_of_its_own(agent_loop: Any) -> None:
    worker = agent_loop.ScoringWorker()
    worker.config.trainer.v1.sampler.sampler_kwargs.reproducible = True
    for sample in (0, 1):
        prompt = {"extra_info": {"id": "a1"}, "session_id": sample, "global_steps": 3}
        asyncio.run(worker._run_agent_loop({}, {"validate": False}, **prompt))
    seeds = [sampling["seed"] for (sampling, _), _, _ in worker.sent]
    assert seeds == [agent_loop.response_seed(5, step=3, problem="a1", sample=sample) for sample in (0, 1)]


@pytest.mark.parametrize(("validate", "partition"), [(False, "train"), (True, "val")])
def test_why_a_response_failed_goes_with_its_group(
    agent_loop: Any, monkeypatch: pytest.MonkeyPatch, validate: bool, partition: str
) -> None:
    async def fails(self: Any, *_: Any, **__: Any) -> None:
        raise RecursionError("the verifier is in a loop" + "!" * 1000)

    monkeypatch.setattr(WorkerBase, "_agent_loop_postprocess", fails)
    worker = agent_loop.ScoringWorker()
    prompt = {"raw_prompt": "problem", "uid": "u1", "extra_info": {"id": "a1"}}
    with pytest.raises(RecursionError):  # verl marks the group as failed
        asyncio.run(worker._run_agent_loop({}, {"validate": validate}, **prompt))
    (tag,) = agent_loop.tags
    assert (tag["key"], tag["partition_id"]) == ("u1", partition)
    assert tag["tag"]["error"].startswith("RecursionError: the verifier is in a loop!!!")
    assert len(tag["tag"]["error"]) == 400
    assert tag["tag"]["problem"] == "a1"


def test_verls_manager_starts_workers_that_score(agent_loop: Any) -> None:
    assert agent_loop.AgentLoopManager("config").agent_loop_workers_class == ("remote", agent_loop.ScoringWorker)
