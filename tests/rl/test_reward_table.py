import json
from pathlib import Path

from compass.rl.reward_table import write_rewards


def test_rewards_are_one_row_a_response(tmp_path: Path) -> None:
    lines = [
        {"step": 2, "id": "b", "rewards": [1.0, -1.0], "tokens": [7, 9], "used": True},
        {"step": 1, "id": "a", "rewards": [-1.0, -1.0], "tokens": [5, 5], "used": False},
    ]
    (tmp_path / "rewards.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = write_rewards(tmp_path / "rewards.jsonl", tmp_path / "rewards.parquet").to_pylist()
    assert [(row["step"], row["id"], row["reward"], row["used"]) for row in rows] == [
        (1, "a", -1.0, False),
        (1, "a", -1.0, False),
        (2, "b", 1.0, True),
        (2, "b", -1.0, True),
    ]
