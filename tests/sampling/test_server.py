"""Sampling from a server, against a real HTTP server that speaks as much of the protocol as is asked."""

from __future__ import annotations

import pytest

from compass.sampling.engine import sample_seed
from compass.sampling.model_source import SamplingError, Server, model_digest
from compass.sampling.response import PROMPT_TOO_LONG, Wanted
from compass.sampling.resume import sample_responses
from compass.sampling.server import API_KEY, ServerEngine, find_server
from compass.settings import Sampling

SECRET = "key-of-a-test-0123"


@pytest.fixture
def server(openai_server):
    return openai_server


SAMPLING = Sampling(max_tokens=9, temperature=0.7, top_p=0.9)


def test_a_server_tells_its_model_and_version(server) -> None:
    assert find_server(server.url) == Server(f"{server.url}/v1", "m", "m", "9.9")
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
    assert sorted(body["temperature"] for body in bodies) == [0.0, 0.7, 0.7]
    assert {body["max_tokens"] for body in bodies} == {9}
    assert {path for path, *_ in server.asked} == {"/v1/chat/completions"}


def test_a_prompt_with_a_template_of_its_own_is_sent_as_text(server) -> None:
    with ServerEngine(find_server(server.url), Sampling(prompt="few-shot")) as engine:
        list(engine.sample([Wanted("p", "1+1?", 0, True)], seed=0))
    ((path, body, _),) = server.asked
    assert path == "/v1/completions"
    assert body["prompt"].endswith("Question: 1+1?\nAnswer:")
    assert body["stop"] == ["\nQuestion:"]


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


def test_url_model_and_name_identify_a_server() -> None:
    digests = [
        model_digest(Server("http://a/v1", "m", "m")),
        model_digest(Server("http://b/v1", "m", "m")),
        model_digest(Server("http://a/v1", "n", "m")),
        model_digest(Server("http://a/v1", "m", "monday")),
        model_digest(Server("http://a/v1", "m", "m", "1.0")),
    ]
    assert len(set(digests)) == 5
