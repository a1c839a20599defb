"""Records wait on disk, whole, until a server has them; one whose stage was killed says so."""

from pathlib import Path

import pytest

from compass.processes import process_key
from compass.tracking.outbox import (
    ParentShare,
    Record,
    copy_artifact,
    count_unreadable,
    list_artifacts,
    list_waiting,
    outbox,
    read_record,
    write_record,
)
from compass.tracking.record import end_record, make_points

ROOT = Path(__file__).resolve().parents[2]


def make_record(name: str = "20260101-000000-dedup-1", **changed: object) -> Record:
    return Record(**{"id": name, "stage": "dedup", "experiment": "e", "process": process_key(), "began": 1, **changed})


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    share = ParentShare("key", "tiny", {"seed": "0"}, {"a": "ü"}, points=make_points({"kept": 2}))
    record = make_record(points=make_points({"p": 0.5}, 3), parent=share)
    write_record(record, tmp_path)
    assert read_record(outbox(tmp_path) / record.id) == record


def test_a_running_stages_record_is_nobody_elses_and_an_ended_one_waits(tmp_path: Path) -> None:
    record = make_record()
    write_record(record, tmp_path)
    assert list_waiting(tmp_path) == []
    end_record(record, "FAILED", ValueError("bad row 7"))
    write_record(record, tmp_path)
    [(_, found)] = list_waiting(tmp_path)
    assert (found.status, found.tags["compass.error"]) == ("FAILED", "ValueError: bad row 7")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"id": "x"}', '{"id": "x", "unknown": 1}'])
def test_a_damaged_record_holds_up_no_other(tmp_path: Path, text: str) -> None:
    (outbox(tmp_path) / "a").mkdir(parents=True)
    (outbox(tmp_path) / "a" / "record.json").write_text(text)
    write_record(make_record("b", status="FINISHED", ended=2), tmp_path)
    assert [record.id for _, record in list_waiting(tmp_path)] == ["b"]
    assert count_unreadable(tmp_path) == 1


def test_artifacts_are_copies_as_they_were_and_whole(tmp_path: Path) -> None:
    record, report = make_record(), tmp_path / "reports"
    report.mkdir()
    (report / "index.html").write_text("first")
    copy_artifact(record, report, tmp_path)
    (report / "index.html").write_text("second")
    (tmp_path / "half").mkdir()
    (tmp_path / "half/whole").write_text("x")
    (tmp_path / "half/lost").symlink_to("nowhere")
    with pytest.raises(OSError, match=r"nowhere|lost"):
        copy_artifact(record, tmp_path / "half", tmp_path)
    [kept] = list_artifacts(record, "stage", tmp_path)
    assert (kept.name, (kept / "index.html").read_text()) == ("reports", "first")
