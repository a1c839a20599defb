import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from compass.evaluation.accuracy import wilson
from compass.evaluation.label_files import (
    LabelsError,
    add_labels,
    read_labels,
    read_whole_labels,
    text_digest,
    write_label,
)
from compass.evaluation.labels import WEIGHTS, distinct_responses, error_of_run, in_turn, measured_error

KINDS = {
    "right": (True, True, "equal", "5", ""),
    "leaned": (True, True, "equal", "5", "unit"),
    "disputed": (False, True, "none", "5", ""),
    "unread": (False, False, "unrecognised", "?!", ""),
    "unfound": (False, False, "none", "6", ""),
    "wrong": (False, False, "different", "6", ""),
}


def samples(**counts: int) -> pa.Table:
    names = ("correct", "correct_lenient", "outcome", "answer_lenient", "leniencies")
    rows = [
        {"id": f"p{number % 7}", "response": f"{kind} {number}", **dict(zip(names, KINDS[kind], strict=True))}
        for kind, count in counts.items()
        for number in range(count)
    ]
    return pa.Table.from_pylist(rows)


def test_responses_belong_to_the_first_stratum_that_holds():
    table = samples(**dict.fromkeys(KINDS, 1))
    found = {one.text: one.stratum for one in distinct_responses(table)}
    assert found == {
        "right 0": "right",
        "leaned 0": "leaned",
        "disputed 0": "disputed",
        "unread 0": "unread",
        "unfound 0": "unread",
        "wrong 0": "wrong",
    }
    second = {("p0", text_digest("right 0")): False, ("p0", text_digest("wrong 0")): False}
    found = {one.text: one.stratum for one in distinct_responses(table, second)}
    assert (found["right 0"], found["wrong 0"]) == ("second", "wrong")


def test_a_response_that_is_there_twice_is_judged_once_and_counts_twice():
    (one,) = distinct_responses(pa.concat_tables([samples(right=1), samples(right=1)]))
    assert one.count == 2


def test_the_order_goes_round_the_strata_and_skips_what_has_a_label():
    responses = distinct_responses(samples(right=50, wrong=50, disputed=4))
    order = list(in_turn(responses, {}, 0, WEIGHTS))
    assert len(order) == 104
    assert [one.stratum for one in order[:7]] == ["disputed"] * 3 + ["wrong"] * 2 + ["right", "disputed"]
    labelled = {one.key: True for one in order[:10]}
    assert not {one.key for one in in_turn(responses, labelled, 0, WEIGHTS)} & set(labelled)
    assert list(in_turn(responses, {}, 0, WEIGHTS)) == order
    assert list(in_turn(responses, {}, 1, WEIGHTS)) != order


def test_labels_are_kept_line_by_line_and_the_last_one_counts(tmp_path):
    path = tmp_path / "deep" / "labels.jsonl"
    one, two = distinct_responses(samples(right=2))
    write_label(path, one.key, True, "person")
    write_label(path, two.key, None, "person")
    write_label(path, one.key, False, "person")
    assert read_labels(path) == {one.key: False, two.key: None}
    assert read_labels(tmp_path / "none.jsonl") == {}
    assert error_of_run(tmp_path, tmp_path) is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "no label"),
        ("[1]", "no label"),
        ('{"id": "p", "digest": "d", "right": "yes"}', "`right` is 'yes'"),
        ('{"id": "p", "digest": "d", "right": 0}', "`right` is 0;"),
    ],
)
def test_a_line_that_is_no_label_is_named(tmp_path, line, message):
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": "p", "digest": "d", "right": true}\n' + line + "\n")
    with pytest.raises(LabelsError, match=f"labels.jsonl:2: {message}"):
        read_labels(path)


def test_a_label_added_is_whole_and_on_a_line_of_its_own(tmp_path):
    path, new = tmp_path / "labels.jsonl", tmp_path / "new.jsonl"
    path.write_text('{"id": "p", "digest": "d", "right": true}\n\n{"id": "q", "digest": "d", "right": true}')
    label = {"id": "p", "digest": "d", "right": False, "by": "Ann", "note": "no\u2028unit"}
    new.write_text(json.dumps(label, ensure_ascii=False) + "\n\n")
    add_labels(path, new)
    assert read_labels(path) == {("p", "d"): False, ("q", "d"): True}
    assert read_whole_labels(path)["p", "d"] == label
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    write_label(path, ("r", "d"), None, "person")
    assert list(read_labels(path)) == [("p", "d"), ("q", "d"), ("r", "d")]


def test_errors_count_by_their_stratums_share():
    responses = distinct_responses(samples(right=900, disputed=100))
    by_kind = {kind: [one for one in responses if one.stratum == kind] for kind in ("right", "disputed")}
    labels = {one.key: True for one in by_kind["right"][:20]}
    labels |= {one.key: number < 5 for number, one in enumerate(by_kind["disputed"][:10])}
    labels[by_kind["right"][30].key] = None
    found = measured_error(responses, labels)
    assert found["error"] == pytest.approx(0.1 * 0.5)
    assert (found["refused_right"], found["accepted_wrong"]) == (pytest.approx(0.05), 0)
    assert found["strata"]["disputed"] == {"responses": 100, "labelled": 10, "wrong": 5}
    assert (found["labelled"], found["unsure"], found["responses"]) == (30, 1, 1000)
    right, disputed = wilson(0, 20), wilson(0.5, 10)
    above = ((0.9 * right[1]) ** 2 + (0.1 * (disputed[1] - 0.5)) ** 2) ** 0.5
    assert found["ci95"] == pytest.approx([0.05 - 0.1 * (0.5 - disputed[0]), 0.05 + above])
    accepted = {one.key: number > 1 for number, one in enumerate(by_kind["right"])}
    found = measured_error(by_kind["right"], accepted)
    assert (found["accepted_wrong"], found["refused_right"]) == (pytest.approx(2 / 900), 0)


def test_a_stratum_without_a_label_leaves_the_error_unknown():
    responses = distinct_responses(samples(right=90, wrong=10))
    labels = {one.key: True for one in responses if one.stratum == "right"}
    found = measured_error(responses, labels)
    assert found["error"] is None
    assert found["ci95"][1] > 0.1
    few = distinct_responses(samples(right=999, unread=1))
    assert measured_error(few, {one.key: True for one in few if one.stratum == "right"})["error"] == 0


@pytest.mark.parametrize("most", [1, 20])
def test_the_interval_holds_the_true_error(most):
    """`most`: how often models repeat one response in ten; an error in it weighs as much."""
    generator = np.random.default_rng(0)
    responses = distinct_responses(samples(right=600, wrong=300, disputed=60, leaned=40))
    responses = [replace(one, count=most if number % 10 == 0 else 1) for number, one in enumerate(responses)]
    rows = [one.count for one in responses]
    chances = {"right": 0.02, "wrong": 0.03, "disputed": 0.5, "leaned": 0.2}
    held = 0
    for seed in range(200):
        faulty = {one.key: generator.random() < chances[one.stratum] for one in responses}
        truth = np.average(list(faulty.values()), weights=rows)
        drawn = [one for _, one in zip(range(120), in_turn(responses, {}, seed, WEIGHTS), strict=False)]
        low, high = measured_error(responses, {one.key: one.correct != faulty[one.key] for one in drawn})["ci95"]
        held += low <= truth <= high
    assert held / 200 >= 0.93
