"""Which responses and rollouts the viewer holds: the rule is kept within its limit, and totals count everything."""

from __future__ import annotations

import base64
import gzip
import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from compass.page.packed import pack
from compass.report.run import read_run
from compass.report.viewer import kept_rollouts, viewer
from compass.report.viewer.responses import embed_responses
from compass.report.viewer.training import embed_rollouts, embed_similar
from tests.report.conftest import sample_rows, write_evaluation


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """An evaluation whose texts do not fit: 12 problems, 2 benchmarks, 3 models, 16 samples of several thousand characters."""
    rows = sample_rows(samples=16)
    for number, row in enumerate(rows):
        row["response"] = " ".join(str(hash((number, word)) % 10**8) for word in range(300))
    write_evaluation(tmp_path / "large", rows)
    return tmp_path / "large"


def unpack(text: str) -> Any:
    """What the page's script unpacks."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def test_packed_data_come_back_whole_even_with_text_that_is_no_unicode() -> None:
    value = {"a": ["</script>", "\u202e", None, 0.5], "b": "é"}
    assert unpack(pack(value)) == value
    assert unpack(pack("lone \ud800")) == "lone ?"
    assert set(pack(value)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
    assert pack(value) == pack(value)


def test_everything_is_there_where_it_fits(finished_run: Path) -> None:
    run = read_run(finished_run)
    found = embed_responses(run, 5_000_000)
    assert found.shown == found.total == run.samples.num_rows
    assert found.rule.startswith("All 360 responses are here.")
    index = viewer(run, megabytes=5).partition("id='viewer-index'>")[2].partition("<")[0]
    assert unpack(index)["rule"] == found.rule


def test_within_a_limit_every_problem_keeps_its_greedy_its_first_right_and_its_first_wrong_response(
    large: Path,
) -> None:
    run = read_run(large)
    limit = 900_000
    found = embed_responses(run, limit)
    assert sum(len(chunk) for chunk in found.chunks) <= limit
    assert found.shown < found.total == run.samples.num_rows == 3 * 24 * 17
    held: dict[tuple[str, str, int], list] = defaultdict(list)
    chunks = [unpack(chunk) for chunk in found.chunks]
    for number, item in enumerate(found.items):
        for response in chunks[item[6]][str(number)]:
            held[item[0], item[1], response[0]].append(response)
    assert sum(map(len, held.values())) == found.shown
    expected: dict[tuple[str, str, int], dict[object, int]] = defaultdict(dict)
    for row in sorted(run.samples.to_pylist(), key=lambda row: row["sample"]):
        key = (row["benchmark"], row["id"], run.models.index(row["model"]))
        expected[key].setdefault("greedy" if row["greedy"] else row["correct"], row["sample"])
    for key, wanted in expected.items():
        seen = {("greedy" if greedy else shown["right"], sample) for _, greedy, sample, shown in held[key]}
        assert set(wanted.items()) <= seen
    assert f"{found.shown:,} of 1,224 responses are here" in found.rule


def test_totals_count_all_responses_whatever_is_embedded(large: Path) -> None:
    run = read_run(large)
    found = embed_responses(run, 900_000)
    rows = [row for row in pq.read_table(large / "samples.parquet").to_pylist() if not row["greedy"]]
    for benchmark, id_, *_, tallies, _, _ in found.items:
        for model, (samples, right, lenient, cut_off, _, unread) in zip(run.models, tallies, strict=True):
            own = [row for row in rows if (row["benchmark"], row["id"], row["model"]) == (benchmark, id_, model)]
            assert samples == len(own) == 16
            assert right == sum(row["correct"] for row in own)
            assert lenient == sum(row["correct_lenient"] for row in own)
            assert cut_off == sum(row["finish_reason"] == "length" for row in own)
            assert unread == 0  # every answer there is read


def test_a_limit_too_small_for_whole_texts_shortens_them(large: Path) -> None:
    found = embed_responses(read_run(large), 150_000)
    responses = [response for chunk in found.chunks for own in unpack(chunk).values() for response in own]
    assert all("characters left out" in response[3]["text"] for response in responses)
    assert "A response of more than 500 characters" in found.rule or "of more than 1,000 characters" in found.rule


def test_rollouts_are_held_in_whole_groups_and_counted_all(finished_run: Path) -> None:
    run = read_run(finished_run)
    assert kept_rollouts(run) == {"rl-1": [1, 2], "rl-2": [1, 2]}
    index, chunks = embed_rollouts(run, 10**6)
    assert [step[:7] for step in index["steps"]] == [
        ["rl-1", 1, "", 12, 6, 8, 3],
        ["rl-1", 2, "", 12, 6, 8, 3],
        ["rl-2", 1, "", 12, 6, 8, 3],
        ["rl-2", 2, "", 12, 6, 8, 3],
        ["rl-1", 2, "loops", 4, 2, 4, 1],
    ]
    small, fewer = embed_rollouts(run, sum(len(chunk) for chunk in chunks) - 1)
    held = {step[6] for step in small["steps"]}
    assert held == {1, 2}
    for packed in fewer:
        groups: dict[str, int] = defaultdict(int)
        for row in unpack(packed)["rows"]:
            groups[row[small["columns"].index("group")]] += 1
        assert set(groups.values()) == {4}


def test_trained_rows_that_resemble_a_problem_are_held_with_the_iterations_that_used_them(
    chained_run: tuple[Path, str],
) -> None:
    root, row = chained_run
    run = read_run(root)
    items = embed_responses(run, 5_000_000).items
    assert [item[-1] for item in items if item[1] == "easy-3"] == [[row]]
    name, text, gold, stages = embed_similar(run, items)[row]
    assert (name, gold) == ("web:2", "5")
    assert text.startswith("Tom has 2 books")
    assert stages == [["rl-1", [1, 2], [1, 2]], ["rl-3", [2], []]]  # rl-3 recorded rewards and kept no rollouts
    assert embed_similar(run, [["easy", "x", []]]) == {}
