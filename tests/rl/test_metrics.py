"""verl's metrics: moved over once, kept across a kill, written as curves."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

from compass.rl.metrics import (
    find_loops,
    follow_metrics,
    forget_after,
    group_metrics,
    leniency_metrics,
    measure_beginning,
    read_metrics,
    recover_metrics,
    whole_lines,
    write_curves,
)


def live_line(step: int, **data: float) -> str:
    return json.dumps({"step": step, "data": data}) + "\n"


@pytest.fixture
def live(tmp_path: Path) -> Path:
    return tmp_path / "metrics.live.jsonl"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "metrics.jsonl"


def test_each_whole_line_is_moved_once(live: Path, kept: Path) -> None:
    assert follow_metrics(live, 0, kept) == ([], 0)  # before verl writes
    live.write_text(live_line(1, loss=0.5) + live_line(2, loss=0.25) + '{"step": 3, "da')
    fresh, position = follow_metrics(live, 0, kept)
    assert fresh == [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.25}]
    assert follow_metrics(live, position, kept) == ([], position)

    live.write_text(live_line(1, loss=0.5) + live_line(2, loss=0.25) + live_line(3, loss=0.125))
    fresh, position = follow_metrics(live, position, kept)
    assert fresh == [{"step": 3, "loss": 0.125}]
    assert position == live.stat().st_size
    assert read_metrics(kept) == [
        {"step": 1, "loss": 0.5},
        {"step": 2, "loss": 0.25},
        {"step": 3, "loss": 0.125},
    ]


def test_metrics_that_a_killed_stage_had_not_taken_over_are_not_lost(live: Path, kept: Path) -> None:
    kept.write_text('{"step": 1, "loss": 0.5}\n')
    live.write_text(live_line(1, loss=9) + live_line(2, loss=1.0) + live_line(3, loss=1.5) + '{"step": 4')
    recover_metrics(live.with_name("saved"), live, kept, 2)
    assert read_metrics(kept) == [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 1.0}]
    assert not live.exists()


def test_metrics_of_a_checkpoint_whose_log_never_came_are_not_lost(live: Path, kept: Path) -> None:
    saved = live.with_name("saved")
    saved.write_text(live_line(2, loss=1.0) + live_line(4, loss=0.5))
    kept.write_text('{"step": 1, "loss": 2.0}\n')
    live.write_text(
        live_line(2, loss=1.0, sync=3.0) + live_line(3, loss=0.75)
    )  # killed after checkpoint 4, before its log
    recover_metrics(saved, live, kept, 4)
    assert read_metrics(kept) == [
        {"step": 1, "loss": 2.0},
        {"step": 2, "loss": 1.0, "sync": 3.0},
        {"step": 3, "loss": 0.75},
        {"step": 4, "loss": 0.5},
    ]
    assert not saved.exists()


@pytest.mark.parametrize(("before", "step", "after"), [([2, 1], 2, [1, 2]), ([], 0, [])])
def test_metrics_come_back_in_the_order_of_iterations(
    live: Path, kept: Path, before: list[int], step: int, after: list[int]
) -> None:
    if before:
        kept.write_text("".join(f'{{"step": {one}}}\n' for one in before))
    recover_metrics(live.with_name("saved"), live, kept, step)
    assert read_metrics(kept) == [{"step": one} for one in after]


def test_lines_after_the_checkpoint_and_cut_lines_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "rewards.jsonl"
    path.write_text("".join(json.dumps({"step": step}) + "\n" for step in (1, 2, 3)) + '{"step": 1')
    forget_after(path, 2)
    assert path.read_text() == '{"step": 1}\n{"step": 2}\n'


def test_forgetting_makes_the_file_where_there_is_none(tmp_path: Path) -> None:
    forget_after(tmp_path / "rewards.jsonl", 0)
    assert whole_lines(tmp_path / "rewards.jsonl") == []


def test_curves_hold_every_metric_of_every_iteration(tmp_path: Path) -> None:
    write_curves([{"step": 1, "z": 0.5}, {"step": 2, "z": 0.7, "b": 3}], tmp_path / "steps.csv")
    with (tmp_path / "steps.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["step", "b", "z"]
    assert rows == [["1", "", "0.5"], ["2", "3", "0.7"]]


def test_shares_are_of_the_right_responses() -> None:
    leaned = [(1.0, ""), (1.0, "unit,name"), (1.0, "unit"), (1.0, ""), (0.0, "rounding")]
    assert leniency_metrics({"acc": score, "leaned": names} for score, names in leaned) == {
        "reward/leaned": 0.5,
        "reward/leaned/name": 0.25,
        "reward/leaned/unit": 0.5,
    }
    assert leniency_metrics([]) == leniency_metrics([{"acc": 0.0, "leaned": "unit"}]) == {"reward/leaned": 0.0}


def test_groups_show_whether_the_policy_still_explores() -> None:
    def group(*responses: str) -> list[tuple[bool, bytes]]:
        return [(text.isupper(), text.encode()) for text in responses]

    groups = [group("A", "A", "B", "c"), group("A", "B", "C"), group("a", "b"), group("A", "a")]
    assert group_metrics(groups) == {"reward/solved_groups": 0.75, "reward/distinct_right": (0.5 + 1.0) / 2}
    assert group_metrics([group("A", "b")]) == {"reward/solved_groups": 1.0}
    assert group_metrics([]) == {}


def test_the_beginning_is_the_median_of_the_first_iterations_that_have_the_metric() -> None:
    rows = [{"actor/entropy": value} for value in (0.5, math.nan, 0.1, 0.3, 0.2, 0.4, 9.0)]
    rows[0]["reward/distinct_right"] = 0.5
    assert measure_beginning(rows) == {"actor/entropy": 0.3}
    assert measure_beginning(rows[:5]) == {}


def loops(*responses: list[int]) -> list[bool]:
    return find_loops([np.array(response, dtype=np.int64) for response in responses]).tolist()


@pytest.mark.parametrize("period", [1, 2, 3, 7, 20, 128])
def test_a_passage_repeated_to_the_end_is_a_loop(period: int) -> None:
    passage = list(range(100, 100 + period))
    times = max(4, -(-32 // period))
    assert loops([1, 2, 3, *passage * times]) == [True]
    assert loops([1, 2, 3, *passage * times, 5]) == [False]
    assert loops([1, 2, 3, *passage * (times - 1)]) == [False]


def test_each_response_is_judged_by_itself_and_ordinary_repetition_is_no_loop() -> None:
    assert loops([1], [9] * 40, list(range(50)), [4, 5] * 30) == [False, True, False, True]
    assert loops([1, *[7, 8, 9, 10, 11, 12, 13, 14, 15, 16] * 4, 7, 8]) == [True]  # ends in the middle of its passage
    assert loops([5, 0, 0, 0, 0, 0, 0], [1, 2] * 10, list(range(600)), []) == [False] * 4
    draw = np.random.default_rng(0)
    assert not find_loops([draw.integers(0, 150_000, 3072) for _ in range(64)]).any()
