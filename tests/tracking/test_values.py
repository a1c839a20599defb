"""Names and values that go to a tracking server are flat, bounded and hold no secrets."""

import pytest

from compass.tracking.values import flatten, metric_values, scrub


def test_settings_are_named_as_in_the_file() -> None:
    assert flatten({"rl-1": {"steps": 2, "solve_rate": [0.0, 1.0]}}) == {
        "rl-1.steps": "2",
        "rl-1.solve_rate.0": "0.0",
        "rl-1.solve_rate.1": "1.0",
    }


def test_secrets_are_left_out_and_token_counts_are_not() -> None:
    assert flatten({"hf_token": "x", "api_key": "y", "max_tokens": 48}) == {"max_tokens": "48"}


def test_values_are_scrubbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PASSWORD", "correct horse")
    assert scrub("https://user:pw@host/x") == "https://***@host/x"
    assert scrub("key hf_abcdefghijklmnopqrstuv") == "key ***"
    assert scrub("said correct horse") == "said ***"


def test_only_finite_numbers_are_metrics_and_names_are_accepted_ones() -> None:
    found = metric_values({"metrics": {"pass@8": 1, "nan": float("nan"), "name": "x", "ok": True, "a,b": 2.0}})
    assert found == {"pass_at_8": 1.0, "a_b": 2.0}
