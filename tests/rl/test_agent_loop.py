"""A group of responses, sampled by one call and scored in the worker that samples it. verl's classes are stand-ins."""

import asyncio
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from compass.rl.failure import first_cause

PROBLEM = {
    "uid": "u1",
    "raw_prompt": [{"role": "user", "content": "2+3"}],
    "data_source": "tiny",
    "reward_model": {"ground_truth": "5"},
    "extra_info": {"id": "a1"},
    "index": 0,
    "global_steps": 7,
}
STARTS = {"top_p": 1.0, "detokenize": True}


class WorkerBase:
    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.arguments = (arguments, named)
        options = SimpleNamespace(reproducible=False, overlong_filter=False)
        self.config = SimpleNamespace(
            data="data settings",
            algorithm=SimpleNamespace(adv_estimator="grpo"),
            trainer=SimpleNamespace(v1=SimpleNamespace(sampler=SimpleNamespace(sampler_kwargs=options))),
            actor_rollout_ref=SimpleNamespace(rollout=SimpleNamespace(n=3, seed=5, val_kwargs=SimpleNamespace(n=2))),
        )
        self.llm_client, self.tokenizer, self.processor = Client(), "tokenizer", "processor"
        self.dataset_cls, self.hf_model_type = "dataset", "qwen2"


class Output(SimpleNamespace):
    def as_dict(self) -> dict[str, Any]:
        responses = torch.tensor(self.response_ids)
        return {
            "prompts": torch.tensor(self.prompt_ids),
            "responses": responses,
            "response_mask": torch.tensor(self.response_mask),
            "reward": self.reward_score,
        }


class Server:
    """Every response is one token longer than the one before."""

    def __init__(self) -> None:
        self.calls: list[Any] = []
        self.generate_group = SimpleNamespace(remote=self.generate)

    async def generate(self, prompt: list[int], sampling: dict[str, Any], seeds: list[int | None]) -> list[Any]:
        self.calls.append((prompt, sampling, seeds))
        return [
            SimpleNamespace(token_ids=[9] * size, log_probs=[-0.5] * size, extra_fields={"global_steps": 6})
            for size in range(1, len(seeds) + 1)
        ]


class Client:
    def __init__(self) -> None:
        self.server = Server()
        self.busy: list[str] = []

    async def _acquire_server(self, request: str, **_: Any) -> tuple[str, Server]:
        self.busy.append(request)
        return "first", self.server

    def _release_server(self, name: str, request_id: str) -> None:
        assert name == "first"
        self.busy.remove(request_id)


class SingleTurnAgentLoop:
    made: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, **options: Any) -> None:
        self.made.append(options)
        self.server_manager = options["server_manager"]
        self.response_length = 2

    async def ct_build_initial_tokens(self, messages: list[Any]) -> list[int]:
        return [4] * len(messages[0]["content"])


class Manager:
    """Longer responses are better; the one of `fails` tokens cannot be scored."""

    fails: ClassVar[int] = 0

    async def run_single(self, data: Any) -> dict[str, Any]:
        tokens = data.batch["responses"].shape[1]
        assert data.batch["attention_mask"].shape == (1, 3 + tokens)
        assert data.non_tensor_batch["reward_model"][0] == PROBLEM["reward_model"]
        assert data.non_tensor_batch["extra_info"][0] == {"id": "a1", "response_tokens": tokens}
        if tokens == self.fails:
            raise RecursionError("the verifier is in a loop" + "!" * 1000)
        return {"reward_score": float(tokens), "reward_extra_info": {"acc": tokens > 1}}


