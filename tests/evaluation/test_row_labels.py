"""Rows that a person called fit or unfit, and what they say of each reason, of the kept rows and of each finding."""

from __future__ import annotations

import json
from math import sqrt

import pyarrow as pa
import pytest

from compass.curation.noise.finding import Finding, Strength, findings_column
from compass.evaluation.accuracy import wilson
from compass.evaluation.label_files import read_labels, write_label
from compass.evaluation.labels import in_turn
from compass.evaluation.row_labels import curated_rows, measured_rows
from compass.ledger import Drop, Reason, split
from compass.records import with_column
from compass.settings.denoise import NoiseReason

FIGURE = [Finding(NoiseReason.FIGURE, Strength.SURE), Finding(NoiseReason.PROOF, Strength.POSSIBLE)]
DOUBT = [Finding(NoiseReason.PROOF, Strength.POSSIBLE)]


@pytest.fixture
def rows(records):
    """Ten rows dropped as figure, four as exact duplicates, two for their licence; six kept, two of them with a doubt."""
    table = records(*[(f"How long is side {n}?", str(n), "web") for n in range(22)])
    drops = [FIGURE[0].as_drop()] * 10 + [Drop(Reason.EXACT_DUPLICATE)] * 4 + [Drop(Reason.LICENCE)] * 2 + [None] * 6
    found = [FIGURE] * 10 + [[]] * 6 + [DOUBT] * 2 + [[]] * 4
    kept, dropped = split(with_column(table, "findings", [findings_column(one) for one in found]), drops, "denoise")
    stages = ["denoise"] * 10 + ["dedup"] * 4 + ["collect"] * 2
    return curated_rows(dropped.set_column(dropped.schema.get_field_index("stage"), "stage", pa.array(stages)), kept)


def labelled(rows, **unfit: int):
    """Labels of all rows, so many of each stratum unfit."""
    left = dict(unfit)
    labels = {}
    for row in rows:
        name = row.stratum.replace(", ", "_")
        labels[row.key] = left.get(name, 0) <= 0
        left[name] = left.get(name, 0) - 1
    return labels


def test_rows_are_drawn_by_reason_and_by_doubt_and_licences_are_not_judged(rows):
    counts = {stratum: sum(row.stratum == stratum for row in rows) for stratum in {row.stratum for row in rows}}
    assert counts == {"figure": 10, "exact_duplicate": 4, "kept, proof": 2, "kept": 4}
    order = list(in_turn(rows, {}, 0, dict.fromkeys(sorted(counts), 1)))
    assert {row.stratum for row in order[:4]} == set(counts)
    assert len(order) == 20
    assert [row.findings for row in rows if row.stratum == "exact_duplicate"] == [None] * 4


def test_a_reason_is_as_precise_as_the_share_of_its_rows_that_are_unfit(rows):
    measured = measured_rows(rows, labelled(rows, figure=7))
    figure = measured["reasons"]["figure"]
    assert (figure["rows"], figure["labelled"], figure["unfit"], figure["share"]) == (10, 10, 7, 0.7)
    assert figure["ci95"] == list(wilson(0.7, 10))
    assert figure["strengths"]["sure"] == {key: figure[key] for key in ("labelled", "unfit", "share", "ci95")}
    assert measured["reasons"]["exact_duplicate"]["share"] == 0
    assert measured["labelled"] == 20


def test_kept_rows_count_by_the_shares_of_doubtful_and_other_ones(rows):
    """Both doubtful rows unfit and one of two labelled others: 2/6 x 1 + 4/6 x 1/2."""
    labels = labelled(rows, kept_proof=2, kept=1)
    others = [row.key for row in rows if row.stratum == "kept"]
    for key in others[2:]:
        del labels[key]
    kept = measured_rows(rows, labels)["kept"]
    assert (kept["rows"], kept["labelled"], kept["unfit"]) == (6, 4, 3)
    assert kept["error"] == pytest.approx(2 / 3)
    low = [wilson(1.0, 2)[0], wilson(0.5, 2)[0]]
    assert kept["ci95"][0] == pytest.approx(2 / 3 - sqrt((2 / 6 * (1 - low[0])) ** 2 + (4 / 6 * (0.5 - low[1])) ** 2))
    for key in others:
        labels.pop(key, None)
    assert measured_rows(rows, labels)["kept"]["error"] is None  # two thirds of the kept rows are not known


def test_findings_count_whatever_became_of_the_row_and_dedup_rows_were_not_read(rows):
    found = measured_rows(rows, labelled(rows, figure=7, kept_proof=1, exact_duplicate=4))["findings"]
    counts = {
        (reason, strength): (one["labelled"], one["unfit"])
        for reason, strengths in found.items()
        for strength, one in strengths.items()
    }
    assert counts == {
        ("figure", "sure"): (10, 7),
        ("figure", "without"): (6, 1),
        ("proof", "possible"): (12, 8),
        ("proof", "without"): (4, 0),
    }


def test_labels_have_one_format_and_hold_while_problem_and_gold_are_the_same(rows, records, tmp_path):
    path = tmp_path / "labels.jsonl"
    write_label(path, rows[0].key, False, "person")
    write_label(path, rows[1].key, None, "person")
    assert set(json.loads(path.read_text().splitlines()[0])) == {"id", "digest", "right", "by"}
    measured = measured_rows(rows, read_labels(path))
    assert (measured["labelled"], measured["unsure"]) == (1, 1)
    (same, changed) = curated_rows(
        split(records(), [], "denoise")[1],
        records(("How long is side 0?", "0", "web"), ("How long is side 1?", "2", "web")),
    )
    assert same.key == rows[0].key
    assert changed.id == rows[1].id
    assert changed.key not in read_labels(path)
