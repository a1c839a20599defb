"""Names and values that go to a tracking server are flat, bounded and hold no secrets."""

import pytest

from compass.runs.values import flatten, scrub


def test_settings_are_named_and_written_as_in_the_file() -> None:
    sources = [{"name": "b", "path": "b.csv"}, {"name": "a"}]
    values = {"rl-1": {"steps": 2, "solve_rate": [0.0, 1e-06], "on": True}, "sources": sources, "none": {}}
    assert flatten(values) == {
        "rl-1.steps": "2",
        "rl-1.solve_rate": "0,1e-06",
        "rl-1.on": "true",
        "sources": "b,a",
        "sources.b.path": "b.csv",
        "none": "{}",
    }
    assert flatten({}) == {}


def test_secrets_are_left_out_and_token_counts_are_not() -> None:
    assert flatten({"hf_token": "x", "api_key": "y", "max_tokens": 48}) == {"max_tokens": "48"}
    assert flatten({"servers": [{"api_key": "abcd", "port": 1}]}) == {"servers.0.port": "1"}


def test_values_are_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PASSWORD", "correct horse")
    assert scrub("https://user:pw@host/x") == "https://***@host/x"
    assert scrub("key hf_abcdefghijklmnopqrstuv") == "key ***"
    assert scrub("said correct horse") == "said ***"


def test_a_value_of_a_secret_variable_is_scrubbed_where_it_is_long_enough_to_be_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("A_TOKEN", "12345678")
    monkeypatch.setenv("B_TOKEN", "tiny-87")
    monkeypatch.setenv("NOT_TOKENS", "abcdefgh")
    assert scrub("12345678 tiny-87 abcdefgh") == "*** tiny-87 abcdefgh"
    assert flatten({"a": "12345678"}) == {"a": "***"}
