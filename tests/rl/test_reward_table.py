"""The reward of every response: lines while a stage runs, a table after it."""

import json
from pathlib import Path

import pyarrow.parquet as pq

from compass.rl.reward_table import REWARDS, append_groups, group_line, write_rewards


def test_a_group_is_one_line_of_its_responses() -> None:
    responses = [
        {"problem_id": "a", "reward": 1, "acc": 1.0, "tokens": 7.0},
        {"problem_id": "a", "reward": -1.0, "acc": 0.0, "tokens": 9},
    ]
    line = group_line(4, responses)
    assert line == {"step": 4, "id": "a", "rewards": [1.0, -1.0], "tokens": [7, 9]}
    assert [type(reward) for reward in line["rewards"]] == [float, float]


def test_groups_are_added_by_name_with_whether_the_update_used_them(tmp_path: Path) -> None:
    path = tmp_path / "rewards.jsonl"
    append_groups(path, {"u2": {"id": "b"}, "u1": {"id": "a"}}, used=iter(["u1"]))
    append_groups(path, {"u0": {"id": "c"}}, used=[])
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"id": "a", "used": True},
        {"id": "b", "used": False},
        {"id": "c", "used": False},
    ]


def test_the_table_has_one_row_per_response_by_iteration_and_problem(tmp_path: Path) -> None:
    lines = [
        {"step": 2, "id": "b", "rewards": [1.0, -1.0], "tokens": [7, 9], "used": True},
        {"step": 1, "id": "c", "rewards": [0.5], "tokens": [3], "used": True},
        {"step": 1, "id": "a", "rewards": [-1.0, -1.0], "tokens": [5, 6], "used": False},
    ]
    (tmp_path / "rewards.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = write_rewards(tmp_path / "rewards.jsonl", tmp_path / "rewards.parquet")
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (1, "a", -1.0, 5, False),
        (1, "a", -1.0, 6, False),
        (1, "c", 0.5, 3, True),
        (2, "b", 1.0, 7, True),
        (2, "b", -1.0, 9, True),
    ]
    assert table.schema == REWARDS
    assert pq.read_table(tmp_path / "rewards.parquet").equals(table)
