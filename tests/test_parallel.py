from __future__ import annotations

import operator
import os
from functools import partial

import pytest

from compass.parallel import in_processes

# Spawned processes import what they run, and not the tests: both functions are the standard library's.
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