@pytest.fixture
def agent_loop(library: Any, load: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(SingleTurnAgentLoop, "made", [])
    worker = SimpleNamespace(__ray_actor_class__=WorkerBase)
    manager = type("AgentLoopManagerTQ", (), {"__init__": lambda self, *arguments, **named: None})
    tags: list[Any] = []
    groups: list[dict[str, Any]] = []

    async def put(**tag: Any) -> None:
        tags.append(tag)

    async def put_group(**group: Any) -> None:
        groups.append(group)

    library("transfer_queue", async_kv_put=put, async_kv_batch_put=put_group)
    library("ray", remote=lambda kind: ("remote", kind))
    library("tensordict", TensorDict=lambda rows, batch_size: rows)
    library("verl.protocol", DataProto=lambda **parts: SimpleNamespace(**parts))
    library(
        "verl.experimental.agent_loop.agent_loop",
        AgentLoopOutput=lambda **fields: Output(**fields, reward_score=None),
        DictConfigWrap=lambda config: ("wrapped", config),
    )
    library("verl.experimental.agent_loop.single_turn_agent_loop", SingleTurnAgentLoop=SingleTurnAgentLoop)
    library("verl.trainer.ppo.reward", load_reward_manager=lambda config, tokenizer: Manager())
    library("verl.trainer.ppo.v1", AgentLoopManagerTQ=manager, AgentLoopWorkerTQ=worker)
    library("verl.utils.tensordict_utils", list_of_dict_to_tensordict=list)
    library(
        "verl.trainer.ppo.v1.agent_loop_tq",
        apply_greedy_sampling_params=lambda sampling: sampling.update(temperature=0),
    )
    library("verl.workers.rollout.replica", TokenOutput=SimpleNamespace)
    server, replica = type("vLLMHttpServer", (), {}), type("vLLMReplica", (), {})
    library("verl.workers.rollout.vllm_rollout.vllm_async_server", vLLMHttpServer=server, vLLMReplica=replica)
    library("vllm.sampling_params", RequestOutputKind=SimpleNamespace(FINAL_ONLY="at the end"))
    module = load("compass.rl.agent_loop")
    module.tags, module.groups = tags, groups
    return module


def sample(worker: Any, *, validate: bool = False, **more: Any) -> None:
    asyncio.run(worker._run_prompt({**PROBLEM, **more}, STARTS, trajectory={"validate": validate}))


def test_a_group_is_one_call_to_one_engine_without_text_by_a_loop_made_once(agent_loop: Any) -> None:
    worker = agent_loop.ScoringWorker("config", name="one")
    assert worker.arguments == (("config",), {"name": "one"})
    sample(worker)
    sample(worker, validate=True)
    call = ([4, 4, 4], {"top_p": 1.0, "detokenize": False})
    assert worker.llm_client.server.calls == [(*call, [None] * 3), (*call, [None] * 2)]
    assert worker.llm_client.busy == []
    assert STARTS == {"top_p": 1.0, "detokenize": True}
    assert [group["partition_id"] for group in agent_loop.groups] == ["train", "val"]
    assert [tag["partition_id"] for tag in agent_loop.tags] == ["train", "val"]
    (made,) = SingleTurnAgentLoop.made
    assert (made["server_manager"], made["tokenizer"], made["processor"]) == (
        worker.llm_client,
        "tokenizer",
        "processor",
    )
    assert (made["trainer_config"], made["data_config"]) == (("wrapped", worker.config), ("wrapped", "data settings"))
    assert (made["dataset_cls"], made["hf_model_type"]) == ("dataset", "qwen2")


def test_a_group_is_one_entry_of_the_queue_as_verl_reads_it(agent_loop: Any) -> None:
    sample(agent_loop.ScoringWorker())
    (group,) = agent_loop.groups
    assert group["keys"] == ["u1_0_0", "u1_1_0", "u1_2_0"]
    assert group["partition_id"] == "train"
    assert [fields["reward"] for fields in group["fields"]] == [1.0, 2.0, 2.0]  # the third is cut to two tokens
    fields = group["fields"][1]
    assert fields["input_ids"].tolist() == [4, 4, 4, 9, 9]
    assert fields["position_ids"].tolist() == [0, 1, 2, 3, 4]
    assert fields["loss_mask"].tolist() == fields["response_mask"].tolist() == [1, 1]
    assert fields["extra_info"] == {"id": "a1"}
    assert "raw_prompt" not in fields
    assert group["tags"][1] == {
        "status": "success",
        "prompt_len": 3,
        "response_len": 2,
        "seq_len": 5,
        "global_steps": 7,
        "min_global_steps": 6,
        "max_global_steps": 6,
    }
    assert agent_loop.tags == [{"key": "u1", "partition_id": "train", "tag": {"status": "finished"}}]


def test_no_token_of_a_response_that_was_cut_off_trains_where_the_settings_say_so(agent_loop: Any) -> None:
    worker = agent_loop.ScoringWorker()
    worker.config.trainer.v1.sampler.sampler_kwargs.overlong_filter = True
    sample(worker)
    (group,) = agent_loop.groups
    assert [fields["response_mask"].tolist() for fields in group["fields"]] == [[1], [0, 0], [0, 0]]
    assert [fields["loss_mask"].tolist() for fields in group["fields"]] == [[1], [0, 0], [0, 0]]
    assert [fields["reward"] for fields in group["fields"]] == [1.0, 2.0, 2.0]
    assert [tag["response_len"] for tag in group["tags"]] == [1, 2, 2]


@pytest.mark.parametrize(
    ("given", "number", "greedy"),
    [({}, 3, False), ({"__rollout_n__": np.int64(1)}, 1, False), ({"__do_sample__": False}, 3, True)],
)
def test_a_problem_can_ask_for_other_responses(agent_loop: Any, given: dict, number: int, greedy: bool) -> None:
    worker = agent_loop.ScoringWorker()
    sample(worker, **given)
    ((_, sampling, asked),) = worker.llm_client.server.calls
    assert (len(asked), "temperature" in sampling) == (number, greedy)


def test_a_response_of_a_reproducible_run_is_drawn_from_a_seed_of_its_own_also_when_its_problem_comes_again(
    agent_loop: Any,
) -> None:
    worker = agent_loop.ScoringWorker()
    worker.config.trainer.v1.sampler.sampler_kwargs.reproducible = True
    sample(worker)
    sample(worker, sent_before=torch.tensor(1))
    seeds = [seed for _, _, asked in worker.llm_client.server.calls for seed in asked]
    assert seeds == [agent_loop.response_seed(5, step=7, problem="a1", sample=place) for place in range(6)]


@pytest.mark.parametrize(("validate", "calls"), [(False, 2), (True, 1)])
def test_under_remax_the_greedy_responses_reward_goes_with_each_response(
    agent_loop: Any, validate: bool, calls: int
) -> None:
    worker = agent_loop.ScoringWorker()
    worker.config.algorithm.adv_estimator = agent_loop.GREEDY_BASELINE
    sample(worker, validate=validate)
    asked = [(sampling.get("temperature"), seeds) for _, sampling, seeds in worker.llm_client.server.calls]
    assert len(asked) == calls
    assert ((0, [None]) in asked) is not validate
    rewards = [fields.get(agent_loop.REWARD) for fields in agent_loop.groups[0]["fields"]]
    assert rewards == ([None, None] if validate else [1.0, 1.0, 1.0])


@pytest.mark.parametrize("estimator", ["grpo", "remax_greedy_baseline"])
def test_an_engine_or_a_greedy_response_that_fails_fails_the_group_and_the_server_is_given_back(
    agent_loop: Any, estimator: str
) -> None:
    worker = agent_loop.ScoringWorker()
    worker.config.algorithm.adv_estimator = estimator

    async def fails(*_: Any) -> None:
        raise RuntimeError("out of memory")

    if estimator == "grpo":
        worker.llm_client.server.generate_group.remote = fails
    else:
        worker._greedy_reward = fails
    sample(worker)
    assert agent_loop.groups == []
    assert agent_loop.tags[-1]["tag"] == {"status": "failure", "error": "RuntimeError: out of memory", "problem": "a1"}
    assert worker.llm_client.busy == []


def test_why_a_response_failed_goes_with_its_group_and_the_others_are_kept(
    agent_loop: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Manager, "fails", 1)
    sample(agent_loop.ScoringWorker())
    assert agent_loop.groups[0]["keys"] == ["u1_1_0", "u1_2_0"]
    (tag,) = agent_loop.tags
    assert (tag["key"], tag["tag"]["status"], tag["tag"]["problem"]) == ("u1", "failure", "a1")
    assert tag["tag"]["error"].startswith("RecursionError: the verifier is in a loop!!!")
    assert len(tag["tag"]["error"]) == 400


def test_a_group_that_failed_is_logged_and_is_not_taken_for_the_end_of_a_later_run(
    agent_loop: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        try:
            raise KeyError("no number")
        except KeyError as error:
            raise ValueError("no number in it") from error

    monkeypatch.setattr(agent_loop.ScoringWorker, "_sample_and_store", fail)
    sample(agent_loop.ScoringWorker())
    log = caplog.text.splitlines()
    assert "ValueError: no number in it" in log
    assert first_cause(log) is None
    later = ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "SaturatedError: all right"]
    assert first_cause([*log, *later]).text == "SaturatedError: all right"


def test_the_server_is_asked_for_each_response_of_a_group_and_answers_once(agent_loop: Any) -> None:
    class Asked(agent_loop.GroupServer):
        async def generate(self, prompt: list[int], sampling: dict[str, Any], request_id: str) -> Any:
            return prompt, sampling, request_id

    answers = asyncio.run(Asked().generate_group([4, 4], {"top_p": 1.0}, [7, None]))
    sampling = {"top_p": 1.0, "output_kind": "at the end"}
    assert [answer[:2] for answer in answers] == [([4, 4], sampling | {"seed": seed}) for seed in (7, None)]
    assert answers[0][2] != answers[1][2]
