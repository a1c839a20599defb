"""What the engine asks of vLLM and makes of its outputs, with vLLM replaced: test_engine.py runs the real one."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import pytest

from compass.sampling.engine import PROMPT_TOO_LONG, Engine, request_seed
from compass.sampling.model_source import Model, SamplingError, find_model
from compass.settings import Sampling

SAMPLING = Sampling(max_tokens=4, max_model_len=10, temperature=0.7, top_p=0.9, dtype="float32", kv_cache_gib=2)


class Tokenizer:
    """A token a character, and the prompt is the messages' contents joined by a line."""

    chat_template = "template"

    def apply_chat_template(self, messages, *, add_generation_prompt, tokenize, return_dict):
        assert add_generation_prompt
        assert tokenize
        assert not return_dict
        return [ord(sign) for sign in "\n".join(message["content"] for message in messages)]

    def decode(self, tokens, *, skip_special_tokens):
        assert skip_special_tokens
        return "".join(map(chr, tokens))


class LLM:
    """Answers request i with its own prompt, the last request first, one step with an unfinished output before each."""

    tokenizer = Tokenizer()

    def __init__(self, path, **options):
        self.path, self.options = path, options
        self.batches = []
        self.waiting = []
        self.shut_down = 0
        self.llm_engine = self
        self.engine_core = SimpleNamespace(shutdown=self.shutdown)

    def shutdown(self):
        self.shut_down += 1

    def get_tokenizer(self):
        return self.tokenizer

    def enqueue(self, prompts, parameters, *, use_tqdm):
        assert not use_tqdm
        self.batches.append(list(zip([prompt["prompt_token_ids"] for prompt in prompts], parameters, strict=True)))
        # Ids of two digits, whose order as text is not their order as numbers.
        self.waiting = [(number + 9, *request) for number, request in enumerate(self.batches[-1])]
        self.half = False

    def has_unfinished_requests(self):
        return bool(self.waiting)

    def step(self):
        self.half = not self.half
        number, prompt, parameters = self.waiting[-1]
        choices = [
            SimpleNamespace(index=index, token_ids=prompt[: index + 1], finish_reason="stop")
            for index in range(parameters.n)
        ]
        if self.half:
            choices = choices[:0]
        else:
            self.waiting.pop()
        return [SimpleNamespace(finished=not self.half, request_id=str(number), outputs=choices)]


@pytest.fixture
def vllm(monkeypatch):
    """A `vllm` to import whose platform is a CPU; `cleaned` counts clean-ups, `registered` classes."""
    root, platforms, distributed = (ModuleType(f"vllm{name}") for name in ("", ".platforms", ".distributed"))
    root.cleaned, root.registered = [], []
    root.LLM = type("LLM", (LLM,), {})
    root.SamplingParams = lambda **options: SimpleNamespace(**options)
    root.ModelRegistry = SimpleNamespace(
        models={"Qwen2ForCausalLM": SimpleNamespace(load_model_cls=lambda: "the class")},
        register_model=lambda *what: root.registered.append(what),
    )
    platforms.current_platform = SimpleNamespace(is_cpu=lambda: root.on_cpu)
    distributed.cleanup_dist_env_and_memory = lambda: root.cleaned.append(1)
    root.on_cpu = True
    for module in (root, platforms, distributed):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delenv("VLLM_ENABLE_V1_MULTIPROCESSING", raising=False)
    return root


@pytest.fixture
def model(tmp_path):
    (tmp_path / "config.json").write_text('{"architectures": ["Qwen2ForCausalLM", "Unknown"]}')
    return find_model(str(tmp_path))


class Told:
    def __init__(self):
        self.calls = []

    def advance(self, responses, tokens):
        self.calls.append((responses, tokens))


def kinds(responses):
    return [(response.id, response.sample, response.greedy, response.text) for response in responses]


def test_responses_stand_by_problem_samples_before_the_greedy_one(vllm, model):
    responses = Engine(model, SAMPLING).sample({"a": "abc", "b": "xyz"}, n=2, greedy=True, seed=0)
    assert kinds(responses) == [
        ("a", 0, False, "a"),
        ("a", 1, False, "ab"),
        ("a", 0, True, "a"),
        ("b", 0, False, "x"),
        ("b", 1, False, "xy"),
        ("b", 0, True, "x"),
    ]
    assert [response.tokens for response in responses] == [1, 2, 1, 1, 2, 1]
    assert {response.finish_reason for response in responses} == {"stop"}


def test_every_problem_is_sampled_with_a_seed_of_its_own_and_greedily_without_one(vllm, model):
    engine = Engine(model, SAMPLING)
    engine.sample({"a": "abc", "b": "xyz"}, n=2, greedy=True, seed=5)
    samples, greedy = engine._llm.batches
    shared = {"max_tokens": 4, "detokenize": False}
    assert [vars(parameters) for _, parameters in samples] == [
        {"n": 2, "temperature": 0.7, "top_p": 0.9, "seed": request_seed(5, name), **shared} for name in "ab"
    ]
    assert [vars(parameters) for _, parameters in greedy] == [{"n": 1, "temperature": 0.0, **shared}] * 2


