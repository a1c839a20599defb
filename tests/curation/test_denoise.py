from __future__ import annotations

import json

import pyarrow as pa
import pytest

from compass.curation import denoise as module
from compass.curation.decontamination import Match
from compass.curation.denoise import denoise, judge, pack, unpack
from compass.ledger import Drop
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason
from tests.conftest import data_rows

ITEM = (
    "A train leaves with 27 people. At the next stop 2 people get on and 6 get off. How many people are on the train?"
)
LINK = "See https://forum.example.org/t/940 for a picture of it."


def fates(table, benchmarks, settings=None):
    """Each row's fate in order: `kept`, or reason and evidence."""
    kept, dropped = denoise(table, benchmarks, settings or Denoise())
    fate = dict.fromkeys(kept.column("source_id").to_pylist(), "kept")
    for row in dropped.to_pylist():
        assert row["stage"] == "denoise"
        fate[row["source_id"]] = (row["reason"], json.loads(row["evidence"]))
    return [fate[key] for key in sorted(fate, key=int)]


def test_clean_noisy_and_contaminated_rows(records):
    rows = records(
        ("What is the sum of 2 and 2?", "4", "web"), (f"What is 2 + 3? {LINK}", "5", "web"), (ITEM, "23", "web")
    )
    clean, noisy, contaminated = fates(rows, records((ITEM, "24", "bench")))
    assert clean == "kept"
    assert noisy[0] == "link"
    assert contaminated[0] == "contaminated"
    assert (contaminated[1]["answer"], contaminated[1]["item_answer"]) == ("23", "24")


@pytest.mark.parametrize(
    ("rule", "noisy", "reason"),
    [
        ("exact", False, "contaminated"),
        ("reworded", False, "contaminated"),
        ("coverage", False, "contaminated"),
        ("exact", True, "contaminated"),
        ("reworded", True, "contaminated"),
        ("coverage", True, "link"),
    ],
)
def test_the_order_of_reasons(rule, noisy, reason):
    noise = Drop(NoiseReason.LINK, {"text": "x"}) if noisy else None
    matches = [Match("first", "1", rule, 0.8, "2"), Match("second", "1", "coverage", 0.7, "2")]
    drop = judge(noise, matches, "2")
    assert drop.reason == reason
    if reason == "link":
        assert drop.evidence == {"text": "x", "also_contaminated": "first:1"}


def test_settings_reach_filters_and_decontamination(records):
    rows = records((f"What is 2 + 3? {LINK}", "5", "web"), (f"Say: {ITEM}", "23", "web"))
    settings = Denoise(skip_reasons=["link"], contamination_coverage=1, contamination_similarity=1)
    assert fates(rows, records((ITEM + " Count well.", "23", "bench")), settings) == ["kept", "kept"]
    assert [fate[0] for fate in fates(rows, records((ITEM + " Count well.", "23", "bench")))] == [
        "link",
        "contaminated",
    ]


def test_batches_change_nothing(records, monkeypatch):
    rows = records(*[(f"What is the sum of {n} and 2? {LINK if n % 7 == 0 else ''}", "2", "web") for n in range(60)])
    whole = fates(rows, records())
    assert sum(fate != "kept" for fate in whole) == 9
    monkeypatch.setattr(module, "BATCH", 7)
    assert fates(rows, records()) == whole


@pytest.mark.slow
def test_processes_change_nothing(records, monkeypatch):
    rows = records(*[(f"What is the sum of {n} and 2? {LINK if n % 7 == 0 else ''}", "2", "web") for n in range(60)])
    alone = fates(rows, records((ITEM, "23", "bench")))
    monkeypatch.setattr(module, "SMALL", 10)
    monkeypatch.setattr(module, "BATCH", 7)
    assert fates(rows, records((ITEM, "23", "bench"))) == alone


def test_no_rows(records):
    assert fates(records(), records((ITEM, "23", "bench"))) == []


def test_a_batch_is_sent_without_the_rest_of_its_table(records):
    table = records(*[(f"What is {number} + {number}? " * 20, str(2 * number), "web") for number in range(2_000)])
    batch = table.combine_chunks().to_batches(10)[3]
    packed = pack(batch)
    assert len(packed) < 3 * batch.nbytes + 10_000
    assert unpack(packed).to_pylist() == batch.to_pylist()


SHADED = "A square of side 8 holds a circle of radius 4. What is the area of the shaded region inside the square but outside the circle?"


def test_what_a_filter_doubts_is_kept_with_the_doubt(records):
    rows = records((SHADED, "64-16\\pi", "web"), ("What is the sum of 2 and 2?", "4", "web"))
    kept, dropped = denoise(rows, records(), Denoise())
    doubtful, clean = kept.to_pylist()
    assert (dropped.num_rows, clean["findings"]) == (0, None)
    (finding,) = json.loads(doubtful["findings"])
    start, end = finding["evidence"]["span"]
    assert (finding["reason"], finding["strength"]) == ("figure", "possible")
    assert doubtful["problem"][start:end] == "of the shaded region"


def test_strictness_draws_the_line_and_findings_stay_with_dropped_rows(records):
    rows = records((SHADED, "64-16\\pi", "web"), (f"What is 2 + 3? {LINK}", "5", "web"))
    kept, dropped = denoise(rows, records(), Denoise(strictness="possible"))
    assert kept.num_rows == 0
    found = [[finding["reason"] for finding in json.loads(row["findings"])] for row in dropped.to_pylist()]
    assert [row["reason"] for row in dropped.to_pylist()] == ["figure", "link"]
    assert found == [["figure"], ["link"]]
    assert json.loads(dropped.to_pylist()[0]["evidence"])["strength"] == "possible"


def test_a_doubtful_row_that_comes_from_a_benchmark_is_dropped_and_keeps_its_findings(records):
    _, dropped = denoise(records((SHADED, "64", "web")), records((SHADED, "64", "bench")), Denoise())
    (row,) = dropped.to_pylist()
    assert row["reason"] == "contaminated"
    assert [finding["reason"] for finding in json.loads(row["findings"])] == ["figure"]


@pytest.mark.parametrize("strictness", ["possible", "likely", "sure"])
def test_another_strictness_needs_no_new_run(records, strictness):
    """Of the findings of one run, the first as strong as the line is the reason that a run with that line gives."""
    rows = records(*[(row["problem"], row.get("answer", "7"), "web") for row in data_rows("noise_filters.jsonl")])
    judged = pa.concat_tables([table.select(["id", "findings"]) for table in denoise(rows, records(), Denoise())])
    order = ["possible", "likely", "sure"]
    strong = set(order[order.index(strictness) :])
    told = {
        row["id"]: next(
            (one["reason"] for one in json.loads(row["findings"] or "[]") if one["strength"] in strong), None
        )
        for row in judged.to_pylist()
    }
    kept, dropped = denoise(rows, records(), Denoise(strictness=strictness))
    fates = dict.fromkeys(kept["id"].to_pylist()) | dict(
        zip(dropped["id"].to_pylist(), dropped["reason"].to_pylist(), strict=True)
    )
    assert told == fates
    assert len(set(fates.values())) > 5
