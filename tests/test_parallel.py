from __future__ import annotations

import operator
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from compass.parallel import in_processes, processes
from tests.conftest import has_ended

# Other processes import what they run, and not the tests: both functions are the standard library's.
add_ten = partial(partial, operator.add, 10)
call = partial(partial, operator.call)


@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_results_come_in_order(workers):
    assert list(in_processes(add_ten, range(20), workers)) == list(range(10, 30))


def test_one_worker_is_this_process_and_more_are_others():
    assert set(in_processes(call, [os.getpid] * 3, workers=1)) == {os.getpid()}
    others = set(in_processes(call, [os.getpid] * 3, workers=2))
    assert 1 <= len(others) <= 2
    assert os.getpid() not in others


def test_few_items_are_taken_ahead_of_the_results():
    taken = []
    results = in_processes(add_ten, (taken.append(n) or n for n in range(100)), workers=2)
    next(results)
    assert len(taken) == 2 * 2 + 1
    results.close()


KILLED = """
import os, signal
from functools import partial
from itertools import repeat
from operator import call
from compass.parallel import in_processes

seen = set()
for worker in in_processes(partial(partial, call), repeat(os.getpid), workers=2):
    seen.add(worker)
    if len(seen) == 2:
        print(*seen, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_processes_end_with_a_parent_that_is_killed(tmp_path: Path):
    (tmp_path / "killed.py").write_text(KILLED)
    root = str(Path(__file__).parents[1])
    started = subprocess.run(
        [sys.executable, tmp_path / "killed.py"],
        env={**os.environ, "PYTHONPATH": root},
        stdout=subprocess.PIPE,
        text=True,
    )
    workers = [int(pid) for pid in started.stdout.split()]
    assert len(workers) == 2
    assert all(map(has_ended, workers))


def test_one_set_of_workers_does_all_that_a_block_maps(tmp_path):
    with processes(2):
        first = set(in_processes(call, [os.getpid] * 8))
        assert list(in_processes(add_ten, range(5), workers=3)) == list(range(10, 15))
        last = set(in_processes(call, [os.getpid] * 8))
        assert os.getpid() not in first | last
        assert len(first | last) <= 2
        assert set(in_processes(call, [os.getpid], workers=1)) == {os.getpid()}
    after = set(in_processes(call, [os.getpid] * 8, workers=2))
    assert not after & first


def test_an_error_of_a_worker_reaches_the_caller_and_the_workers_go_on():
    with processes(2):
        with pytest.raises(TypeError):
            list(in_processes(add_ten, [1, "two", 3]))
        assert list(in_processes(add_ten, [1])) == [11]


def test_what_is_mapped_in_turn_in_one_block_is_not_mixed_up():
    with processes(2):
        ones, twos = in_processes(add_ten, range(6)), in_processes(call, [list] * 6)
        assert list(zip(ones, twos, strict=True)) == [(10 + n, []) for n in range(6)]