def test_at_temperature_0_samples_are_greedy_too(vllm, model):
    engine = Engine(model, SAMPLING.model_copy(update={"temperature": 0.0}))
    engine.sample({"a": "abc"}, n=3, greedy=False, seed=5)
    ((_, parameters),) = engine._llm.batches[0]
    assert vars(parameters) == {"n": 3, "temperature": 0.0, "max_tokens": 4, "detokenize": False}


@pytest.mark.parametrize(("n", "greedy", "batches"), [(0, True, 1), (2, False, 1), (2, True, 2), (0, False, 0)])
def test_only_what_is_wanted_is_asked(vllm, model, n, greedy, batches):
    engine = Engine(model, SAMPLING)
    assert len(engine.sample({"a": "abc"}, n=n, greedy=greedy, seed=0)) == n + greedy
    assert len(engine._llm.batches) == batches


def test_a_prompt_may_leave_just_the_room_of_a_response(vllm, model):
    told = Told()
    problems = {"long": "x" * 7, "fits": "x" * 6}
    responses = Engine(model, SAMPLING).sample(problems, n=2, greedy=True, seed=0, progress=told)
    assert [response.finish_reason for response in responses] == [PROMPT_TOO_LONG] * 3 + ["stop"] * 3
    assert [(r.id, r.sample, r.greedy, r.tokens, r.text) for r in responses[:3]] == [
        ("long", 0, False, 0, ""),
        ("long", 1, False, 0, ""),
        ("long", 0, True, 0, ""),
    ]
    assert told.calls == [(2, 3), (1, 1), (3, 0)]


def test_nothing_is_asked_where_every_prompt_is_too_long(vllm, model):
    engine = Engine(model, SAMPLING)
    assert len(engine.sample({"a": "x" * 7}, n=1, greedy=False, seed=0)) == 1
    assert engine._llm.batches == []


def test_more_than_ten_outputs_keep_the_order_of_their_problems(vllm, model):
    problems = {f"p{number}": chr(65 + number) for number in range(12)}
    responses = Engine(model, SAMPLING).sample(problems, n=1, greedy=False, seed=0)
    assert "".join(response.text for response in responses) == "ABCDEFGHIJKL"


def test_the_prompt_is_the_chat_with_the_settings_words(vllm, model):
    words = {"system_prompt": "S", "prompt_suffix": "!", "max_model_len": 20}
    engine = Engine(model, SAMPLING.model_copy(update=words))
    engine.sample({"a": "1+1"}, n=1, greedy=False, seed=0)
    ((prompt, _),) = engine._llm.batches[0]
    assert "".join(map(chr, prompt)) == "S\n1+1 !"


def test_on_cpu_the_engine_runs_in_this_process_with_bounded_memory(vllm, model, monkeypatch):
    import os

    engine = Engine(model, SAMPLING)
    assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    assert vllm.registered == [("Qwen2ForCausalLM", "the class")]
    assert engine._llm.path == model.path
    assert engine._llm.options == {
        "dtype": "float32",
        "max_model_len": 10,
        "tensor_parallel_size": 1,
        "seed": 0,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        "enforce_eager": True,
        "kv_cache_memory_bytes": 2 * 2**30,
        "max_num_seqs": 512,
        "max_num_batched_tokens": 8192,
        "enable_chunked_prefill": False,
    }
    longer = Engine(model, SAMPLING.model_copy(update={"max_model_len": 9000}))
    assert longer._llm.options["max_num_batched_tokens"] == 9000


def test_on_a_gpu_memory_is_a_share_and_a_hub_model_is_pinned(vllm):
    vllm.on_cpu = False
    engine = Engine(Model("owner/model", "0123abc"), SAMPLING)
    options = engine._llm.options
    assert options["gpu_memory_utilization"] == SAMPLING.memory
    assert (options["revision"], options["tokenizer_revision"]) == ("0123abc", "0123abc")
    assert "enforce_eager" not in options
    assert vllm.registered == []


def test_a_hub_model_on_cpu_is_inspected_by_vllm_itself(vllm):
    Engine(Model("owner/model", "0123abc"), SAMPLING)
    assert vllm.registered == []


def test_memory_is_given_back_once(vllm, model):
    with Engine(model, SAMPLING) as engine:
        llm = engine._llm
    engine.close()
    assert (llm.shut_down, len(vllm.cleaned)) == (1, 1)


def test_a_tokenizer_without_a_chat_template_gives_its_memory_back_first(vllm, model):
    vllm.LLM.tokenizer = SimpleNamespace(chat_template=None)
    with pytest.raises(SamplingError, match="has no chat template"):
        Engine(model, SAMPLING)
    assert len(vllm.cleaned) == 1


def test_a_seed_is_the_same_on_every_machine():
    assert request_seed(0, "p1") == 145966053713582
