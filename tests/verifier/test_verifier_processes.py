"""The verifier in threads, coroutines, forked, spawned and Ray processes, sympy's process included."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from compass.verifier import verify, verify_many
from compass.verifier.comparing import sympy_client
from compass.verifier.comparing.sympy_client import as_json
from compass.verifier.reading.grammar import parse

ROOT = Path(__file__).resolve().parents[2]
PAIRS = [
    (r"\sqrt{8}", r"2\sqrt{2}"),
    (r"\int_0^1 x\,dx", r"\frac12"),
    (r"\sin 2x", r"2\sin x\cos x"),
    ("1/2", "0.5"),
    (r"\sqrt2", "1.41"),
    ("x^2-1", "(x-1)(x+1)"),
]
EQUAL = [True, True, True, True, False, True]


def judge(pair: tuple[str, str]) -> bool:
    """One pair, as other processes call it."""
    return verify(gold=pair[0], answer=pair[1]).equal


@pytest.fixture(autouse=True)
def _patient_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large budget for sympy."""
    monkeypatch.setattr(sympy_client, "SECONDS", 1.0)


def test_threads_agree_with_one_thread() -> None:
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(judge, PAIRS * 20)) == EQUAL * 20


def test_coroutines_may_call_it() -> None:
    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*(asyncio.to_thread(judge, pair) for pair in PAIRS))

    assert asyncio.run(all_of_them()) == EQUAL


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_start_their_own_sympy(method: str) -> None:
    judge(PAIRS[1])  # sympy's process of this one runs
    os.environ["COMPASS_SYMPY_SECONDS"] = "1.0"
    try:
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
            found = [pool.submit(verify, gold=gold, answer=answer) for gold, answer in PAIRS * 2]
            assert [future.result().equal for future in found] == EQUAL * 2
    finally:
        del os.environ["COMPASS_SYMPY_SECONDS"]
    assert judge(PAIRS[1])


def test_sympy_is_ended_at_its_deadline_and_serves_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sympy_client, "SECONDS", 0.02)
    verdict = verify(gold="1", answer=r"\int_0^{\infty} x^{x^{x}} \sin(x^{99}) dx")
    assert (verdict.outcome, verdict.detail) == ("unrecognised", "out of time or memory")
    monkeypatch.setattr(sympy_client, "SECONDS", 1.0)
    assert judge(PAIRS[1])


def test_a_question_to_sympy_costs_the_same_whatever_was_asked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = ("8", r"\lim_{x\to 0} \frac{e^{4x}-1-4x}{x^2}")
    assert judge(pair)
    monkeypatch.setattr(sympy_client, "SECONDS", 0.025)
    assert verify(gold=pair[0], answer=pair[1]).detail == "out of time or memory"


@pytest.mark.parametrize(("limits", "seconds"), [("STEPS_PER_SECOND = 1", 300), ("STEPS_PER_SECOND = 10**12", 0.01)])
def test_sympy_is_ended_by_its_count_and_by_the_clock(limits: str, seconds: float) -> None:
    script = f"from compass.verifier.comparing import sympy_worker as worker; worker.{limits}; worker.main()"
    hard = as_json(parse(r"\int_0^{\infty} x^{x^{x}} \sin(x^{99}) dx"))
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps({"left": ["num", "1/1"], "right": hard, "seconds": seconds}),
        cwd=ROOT, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout.splitlines()[-1]) == {"same": None, "why": "out of time or memory"}


def test_a_sympy_process_that_dies_is_started_again() -> None:
    assert judge(PAIRS[1])
    process = sympy_client._client.process
    assert process is not None
    process.kill()
    process.wait()
    assert judge(PAIRS[1])


class Interrupted:
    """A stream whose reader is interrupted, as by Ctrl-C."""

    def readline(self) -> str:
        raise KeyboardInterrupt


def test_an_interrupted_question_leaves_no_answer_for_the_next() -> None:
    client = sympy_client._Client()
    tree = ["num", "1/2"]
    question = {"left": tree, "right": tree, "seconds": 1.0}
    client.ask(question)
    client.process.stdout = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        client.ask({"left": tree, "right": ["num", "1/3"], "seconds": 1.0})
    assert client.ask(question)["same"] is True
    client.close()


def test_many_pairs_keep_their_order() -> None:
    pairs = [(str(number), str(number + number % 2)) for number in range(2_400)]
    verdicts = verify_many(pairs, processes=2)
    assert [verdict.equal for verdict in verdicts] == [number % 2 == 0 for number in range(2_400)]
    assert verify_many(pairs[:3]) == verdicts[:3]
    with pytest.raises(ValueError, match="at least 1"):
        verify_many(pairs, processes=0)


def test_importing_is_light() -> None:
    script = (
        "import compass.verifier, sys; print({'torch', 'vllm', 'ray', 'verl', 'sympy', 'numpy'} & set(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout == "set()\n"


@pytest.mark.slow
def test_ray_workers_agree() -> None:
    import ray

    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": str(ROOT), "COMPASS_SYMPY_SECONDS": "1.0"}},
    )
    try:

        @ray.remote
        def remote(pair: tuple[str, str]) -> bool:
            from compass.verifier import verify

            return verify(gold=pair[0], answer=pair[1]).equal

        assert ray.get([remote.remote(pair) for pair in PAIRS]) == EQUAL
    finally:
        ray.shutdown()
