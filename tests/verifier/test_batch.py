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
    assert sizes == [500, 500, 500, 499] + [500] * 5


@pytest.mark.parametrize("processes", [1, 2])
def test_how_many_pairs_are_done_is_told(processes: int) -> None:
    heard: list[tuple[int, int]] = []
    verify_many([("1", "1")] * 2_100, processes=processes, on_progress=lambda *counts: heard.append(counts))
    assert heard == [(500, 2_100), (1_000, 2_100), (1_500, 2_100), (2_000, 2_100), (2_100, 2_100)]


def test_verdicts_keep_the_order_of_the_pairs() -> None:
    assert [verdict.outcome for verdict in verify_many(iter([("1", "1"), ("1", "2"), ("1", "?")]))] == list(Outcome)
    assert verify_many([]) == []


def test_there_must_be_a_process() -> None:
    with pytest.raises(ValueError, match="processes must be at least 1, found 0"):
        verify_many([("1", "1")], processes=0)
