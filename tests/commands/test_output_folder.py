"""What `compass curate` refuses to write into, and that the last good run stays whole until the new one is."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compass.cli import main
from compass.library.output_folder import OutputError, check_out, replacing
from compass.report.outputs import check_finished
from tests.conftest import digests


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "rows.jsonl"
    rows = [
        {"problem": f"What is {n} times {n + 7} less {n % 9}?", "answer": str(n * (n + 7) - n % 9)} for n in range(99)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def curate(source: Path, out: Path, *more: str) -> int:
    return main(["curate", str(source), "--out", str(out), *more])


def own(folder: Path, *names: str) -> Path:
    """A folder with files that look like this command's."""
    for name in ("curate.json", *names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("foreign", "said"),
    [
        ("out", "out: is a file; give the name of a folder with --out"),
        ("out/notes.txt", "out/notes.txt: not written by `compass curate`, which would replace"),
        ("out/verify/notes.txt", "out/verify/notes.txt: not written by `compass curate`, which would replace"),
        ("out.partial/notes.txt", "out.partial/notes.txt: not written by `compass curate`"),
        (None, "out: a link to nowhere, which is not there"),
    ],
)
def test_what_is_not_its_own_is_refused_and_left_as_it_was(source, tmp_path, capsys, foreign, said):
    if foreign is None:
        (tmp_path / "out").symlink_to("nowhere")
    else:
        (tmp_path / foreign).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / foreign).write_text("mine")
    if foreign == "out/verify/notes.txt":
        own(tmp_path / "out", "summary.json", "verify/kept.parquet")
    before = digests(tmp_path)
    assert curate(source, tmp_path / "out") == 1
    assert said in capsys.readouterr().err
    assert digests(tmp_path) == before


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("rows.jsonl/out", "rows.jsonl is a file, so no folder can be made in it"),
        ("rows.jsonl", "rows.jsonl: lies in"),
        (".", ": lies in "),
        ("/proc/curated", "cannot be made"),
        ("/dev", "/dev: a mount point, which cannot be replaced; give a folder inside it"),
    ],
)
def test_a_folder_that_cannot_be_made_is_refused(source, tmp_path, capsys, out, said):
    before = digests(tmp_path)
    assert curate(source, tmp_path / out) == 1
    assert said in capsys.readouterr().err
    assert digests(tmp_path) == before


def test_the_folder_one_is_in_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="the folder that this command runs in"):
        check_out(Path("."))


def test_a_folder_between_the_sources_is_refused(source, tmp_path, capsys):
    for path, out in ((tmp_path, tmp_path / "out"), (source, tmp_path)):
        assert curate(path, out) == 1
        assert "which is read, or holds it; give a folder elsewhere with --out" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_link_to_a_folder_stays_a_link(source, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert curate(source, tmp_path / "link") == 0
    assert (tmp_path / "link").is_symlink()
    assert check_finished(tmp_path / "real")["read"] == 99


def test_an_error_leaves_the_last_run_and_nothing_else(source, tmp_path, capsys):
    out = tmp_path / "deep" / "out"
    late = tmp_path / "late.jsonl"
    late.write_text(source.read_text() + "{broken\n")
    assert curate(late, out) == 1
    assert not (tmp_path / "deep").exists()
    assert curate(source, out) == 0
    before = digests(tmp_path)
    assert curate(late, out) == 1
    assert "late.jsonl: row 99 is not JSON" in capsys.readouterr().err
    assert digests(tmp_path) == before


def test_what_a_killed_run_left_is_replaced(source, tmp_path):
    own(tmp_path / "out.partial", "dedup/kept.parquet", "dedup/.kept.parquet.x.part")
    assert curate(source, tmp_path / "out") == 0
    assert not (tmp_path / "out.partial").exists()
    check_finished(tmp_path / "out")


def test_a_folder_gets_its_name_back_where_a_run_was_killed_between_the_two_renames(tmp_path):
    out = own(tmp_path / "out")
    partial, previous = own(tmp_path / "out.partial", "summary.json"), tmp_path / "out.previous"
    out.rename(previous)
    with replacing(out) as folder:
        assert (out / "curate.json").exists()
        assert [path.name for path in folder.iterdir()] == ["curate.json"]
    assert not previous.exists()
    assert not partial.exists()


def test_a_full_disk_is_said_and_leaves_the_folder_as_it_was(tmp_path):
    out = own(tmp_path / "out", "summary.json")
    before = digests(tmp_path)
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OutputError, match="the disk is full; free some space"), replacing(out):
        raise full
    assert digests(tmp_path) == before


