"""What `warm` makes ready, and who calls it."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from compass.verifier import Outcome, batch, verify, verify_many, warm
from compass.verifier.comparing import sympy_client
from compass.verifier.comparing.sympy_client import _Client


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> _Client:
    """A client whose process has not started."""
    monkeypatch.setattr(sympy_client, "SECONDS", 1.0)
    monkeypatch.setattr(sympy_client, "_client", fresh := _Client())
    yield fresh
    fresh.close()


def test_sympy_is_ready_after_warming(client: _Client) -> None:
    warm()
    assert client.ready
    process = client.process
    assert verify(gold=r"\int_0^2 x\,dx", answer="2").method == "sympy"
    assert client.process is process


def test_warming_in_the_background_does_not_wait(client: _Client) -> None:
    warm(wait=False)
    assert client.process is not None
    assert not client.ready
    assert verify(gold=r"\int_0^2 x\,dx", answer="2").equal
    assert client.ready


def test_warming_twice_starts_one_process(client: _Client) -> None:
    warm(wait=False)
    process = client.process
    warm(wait=False)
    assert client.process is process


def test_a_process_that_does_not_start_is_an_error(client: _Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sympy_client, "_SCRIPT", Path("no_such_script.py"))
    with pytest.raises(RuntimeError, match="no_such_script"):
        warm()


def started() -> bool:
    """Whether this process has started its own sympy."""
    return sympy_client._client.process is not None


def test_a_forked_child_warms_its_own(client: _Client) -> None:
    warm(wait=False)
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        assert not pool.submit(started).result()
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork"), initializer=warm) as pool:
        assert pool.submit(started).result()


def test_many_pairs_warm_and_few_do_not(client: _Client) -> None:
    verify_many([("1", "1")] * (batch.FEW - 1))
    assert not started()
    assert {verdict.outcome for verdict in verify_many([("1", "1")] * batch.FEW)} == {Outcome.EQUAL}
    assert started()
