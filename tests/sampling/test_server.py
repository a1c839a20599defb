"""Sampling from a server, against a real HTTP server that speaks as much of the protocol as is asked."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from compass.prompts.registry import find_prompt
from compass.sampling import server as server_module
from compass.sampling.engine import encode_prompt, sample_seed
from compass.sampling.model_source import Model, SamplingError, Server, model_digest
from compass.sampling.response import FAILED, PROMPT_TOO_LONG, Wanted
from compass.sampling.resume import sample_responses
from compass.sampling.server import API_KEY, ServerEngine, find_served, find_server
from compass.settings import Sampling
from tests.conftest import OpenAiHandler

SECRET = "key-of-a-test-0123"


@pytest.fixture
def server(openai_server):
    return openai_server


SAMPLING = Sampling(max_tokens=9, temperature=0.7, top_p=0.9)


def test_a_server_tells_its_model_and_version(server) -> None:
    assert find_server(server.url) == Server(f"{server.url}/v1", "m", "m", "9.9", max_model_len=4096)
    assert find_server(f"{server.url}/v1/", name="mine").name == "mine"
    server.models = ["a", "b"]
    with pytest.raises(SamplingError, match="offers a, b; choose one with --server-model"):
        find_server(server.url)
    assert find_server(server.url, model="b").model == "b"
    with pytest.raises(SamplingError, match="offers a, b, not 'c'"):
        find_server(server.url, model="c")


@pytest.mark.parametrize("url", ["ftp://host", "localhost:8000", "http://"])
def test_what_is_no_url_of_a_server_is_named(url: str) -> None:
    with pytest.raises(SamplingError, match="not the URL of a server"):
        find_server(url)


def test_a_server_that_does_not_answer_is_named(server) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(SamplingError, match="is it an OpenAI-compatible server that runs"):
        find_server(server.url)


def test_every_response_is_asked_for_with_the_seed_of_the_offline_engine(server) -> None:
    wanted = [Wanted("p", "1+1?", 0, False), Wanted("p", "1+1?", 1, False), Wanted("p", "1+1?", 0, True)]
    with ServerEngine(find_server(server.url), SAMPLING) as engine:
        found = {one.wanted: one for one in engine.sample(wanted, seed=4)}
    assert [found[one].text for one in wanted] == [
        f"1+1? by {sample_seed(4, 'p', 0)}",
        f"1+1? by {sample_seed(4, 'p', 1)}",
        "1+1? by None",
    ]
    assert {(one.tokens, one.finish_reason) for one in found.values()} == {(5, "stop")}
    bodies = [body for _, body, _ in server.asked]
    assert [(body["temperature"], body.get("n", 1)) for body in bodies] == [(0.7, 2), (0.0, 1)]
    assert {body["max_tokens"] for body in bodies} == {9}
    assert {path for path, *_ in server.asked} == {"/v1/chat/completions"}


def test_the_generation_config_of_a_model_decides_nothing_on_vllm(server) -> None:
    wanted = [Wanted("p", "1+1?", 0, False), Wanted("p", "1+1?", 0, True)]
    off = {"top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
    source = find_server(server.url)
    for one in (source, replace(source, version="")):
        with ServerEngine(one, SAMPLING) as engine:
            list(engine.sample(wanted, seed=4))
    assert [{name: body[name] for name in off if name in body} for _, body, _ in server.asked] == [off, off, {}, {}]


def test_a_prompt_with_a_template_of_its_own_is_sent_as_text(server) -> None:
    with ServerEngine(find_server(server.url), Sampling(prompt="few-shot")) as engine:
        list(engine.sample([Wanted("p", "1+1?", 0, True)], seed=0))
    ((path, body, _),) = server.asked
    assert path == "/v1/completions"
    assert body["prompt"].endswith("Question: 1+1?\nAnswer:")
    assert body["stop"] == ["\nQuestion:"]


@pytest.mark.parametrize("prompt", [{"prompt": "few-shot"}, {"chat_template": "chatml"}])
def test_a_prompt_with_a_template_of_its_own_has_the_engine_s_tokens(server, tmp_path, prompt: dict[str, str]) -> None:
    tokenizer = _save_tokenizer(tmp_path)
    server.models = [str(tmp_path)]
    sampling = Sampling(**prompt)
    with ServerEngine(find_served([server.url], Model(str(tmp_path))), sampling) as engine:
        list(engine.sample([Wanted("p", "1+1?", 0, True)], seed=0))
    ((path, body, _),) = server.asked
    assert path == "/v1/completions"
    assert body["prompt"] == encode_prompt(tokenizer, find_prompt(sampling.model_dump()), "1+1?")
    assert body["prompt"].count(0) == ("prompt" in prompt)  # `<s>`, which tokenizers such as this one add to a text
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(SamplingError, match="its tokenizer cannot be loaded"):
        ServerEngine(find_served([server.url], Model(str(tmp_path))), sampling)


def _save_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """One of single bytes that begins every text with `<s>`, as Llama's does."""
    vocabulary = {token: number for number, token in enumerate(["<s>", *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    tokens = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>")
    tokenizer.save_pretrained(folder)
    return tokenizer


def test_many_more_responses_than_are_in_hand_all_come_once(server) -> None:
    wanted = [Wanted(f"p{number}", f"{number}?", 0, False) for number in range(150)]
    with ServerEngine(find_server(server.url), SAMPLING) as engine:
        assert sorted(one.wanted.id for one in engine.sample(wanted, seed=0)) == sorted(one.id for one in wanted)


def test_a_prompt_that_is_too_long_is_told_and_a_refusal_stops_with_what_is_finished_kept(server, tmp_path) -> None:
    source = find_server(server.url)
    options = {"model": source, "sampling": SAMPLING, "n": 1, "seed": 0, "folder": tmp_path}
    found = sample_responses({"a": "long", "b": "much"}, **options)
    assert found.column("finish_reason").to_pylist() == [PROMPT_TOO_LONG, "length"]
    server.asked.clear()
    with pytest.raises(SamplingError, match=r"no such thing.*; what is finished is kept, run again"):
        sample_responses({"b": "much", "c": "broken"}, **options)
    assert [body["messages"][-1]["content"] for _, body, _ in server.asked] == ["broken"]


def test_the_key_goes_to_the_server_and_nowhere_else(server, monkeypatch, tmp_path, capfd) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another-key")
    monkeypatch.setenv(API_KEY, SECRET)
    source = find_server(server.url)
    sample_responses({"a": "1+1"}, model=source, sampling=SAMPLING, n=1, seed=0, folder=tmp_path)
    assert {key for *_, key in server.asked} == {f"Bearer {SECRET}"}
    with pytest.raises(SamplingError) as told:
        sample_responses({"c": "broken"}, model=source, sampling=SAMPLING, n=1, seed=0, folder=tmp_path)
    written = "".join(file.read_text(errors="replace") for file in tmp_path.rglob("*") if file.is_file())
    printed = "".join(capfd.readouterr())
    assert all(SECRET not in text for text in (written, printed, str(told.value)))


class Failing(OpenAiHandler):
    """Answers 429, 500, nothing, half a response, one response in time to time; after 60 requests it is gone for good."""

    def do_POST(self) -> None:
        self.server.count += 1
        kind = self.server.count % 6
        if self.server.count >= 60:
            threading.Thread(target=self.server.shutdown, daemon=True).start()
            self.server.socket.close()  # later ones are refused
            self.connection.close()
        elif kind == 1:
            self._send(429, {"error": {"message": f"slow down, {self.headers['authorization']}"}})
        elif kind == 2:
            self._send(500, {"error": {"message": f"out of memory, {self.headers['authorization']}"}})
        elif kind == 3:
            self.server.stopped.wait(20)
        elif kind == 4:
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(b'{"choices": [{"index": 0,')
            self.wfile.flush()
            self.connection.close()
        else:
            super().do_POST()


@pytest.fixture
def failing(monkeypatch) -> Iterator[ThreadingHTTPServer]:
    for name, value in {"BACK_OFF": (0.05, 0.2), "QUIET": 0.3, "PROBE": 0.3, "TIMEOUT": 1.0}.items():
        monkeypatch.setattr(server_module, name, value)
    made = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    made.models, made.asked, made.answers, made.tells_tokens = ["m"], [], {}, True
    made.count, made.stopped = 0, threading.Event()
    made.url = f"http://127.0.0.1:{made.server_address[1]}"
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield made
    made.stopped.set()
    made.server_close()


def test_every_response_arrives_through_the_other_server(server, failing, monkeypatch, capfd, caplog) -> None:
    monkeypatch.setenv(API_KEY, SECRET)
    caplog.set_level("DEBUG")
    monkeypatch.setattr(server_module, "IN_HAND", 12)
    # Of these servers one is ill, and on a busy machine the other is late: no problem is to be left out for that.
    monkeypatch.setattr(server_module, "FAILS", 1_000)
    monkeypatch.setattr(server_module, "TIMEOUT", 30.0)
    source = find_served([failing.url, server.url], Model("m"))
    wanted = []

    def want_until_it_is_gone() -> Iterator[Wanted]:
        for number in range(100_000):
            if failing.count >= 60:
                break
            wanted.extend(Wanted(f"p{number}", f"{number}?", sample, False) for sample in range(2))
            yield from wanted[-2:]
        wanted.extend(greedy := [Wanted(f"p{number}", f"{number}?", 0, True) for number in range(100)])
        yield from greedy

    with ServerEngine(source, SAMPLING) as engine:
        found = {one.wanted: one for one in engine.sample(want_until_it_is_gone(), seed=3)}
    assert failing.count >= 60
    assert len(failing.asked) >= 3
    assert len(found) == len(wanted)
    assert {one: found[one].text for one in wanted} == {
        one: f"{one.problem} by {None if one.greedy else sample_seed(3, one.id, one.sample)}" for one in wanted
    }
    assert SECRET not in "".join(capfd.readouterr()) + caplog.text


def test_where_no_server_answers_any_more_the_errors_are_told_without_the_key(failing, monkeypatch) -> None:
    monkeypatch.setenv(API_KEY, SECRET)
    monkeypatch.setattr(server_module, "PATIENCE", 2.0)
    source = find_server(failing.url)
    failing.count = 59
    with ServerEngine(source, SAMPLING) as engine, pytest.raises(SamplingError) as told:
        list(engine.sample([Wanted("p", "1+1?", 0, False)], seed=0))
    assert re.match(f"{source.url}: .*; what is finished is kept, run again", str(told.value))
    assert SECRET not in str(told.value)


def test_a_problem_that_a_server_cannot_answer_is_named_and_the_others_are_sampled(server, monkeypatch, capfd) -> None:
    monkeypatch.setattr(server_module, "BACK_OFF", (0.02, 0.05))
    wanted = [Wanted(f"p{number}", text, 0, False) for number, text in enumerate(["1?", "ill", "2?"])]
    with ServerEngine(find_server(server.url), SAMPLING) as engine:
        found = {one.wanted.id: one.finish_reason for one in engine.sample(wanted, seed=0)}
    assert found == {"p0": "stop", "p1": FAILED, "p2": "stop"}
    assert "warning: problem p1 had 8 errors and is left out: 500" in capfd.readouterr().err


@pytest.mark.parametrize("reason", ["abort", None])
def test_half_a_response_of_a_server_that_ends_is_asked_for_again(server, monkeypatch, reason: str | None) -> None:
    monkeypatch.setattr(server_module, "BACK_OFF", (0.02, 0.05))
    whole, reasons = OpenAiHandler._choice, [reason]
    monkeypatch.setattr(
        OpenAiHandler, "_choice", lambda *given: whole(*given) | ({"finish_reason": reasons.pop()} if reasons else {})
    )
    with ServerEngine(find_server(server.url), SAMPLING) as engine:
        (found,) = engine.sample([Wanted("p", "1?", 0, False)], seed=0)
    assert found.finish_reason == "stop"
    assert [body["max_tokens"] for _, body, _ in server.asked] == [9, 1, 9]


def test_samples_are_asked_for_one_by_one_where_the_tokens_of_each_are_not_told(server) -> None:
    server.tells_tokens = False
    wanted = [Wanted("p", "1?", number, False) for number in range(4)]
    with ServerEngine(find_server(server.url), SAMPLING) as engine:
        found = list(engine.sample(wanted, seed=0))
    assert sorted((one.wanted.sample, one.tokens) for one in found) == [(number, 5) for number in range(4)]
    assert {one.text for one in found} == {f"1? by {sample_seed(0, 'p', number)}" for number in range(4)}


def test_servers_are_found_by_the_weights_that_they_offer(server, capfd) -> None:
    server.models = ["other", "models/base"]
    gone = "http://127.0.0.1:9"
    source = find_served([gone, f"{server.url}/v1"], Model("models/base"))
    assert (source.url, source.model, source.more) == (f"{server.url}/v1", "models/base", ())
    assert f"warning: {gone}/v1/models" in capfd.readouterr().err
    assert model_digest(source) == model_digest(Model("models/base"))
    with pytest.raises(SamplingError, match=r"none offers models/rl-1, as .*: .* offers other, models/base"):
        find_served([server.url], Model("models/rl-1"))


def test_a_server_that_takes_fewer_tokens_than_the_settings_is_refused(server) -> None:
    server.models = ["models/base"]
    longer = Sampling(max_tokens=9, max_model_len=4_097)
    one = Server(
        "http://127.0.0.1:9/v1", "models/base", "models/base", "9.9", Model("models/base"), max_model_len=8_192
    )
    served = replace(one, more=(find_served([server.url], Model("models/base")),))
    for source in (find_server(server.url), served):
        with pytest.raises(SamplingError, match=f"^{server.url}/v1: takes 4096 tokens .*`--max-model-len 4097`"):
            ServerEngine(source, longer)


def test_url_model_and_name_identify_a_server() -> None:
    digests = [
        model_digest(Server("http://a/v1", "m", "m")),
        model_digest(Server("http://b/v1", "m", "m")),
        model_digest(Server("http://a/v1", "n", "m")),
        model_digest(Server("http://a/v1", "m", "monday")),
        model_digest(Server("http://a/v1", "m", "m", "1.0")),
    ]
    assert len(set(digests)) == 5


def test_a_servers_reasoning_is_part_of_the_response_under_either_name(server) -> None:
    wanted = [Wanted("p", "think", sample, False) for sample in range(2)]
    server.tells_tokens = False
    with ServerEngine(find_server(server.url), SAMPLING) as engine:
        found = [one.text for one in engine.sample(wanted, seed=0)]
    assert len(found) == 2
    assert all(text.startswith("<think>Let me see.</think>think by ") for text in found)
    assert {body["seed"] % 2 for _, body, _ in server.asked if body.get("n", 1) == 1} == {0, 1}


def test_a_chat_template_gets_its_arguments_and_the_effort_its_own_field(server) -> None:
    sampling = Sampling(chat_template_kwargs={"enable_thinking": False, "reasoning_effort": "high"})
    with ServerEngine(find_server(server.url), sampling) as engine:
        list(engine.sample([Wanted("p", "1+1?", 0, True)], seed=0))
    with ServerEngine(find_server(server.url), SAMPLING) as engine:
        list(engine.sample([Wanted("p", "1+1?", 0, True)], seed=0))
    first, second = (body for _, body, _ in server.asked)
    assert (first["chat_template_kwargs"], first["reasoning_effort"]) == ({"enable_thinking": False}, "high")
    assert not {"chat_template_kwargs", "reasoning_effort"} & set(second)
