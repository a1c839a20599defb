"""Engines by Ray: each response once and the same, whatever ends meanwhile, and nothing left behind."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from compass.sampling.engine import Engine
from compass.sampling.model_source import Model, SamplingError, find_model
from compass.sampling.pool import Pool
from compass.sampling.response import FAILED, UNFINISHED, Response, Wanted
from compass.settings import Sampling

pytestmark = pytest.mark.slow

SAMPLING = Sampling(max_tokens=12, max_model_len=96, dtype="float32", checkpoint_tokens=5)


@pytest.fixture(scope="module")
def echo() -> type[Engine]:
    """An engine without a model: it answers with the seed and the problem, first with a beginning; what a problem says may end it.

    It is made here and not at the top, so that Ray sends it as a whole to processes that do not know this file.
    """

    class Echo:
        limit = 8

        def __init__(self, model: Model, sampling: Sampling) -> None:
            if model.path == "unusable":
                raise SamplingError("unusable: of no use")
            if model.path == "deadly":
                os._exit(1)
            self.waiting: list[Wanted] = []

        def close(self) -> None:
            pass

        @property
        def busy(self) -> bool:
            return bool(self.waiting)

        def add(self, wanted: list[Wanted], *, seed: int) -> None:
            self.seed = seed
            self.waiting += wanted

        def step(self) -> list[Response]:
            time.sleep(0.002)
            one = self.waiting.pop(0)
            assert one.greedy == self.waiting[-1].greedy if self.waiting else True, "kinds are mixed"
            if one.problem == "poison":
                os._exit(1)
            if one.problem == "error":
                raise ValueError("out of memory")
            if not one.begun:
                self.waiting.append(one.begun_with((7, 8), 0.0))
                return [Response(one, 2, UNFINISHED, "", (7, 8))]
            return [Response(one, 3, "stop", f"{self.seed} {one.problem}")]

    return Echo  # type: ignore[return-value]


def want(problems: dict[str, str], n: int = 2) -> list[Wanted]:
    kinds = [(number, False) for number in range(n)] + [(0, True)]
    return [
        Wanted(name, problem, *kind)
        for greedy in (False, True)
        for name, problem in problems.items()
        for kind in kinds
        if kind[1] == greedy
    ]


def finished(responses: Iterator[Response]) -> dict[tuple, tuple]:
    found: dict[tuple, tuple] = {}
    for one in responses:
        if one.finish_reason != UNFINISHED:
            assert one.wanted.key not in found, "a response came twice"
            found[one.wanted.key] = one.tokens, one.finish_reason, one.text
    return found


def actors() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "_Actor" in " ".join(process.cmdline()):
                found.append(process)
    return found


@contextmanager
def kills(every: float, most: int) -> Iterator[list[int]]:
    """End an actor by `kill -9` now and then while the block runs."""
    killed: list[int] = []
    stop = threading.Event()

    def run() -> None:
        draw = random.Random(0)
        while not stop.wait(every) and len(killed) < most:
            if running := actors():
                one = draw.choice(running)
                with suppress(psutil.Error):
                    one.send_signal(signal.SIGKILL)
                    killed.append(one.pid)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield killed
    finally:
        stop.set()
        thread.join()


@contextmanager
def nothing_is_left() -> Iterator[None]:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    yield
    late = [one for one in psutil.Process().children(recursive=True) if one.pid not in before]
    assert psutil.wait_procs(late, timeout=20)[1] == []
    assert "RAY_AUTH_TOKEN" not in os.environ


def test_every_response_comes_once_from_two_engines_that_are_killed(echo) -> None:
    problems = {f"p{number}": f"{number}?" for number in range(400)}
    wanted = want(problems)
    with nothing_is_left(), Pool(Model("m"), SAMPLING, count=2, engine=echo) as pool, kills(1.5, 3) as killed:
        found = finished(pool.sample(wanted, seed=4))
    assert len(killed) >= 1
    assert found == {one.key: (3, "stop", f"4 {one.problem}") for one in wanted}


def test_a_problem_that_ends_engines_on_its_own_is_named_and_the_others_are_sampled(echo, capfd) -> None:
    problems = {f"p{number}": f"{number}?" for number in range(20)} | {"bad": "poison", "odd": "error", "last": "1?"}
    wanted = want(problems, n=1)
    with Pool(Model("m"), SAMPLING, count=2, engine=echo) as pool:
        found = finished(pool.sample(wanted, seed=0))
    failed = {one.id for one in wanted if found[one.key][1] == FAILED}
    assert failed == {"bad", "odd"}
    assert len(found) == len(wanted)
    told = capfd.readouterr().err
    assert "warning: problem bad ended 4 engines and is left out" in told
    assert "warning: problem odd ended 4 engines and is left out: out of memory" in told


@pytest.mark.parametrize(
    ("path", "told"), [("unusable", "unusable: of no use"), ("deadly", r"\d engines ended one after the other")]
)
def test_engines_that_do_not_start_end_the_run(echo, path: str, told: str) -> None:
    with (
        nothing_is_left(),
        pytest.raises(SamplingError, match=told),
        Pool(Model(path), SAMPLING, count=1, engine=echo) as pool,
    ):
        list(pool.sample(want({"a": "1"}), seed=0))


def test_more_engines_than_there_is_room_for_are_refused(echo) -> None:
    with pytest.raises(SamplingError, match=r"engines\.count is 1000, and there are \d+ cores and no GPU"):
        Pool(Model("m"), SAMPLING, count=1000, engine=echo).__enter__()


def test_a_cluster_that_is_not_there_is_named() -> None:
    with pytest.raises(SamplingError, match=r"engines\.address: no Ray cluster can be joined at 127\.0\.0\.1:9"):
        Pool(Model("m"), SAMPLING, address="127.0.0.1:9").__enter__()


def test_two_real_engines_of_which_one_is_killed_sample_what_one_does(
    random_model: Callable[[Path, int], Path], tmp_path: Path
) -> None:
    model = find_model(str(random_model(tmp_path, 0)))
    wanted = want({f"p{number}": f"What is {number} + 1?" for number in range(60)}, n=4)
    with Engine(model, SAMPLING) as engine:
        alone = finished(engine.sample(wanted, seed=0))
    with nothing_is_left(), Pool(model, SAMPLING, count=2) as pool:
        found: dict[tuple, tuple] = {}
        killed = False
        for one in pool.sample(wanted, seed=0):
            if one.finish_reason != UNFINISHED:
                found[one.wanted.key] = one.tokens, one.finish_reason, one.text
            if len(found) >= 50 and not killed and (running := actors()):
                running[0].kill()
                killed = True
    assert killed
    assert found.keys() == alone.keys()
    # Responses beside others round differently, which may turn a draw that is nearly even.
    assert sum(found[key] == alone[key] for key in alone) >= 0.98 * len(alone)
