"""Rollouts to look at: which iterations keep theirs, and what is kept of a response."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from compass.rl.rollouts import (
    REWARDS,
    ROLLOUTS,
    SAMPLED,
    TRAINED,
    append_groups,
    fetch_fields,
    forget_rollouts_after,
    keeps_rollouts,
    read_rewards,
    rollout_rows,
    without_end,
    write_rewards,
    write_rollouts,
    write_step,
    write_worst,
)

END = 9


class Tokenizer:
    """A letter per token; the last token of all ends a response."""

    def batch_decode(self, tokens: list[np.ndarray], skip_special_tokens: bool) -> list[str]:
        assert skip_special_tokens
        return ["".join("abcdefghi"[token] for token in row if token != END) for row in tokens]


def response(tokens: list[int], right: bool, **trained: Any) -> dict[str, Any]:
    return {
        "prompts": np.array([0, 1]),
        "responses": np.array(tokens),
        "rm_scores": np.array([0.0] * (len(tokens) - 1) + [0.5 if right else -1.5]),
        "rollout_log_probs": np.zeros(len(tokens)),
        "extra_fields": {
            "reward_extra_info": {
                "acc": float(right),
                "score": 1.0,
                "pred": "12",
                "method": "text",
                "outcome": "equal",
                "leaned": "units",
            }
        },
        "extra_info": {"id": "p1", "level": 4},
        "reward_model": {"ground_truth": 12},
        **trained,
    }


def row(**changed: Any) -> dict[str, Any]:
    (made,) = rollout_rows(3, {"u1_0_0": response([2, END], True)}, ["u1"], Tokenizer(), 6)
    return {**made, **changed}


@pytest.mark.parametrize(("every", "kept"), [(5, [1, 5, 10, 12]), (1, list(range(1, 13))), (100, [1, 12]), (0, [])])
def test_the_first_the_last_and_every_so_many_iterations_are_kept(every: int, kept: list[int]) -> None:
    assert [step for step in range(1, 13) if keeps_rollouts(step, 12, every)] == kept


def test_a_row_is_what_was_asked_said_judged_and_trained() -> None:
    trained = {"advantages": np.array([0.7, 0.7, 0.7]), "old_log_probs": np.array([0.0, -0.25, 0.5])}
    responses = {"u1_3_0": response([2, 3, END], True, **trained), "u2_0_0": response([4] * 6, False)}
    first, second = rollout_rows(3, responses, ["u1"], Tokenizer(), 6)
    assert first == {
        "step": 3,
        "id": "p1",
        "level": 4,
        "group": "u1",
        "sample": 3,
        "prompt": "ab",
        "response": "cd",
        "gold": "12",
        "answer": "12",
        "right": True,
        "verdict": "equal",
        "method": "text",
        "leaned": "units",
        "reward": 0.5,  # the one that trains, not the score before shaping
        "advantage": pytest.approx(0.7),
        "response_tokens": 3,
        "cut_off": False,
        "loop": False,
        "gap_mean": pytest.approx(0.25),
        "gap_max": pytest.approx(0.5),
        "used": True,
    }
    assert (second["right"], second["reward"], second["cut_off"], second["used"]) == (False, -1.5, True, False)
    assert (second["advantage"], second["gap_mean"], second["gap_max"]) == (None, None, None)
    several = {"u1_3_0": response([2] * 40, True, **trained | {"old_log_probs": None})}  # no pass for probabilities
    (row,) = rollout_rows(3, several, ["u1"], Tokenizer(), 6)
    assert (row["loop"], row["advantage"], row["gap_mean"], row["gap_max"]) == (True, pytest.approx(0.7), None, None)


@pytest.mark.parametrize(("tokens", "rest"), [([1, 2, 9], [1, 2]), ([1, 2, 3, 4], [1, 2, 3, 4]), ([], [])])
def test_only_a_response_that_is_not_cut_off_has_an_end(tokens: list[int], rest: list[int]) -> None:
    assert without_end(np.array(tokens), longest=4).tolist() == rest


def test_the_queue_gives_tensors_of_any_length_and_wrapped_values(library: Any) -> None:
    from tensordict import NonTensorData

    def get(keys: list[str], partition_id: str, select_fields: list[str]) -> dict[str, Any]:
        assert (keys, partition_id) == (["u1_0_0", "u1_1_0"], "train")
        columns = {
            "responses": torch.nested.as_nested_tensor([torch.arange(2), torch.arange(3)], layout=torch.jagged),
            "extra_info": [{"id": "a"}, NonTensorData(data={"id": "b"})],
        }
        return {field: columns[field] for field in select_fields}

    library("transfer_queue", kv_batch_get=get)
    got = fetch_fields(["u1_0_0", "u1_1_0"], "train", ("responses", "extra_info"))
    assert got["u1_0_0"]["responses"].tolist() == [0, 1]
    assert got["u1_1_0"]["responses"].tolist() == [0, 1, 2]
    assert [fields["extra_info"] for fields in got.values()] == [{"id": "a"}, {"id": "b"}]
    assert fetch_fields([], "train", SAMPLED + TRAINED) == {}


def test_iterations_become_one_table_in_their_order(tmp_path: Path) -> None:
    folder = tmp_path / "rollouts"
    write_step(folder, 10, [row(step=10)])
    write_step(folder, 2, [row(step=2, id="b"), row(step=2, id="a", sample=1), row(step=2, id="a", sample=0)])
    table = write_rollouts(folder, tmp_path / "rollouts.parquet")
    order = [(line["step"], line["id"], line["sample"]) for line in table.to_pylist()]
    assert order == [(2, "a", 0), (2, "a", 1), (2, "b", 0), (10, "p1", 0)]
    assert pq.read_table(tmp_path / "rollouts.parquet").schema == ROLLOUTS
    assert write_rollouts(tmp_path / "none", tmp_path / "rollouts.parquet").num_rows == 0
    assert pq.read_schema(tmp_path / "rollouts.parquet") == ROLLOUTS


def test_an_iteration_that_is_run_again_keeps_its_rollouts_once(tmp_path: Path) -> None:
    for step in (1, 5, 10):
        write_step(tmp_path, step, [row(step=step)])
    forget_rollouts_after(tmp_path, 5)
    write_step(tmp_path, 10, [row(step=10)])
    write_step(tmp_path, 10, [row(step=10)])
    assert [line["step"] for line in write_rollouts(tmp_path, tmp_path / "all").to_pylist()] == [1, 5, 10]


@pytest.mark.parametrize(
    ("worst", "values", "first"),
    [
        ("response_tokens", [3, 9, 5], 9),
        ("gap_max", [0.5, float("nan"), 0.75], None),
        ("reward", [1.0, -1.0, 0.5], -1.0),
        ("loop", [False, True, False], True),
    ],
)
def test_the_worst_samples_come_first(tmp_path: Path, worst: str, values: list[Any], first: Any) -> None:
    path = write_worst(tmp_path / "samples/3.parquet", [row(**{worst: value}) for value in values], worst)
    found = pq.read_table(path).to_pylist()[0][worst]
    assert found == first if first is not None else np.isnan(found)


def test_an_advantage_is_worse_the_farther_it_is_from_zero(tmp_path: Path) -> None:
    rows = [row(advantage=value) for value in (0.5, None, -2.0, 1.0)]
    path = write_worst(tmp_path / "worst.parquet", rows, "advantage_size")
    assert [line["advantage"] for line in pq.read_table(path).to_pylist()] == [-2.0, 1.0, 0.5, None]
    assert pq.read_table(write_worst(tmp_path / "worst.parquet", [row()] * 100, "reward")).num_rows == 16


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
        {"step": 2, "id": "b", "rewards": [1.0, -1.0], "right": [True, False], "tokens": [7, 9], "used": True},
        {"step": 1, "id": "c", "rewards": [-0.5], "right": [True], "tokens": [3], "used": True},
        {"step": 1, "id": "a", "rewards": [-1.0, 0.5], "tokens": [5, 6], "used": False},  # as earlier versions wrote it
    ]
    (tmp_path / "rewards.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = write_rewards(tmp_path / "rewards.jsonl", tmp_path / "rewards.parquet")
    assert [tuple(row.values()) for row in table.to_pylist()] == [
        (1, "a", -1.0, False, 5, False),
        (1, "a", 0.5, True, 6, False),
        (1, "c", -0.5, True, 3, True),
        (2, "b", 1.0, True, 7, True),
        (2, "b", -1.0, False, 9, True),
    ]
    assert table.schema == REWARDS
    assert read_rewards(tmp_path / "rewards.parquet").equals(table)
    pq.write_table(table.drop_columns(["right"]), tmp_path / "earlier.parquet")
    assert read_rewards(tmp_path / "earlier.parquet")["right"].to_pylist() == [False, True, False, True, False]
