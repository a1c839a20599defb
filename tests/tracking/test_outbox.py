"""Records wait on disk, whole, until a server has them; one whose stage was killed says so."""

from pathlib import Path

import pytest

from compass.processes import process_key
from compass.tracking.outbox import (
    find_files,
    keep_files,
    list_waiting,
    outbox,
    read_record,
    write_record,
)
from compass.tracking.record import ParentShare, Record, end_record, make_points

ROOT = Path(__file__).resolve().parents[2]


def make_record(name: str = "20260101-000000-dedup-1", **changed: object) -> Record:
    return Record(**{"id": name, "stage": "dedup", "experiment": "e", "process": process_key(), "began": 1, **changed})


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    share = ParentShare("key", "tiny", {"seed": "0"}, {"a": "ü"}, points=make_points({"kept": 2}))
    record = make_record(points=make_points({"p": 0.5}, 3), parent=share, documents={"a.json": {"b": 1}})
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


def test_files_are_those_of_the_stage_until_they_are_kept_as_they_are(tmp_path: Path) -> None:
    record = make_record(files=["plots/a.svg", "reports"])
    for name in ("plots/a.svg", "reports/index.html"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("first")
    assert list(find_files(record, tmp_path)) == [tmp_path / "plots/a.svg", tmp_path / "reports"]
    keep_files(record, tmp_path)
    (tmp_path / "plots/a.svg").write_text("second")
    plot, report = find_files(record, tmp_path)
    assert plot.read_text() == (report / "index.html").read_text() == "first"


def test_files_of_which_a_part_alone_was_kept_are_those_of_the_stage(tmp_path: Path) -> None:
    record = make_record(files=["reports"])
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports/index.html").write_text("whole")
    (tmp_path / "reports/lost").symlink_to("nowhere")
    with pytest.raises(OSError, match=r"nowhere|lost"):
        keep_files(record, tmp_path)
    assert list(find_files(record, tmp_path)) == [tmp_path / "reports"]
