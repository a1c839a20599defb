"""Many comparisons at once."""

from __future__ import annotations

import pytest

from compass.verifier import Outcome, batch, verify_many


def test_small_jobs_run_here_and_large_ones_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    one_by_one = batch._chunk
    monkeypatch.setattr(batch, "_chunk", lambda pairs: sizes.append(len(pairs)) or one_by_one(pairs))
    verify_many([("1", "1")] * 1_999, processes=2)
    verify_many([("1", "1")] * 2_500, processes=1)
    assert sizes == [1_999, 2_500]


def test_verdicts_keep_the_order_of_the_pairs() -> None:
    assert [verdict.outcome for verdict in verify_many(iter([("1", "1"), ("1", "2"), ("1", "?")]))] == list(Outcome)
    assert verify_many([]) == []


def test_there_must_be_a_process() -> None:
    with pytest.raises(ValueError, match="processes must be at least 1, found 0"):
        verify_many([("1", "1")], processes=0)
