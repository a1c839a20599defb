"""A stage's record is on disk before it is anywhere else, and is found by whoever comes next."""

import json
import os
import subprocess
import sys
from pathlib import Path

from compass.tracking.journal import begun, new_journal, outbox, waiting, waiting_folders


def test_records_are_kept_in_order_and_read_from_where_sending_stopped(tmp_path: Path) -> None:
    journal = new_journal("dedup", tmp_path)
    journal.write("begin", stage="dedup")
    journal.write("tags", values={"a": "ü"})
    (first, position), (second, _) = journal.unsent()
    assert (first["do"], first["stage"], second["values"]) == ("begin", "dedup", {"a": "ü"})
    journal.sent.position = position
    assert [record["do"] for record, _ in journal.unsent()] == ["tags"]
    assert begun(journal.folder)["stage"] == "dedup"
    assert journal.root == tmp_path


def test_what_was_sent_survives_the_process(tmp_path: Path) -> None:
    journal = new_journal("dedup", tmp_path)
    journal.write("begin")
    journal.write("end", status="FINISHED")
    journal.sent.run, journal.sent.position = "r", journal.unsent()[0][1]
    journal.save()
    journal.close()
    [again] = waiting(tmp_path)
    assert again.sent.run == "r"
    assert [record["do"] for record, _ in again.unsent()] == ["end"]
    again.remove()
    assert waiting_folders(tmp_path) == []


def test_a_running_stages_journal_is_nobody_elses(tmp_path: Path) -> None:
    journal = new_journal("dedup", tmp_path)
    journal.write("begin")
    assert list(waiting(tmp_path)) == []
    assert waiting_folders(tmp_path) == [journal.folder]
    journal.close()
    assert [found.id for found in waiting(tmp_path)] == [journal.id]


def test_a_killed_stages_journal_ends_as_killed_at_its_last_record(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys; from compass.tracking.journal import new_journal\n"
        f"journal = new_journal('rl-1', {str(tmp_path)!r}); journal.write('begin'); journal.write('metrics', values=[])\n"
        "with open(journal.folder / 'records.jsonl', 'a') as file: file.write('{\"do\": \"me'); file.flush()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], env=os.environ).returncode == -9
    [journal] = waiting(tmp_path)
    begin, metrics, end = [record for record, _ in journal.unsent()]
    assert (begin["do"], metrics["do"]) == ("begin", "metrics")
    assert (end["do"], end["status"], end["ended"]) == ("end", "KILLED", metrics["time"])


def test_a_damaged_line_holds_up_no_other(tmp_path: Path) -> None:
    journal = new_journal("rl-1", tmp_path)
    journal.write("begin")
    with open(journal.folder / "records.jsonl", "ab") as file:
        file.write(b'{"do": "me\0\xff{"do": "tags"}\n')
    journal.write("metrics", values=[])
    journal.close()
    [found] = waiting(tmp_path)
    assert [record["do"] for record, _ in found.unsent()] == ["begin", "metrics", "end"]


def test_a_full_disk_leaves_whole_lines(tmp_path: Path) -> None:
    script = (
        "import resource, signal; from compass.tracking.journal import new_journal\n"
        f"journal = new_journal('rl-1', {str(tmp_path)!r}); journal.write('begin')\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: journal.write('document', text='x' * 5000)\n"
        "except OSError: journal.write('tags')\n"
    )
    assert subprocess.run([sys.executable, "-c", script], env=os.environ).returncode == 0
    [journal] = waiting(tmp_path)
    assert [record["do"] for record, _ in journal.unsent()] == ["begin", "tags", "end"]


def test_a_journal_without_a_record_is_removed(tmp_path: Path) -> None:
    new_journal("dedup", tmp_path).close()
    assert list(waiting(tmp_path)) == []
    assert list(outbox(tmp_path).iterdir()) == []


def test_artifacts_are_kept_as_they_are_now(tmp_path: Path) -> None:
    journal = new_journal("report", tmp_path)
    page, folder = tmp_path / "page.html", tmp_path / "figures"
    page.write_text("one")
    folder.mkdir()
    (folder / "a.svg").write_text("svg")
    names = journal.copy(page), journal.copy(folder)
    page.write_text("two")
    assert (journal.folder / names[0]).read_text() == "one"
    assert (journal.folder / names[1] / "a.svg").read_text() == "svg"


def test_a_journal_of_a_dvc_experiments_copy_is_the_repositorys(tmp_path: Path) -> None:
    copy = tmp_path / ".dvc/tmp/exps/abc"
    copy.mkdir(parents=True)
    journal = new_journal("dedup", copy)
    assert journal.folder.parent == outbox(tmp_path)
    assert json.loads((journal.folder / "records.jsonl").read_text() if journal.unsent() else "null") is None
