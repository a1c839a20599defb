from __future__ import annotations

import json

import pyarrow as pa

from compass.curation import denoise as module
from compass.curation.denoise import denoise, pack
from compass.settings import Denoise

ITEM = (
    "A train leaves with 27 people. At the next stop 2 people get on and 6 get off. How many people are on the train?"
)
LINK = "See https://forum.example.org/t/940 for a picture of it."


def reasons(table, benchmarks, settings=None):
    kept, dropped = denoise(table, benchmarks, settings or Denoise())
    fate = dict.fromkeys(kept.column("source_id").to_pylist(), "kept")
    for row in dropped.to_pylist():
        fate[row["source_id"]] = (row["reason"], json.loads(row["evidence"]))
    return [fate[key] for key in sorted(fate)]


def test_clean_noisy_and_contaminated_rows(records):
    rows = records(
        ("What is the sum of 2 and 2?", "4", "web"), (f"What is 2 + 3? {LINK}", "5", "web"), (ITEM, "23", "web")
    )
    found = reasons(rows, records((ITEM, "23", "bench")))
    assert found[0] == "kept"
    assert found[1][0] == "link"
    assert found[2][0] == "contaminated"


def test_a_whole_item_counts_before_noise_and_a_part_after_it(records):
    part = f"Ann and her 5 friends wait. {ITEM} {LINK} Then 4 more of them board a bus that holds 50."
    found = reasons(records((ITEM, "23", "web"), (part, "3", "web")), records((ITEM, "23", "bench")))
    assert found[0][0] == "contaminated"
    assert found[1][0] == "link"
    assert found[1][1]["also_contaminated"] == "bench:0"


def test_worker_processes_change_nothing(records, monkeypatch):
    rows = records(
        *[(f"What is the sum of {n} and 2? {LINK if n % 7 == 0 else ''}", str(n + 2), "web") for n in range(60)]
    )
    alone = reasons(rows, records())
    monkeypatch.setattr(module, "ALONE", 10)
    monkeypatch.setattr(module, "BATCH", 7)
    assert reasons(rows, records()) == alone


def test_a_batch_is_sent_without_the_rest_of_its_table(records):
    table = records(*[(f"What is {number} + {number}? " * 20, str(2 * number), "web") for number in range(2_000)])
    batch = table.combine_chunks().to_batches(10)[3]
    packed = pack(batch)
    assert len(packed) < 3 * batch.nbytes + 10_000
    assert pa.ipc.open_stream(packed).read_all().to_pylist() == batch.to_pylist()