KILLS = """
import itertools, json, os, signal, sys
from pathlib import Path
from compass.library.output_folder import replacing

def write(out, text, *others):
    with replacing(out) as folder:
        for name in ("curate.json", "card.md", "collect/kept.parquet", "collect/dropped.parquet", *others):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        (folder / "summary.json").write_text(json.dumps({"files": dict.fromkeys(others, text), "text": text}))
    return read(out)

def read(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}

def kill_at(number, out):
    def count(event, _):
        nonlocal number
        if event in ("open", "os.mkdir", "os.remove", "os.rename", "os.rmdir"):
            number -= 1
            if not number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    write(out, "second")

whole = write(Path(sys.argv[1], "whole"), "second")
for number in itertools.count(1):
    out = Path(sys.argv[1], str(number), "out")
    first = write(out, "first", "named otherwise by an earlier version")
    if not (child := os.fork()):
        try:
            kill_at(number, out)
            os._exit(0)
        finally:
            os._exit(1)
    killed = os.waitpid(child, 0)[1]
    assert killed in (0, signal.SIGKILL), number
    assert read(out if out.exists() else out.with_name("out.previous")) in (first, whole), number
    third = write(out, "third")
    assert third.keys() == whole.keys() and set(os.listdir(out.parent)) == {"out"}, number
    if not killed:
        break
print(number)
"""


def test_wherever_a_run_is_killed_a_whole_one_stays_and_the_next_goes_on(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLS, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20


SIGNALLED = """
import os, sys
from compass.cli import main

number, event, path, *words = sys.argv[1:]

def look(name, details):
    if name == event and str(details[name == "os.rename"]).endswith(path):
        os.kill(os.getpid(), int(number))

sys.addaudithook(look)
sys.exit(main(words))
"""
"""A command that sends itself a signal just before it removes a file, or gives one its name."""


def start(source: Path, out: Path, number: int, event: str, path: str) -> subprocess.Popen:
    command = [sys.executable, "-c", SIGNALLED, str(number), event, path, "curate", str(source), "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def test_the_last_run_stays_whole_when_the_next_is_killed(source, tmp_path):
    out = tmp_path / "out"
    assert curate(source, out) == 0
    before = digests(out)
    for event, path, last in (
        ("os.rename", "out.partial/denoise/dropped.parquet", "out"),
        ("os.rename", "out.partial/summary.json", "out"),
        ("os.rename", "/out", "out.previous"),  # the next run gives it its name back
        ("os.remove", "out.previous/curate.json", "out"),
    ):
        killed = start(source, out, signal.SIGKILL, event, path)
        _, error = killed.communicate()
        assert killed.returncode == -signal.SIGKILL, error
        assert digests(tmp_path / last) == before
        check_finished(tmp_path / last)
    assert curate(source, out) == 0
    assert digests(out) == before
    assert sorted(os.listdir(tmp_path)) == ["out", "rows.jsonl"]


def test_of_two_runs_into_one_folder_the_second_is_refused(source, tmp_path, capsys):
    out = tmp_path / "out"
    process = start(source, out, signal.SIGSTOP, "os.rename", "out.partial/collect/kept.parquet")
    assert os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT).si_code == os.CLD_STOPPED
    try:
        assert curate(source, out) == 1
        assert "another run of `compass curate` is writing it" in capsys.readouterr().err
        assert not out.exists()
    finally:
        process.send_signal(signal.SIGCONT)
    process.communicate()
    assert process.returncode == 0
    check_finished(out)
