"""`compass why` and `compass card` over the stages of a pipeline."""

from __future__ import annotations

import argparse

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.commands import card as card_command
from compass.ledger import Drop, Reason, split
from compass.records import write_records

TEXT = "Tom has {} books and buys 3 more of them. How many books does Tom have now?"


@pytest.fixture
def data(tmp_path, records):
    """Five rows: one is dropped by denoise, one by curriculum, three are trained on."""
    rows = records(*[(TEXT.format(number), str(number + 3), "web") for number in range(5)])

    def write(stage, table, drops):
        kept, dropped = split(table, drops, stage)
        write_records(tmp_path / stage / "kept.parquet", kept)
        write_records(tmp_path / stage / "dropped.parquet", dropped)
        return kept

    write("collect", rows, [None] * 5)
    write("dedup", rows, [None] * 5)
    left = write("denoise", rows, [Drop(Reason.LINK, {"text": "example.org"}), None, None, None, None])
    for column, values in (("n_rollouts", [4] * 4), ("solve_rate", [0.25] * 4), ("level", [4] * 4)):
        place = left.schema.get_field_index(column)
        left = left.set_column(place, left.schema.field(place), pa.array(values, left.schema.field(place).type))
    write("grade", left, [None] * 4)
    ids = left.column("id").to_pylist()
    rollouts = [{"id": id_, "sample": n, "answer": str(n), "correct": n == 3} for id_ in ids for n in range(4)]
    pq.write_table(pa.Table.from_pylist(rollouts), tmp_path / "grade" / "rollouts.parquet")
    write("verify", left, [None] * 4)
    place = left.schema.get_field_index("stages")
    left = left.set_column(place, left.schema.field(place), pa.array(["rl-1,rl-3"] * 4))
    write("curriculum", left, [Drop(Reason.SOLVE_RATE, {"solve_rate": 0.25}), None, None, None])
    for stage in ("rl-1", "rl-3"):
        rewards = [
            {"step": step, "id": ids[1], "reward": r, "response_tokens": 10, "used": step == 2}
            for step, group in ((2, (1.0, -1.0)), (5, (1.0, 1.0)))
            for r in group
        ]
        (tmp_path / stage).mkdir()
        pq.write_table(pa.Table.from_pylist(rewards), tmp_path / stage / "rewards.parquet")
    return tmp_path, ids


def test_the_story_goes_to_the_rewards(data, capsys):
    folder, ids = data
    assert main(["why", ids[1], "--data", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "grade       kept: solve rate 0.250 of 4 rollouts, level 4" in told
    assert "1 of 4 rollouts right" in told
    assert "curriculum  kept: trains rl-1, rl-3" in told
    assert "rl-1        sampled in 2 iterations, trained on in 1: 4 responses, mean reward +0.500" in told
    assert "iteration 2: rewards +1 -1  (10 tokens on average)" in told
    assert "iteration 5: rewards +1 +1  (10 tokens on average; left out of the update)" in told


def test_a_dropped_rows_story_ends_where_it_was_dropped(data, capsys):
    folder, ids = data
    main(["why", ids[0], "--data", str(folder)])
    told = capsys.readouterr().out
    assert "curriculum  DROPPED: solve_rate" in told
    main(["why", TEXT.format(0), "--data", str(folder)])
    told = capsys.readouterr().out
    assert "denoise     DROPPED: link" in told
    assert "grade" not in told


def test_ledger_and_card_of_a_pipeline(data, tmp_path, capsys):
    folder, _ = data
    main(["ledger", "--data", str(folder)])
    counted = capsys.readouterr().out
    assert "link" in counted
    assert "solve_rate" in counted
    parser = argparse.ArgumentParser()
    card_command.configure(parser)
    assert card_command.run(parser.parse_args(["--data", str(folder), "--out", str(tmp_path / "card")])) == 0
    text = (tmp_path / "card" / "card.md").read_text()
    assert "| web |" in text
    assert "| denoise | link | 1 |" in text
    assert "Graded Levels" in text or "Graded levels" in text


def test_a_truncated_output_is_named(data, capsys):
    folder, ids = data
    (folder / "verify" / "kept.parquet").write_bytes(b"PAR1 cut")
    assert main(["why", ids[1], "--data", str(folder)]) == 1
    assert "verify/kept.parquet" in capsys.readouterr().err
