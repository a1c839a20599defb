"""Files that cannot be read as they are: `compass curate` names file and row and what to do, and the last run stays whole."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from compass.cli import main
from compass.report.outputs import check_finished, open_outputs
from tests.conftest import digests

ROWS = [
    {"problem": f"What is {n} times {n + 7} less {n % 9}?", "answer": str(n * (n + 7) - n % 9)}
    for n in (17 * n % 40 for n in range(40))
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def spoilt(row: object, place: int = 20) -> str:
    """Good rows with another one among them, as JSON or as it stands."""
    lines = LINES.splitlines(keepends=True)
    text = row if isinstance(row, str) else json.dumps(row)
    return "".join([*lines[:place], text + "\n", *lines[place:]])


REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "truncated gzip": ("bad.jsonl.gz", gzip.compress(LINES.encode())[:-20], "broken or cut off"),
    "random parquet": ("bad.parquet", os.urandom(4_000), "not a whole parquet file"),
    "empty": ("bad.jsonl", "", "holds no rows"),
    "no field for problems": ("bad.jsonl", '{"a": 1, "b": 2}\n' * 40, "bad.jsonl"),
}
"""Name, content and what is said of files that stop a run."""

KEPT: dict[str, tuple[str, str | bytes, int, dict[str, int]]] = {
    "NUL bytes in csv": ("odd.csv", "problem,answer\nWhat is 1\0 + 1?,2\nWhat is 2 + 7 - 3?,6\n", 2, {}),
    "nested nulls": (
        "odd.jsonl",
        spoilt({"problem": [None, {"content": None}], "answer": {"a": None}}),
        41,
        {"undecodable": 1},
    ),
    "NaN": (
        "odd.jsonl",
        spoilt('{"problem": "Which number is 1 more than 8?", "answer": NaN}'),
        41,
        {"missing_answer": 1},
    ),
    "row of 30 MB": (
        "odd.jsonl",
        spoilt({"problem": "Add: " + "1 + " * 7_500_000, "answer": "1"}),
        41,
        {"too_large": 1},
    ),
    "other fields in some rows": (
        "odd.jsonl",
        spoilt({"question": "What is 1 + 1?", "solution": 2}),
        41,
        {"empty_problem": 1},
    ),
}
"""Name, content, rows read and what collect drops of files that are read."""


@pytest.fixture(scope="module")
def last(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the good source and what a run made of it."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "good.jsonl").write_text(LINES.replace("What", "So what"))
    assert main(["curate", str(folder / "good.jsonl"), "--out", str(folder / "out")]) == 0
    return folder


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    return path


def refused(last: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is said of a run that must be refused and leave the last one whole."""
    before = digests(last)
    capsys.readouterr()
    assert main(["curate", str(last / "good.jsonl"), *arguments, "--out", str(last / "out")]) == 1
    assert digests(last) == before
    assert sorted(os.listdir(last)) == ["good.jsonl", "out"]
    check_finished(last / "out")
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said[said.index("compass curate: ") :]


@pytest.mark.parametrize(("name", "content", "said"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_cannot_be_read_stops_the_run_or_is_skipped_with_a_warning(
    last, tmp_path, capsys, name, content, said
):
    path, out = write(tmp_path, name, content), tmp_path / "out"
    message = refused(last, capsys, str(path))
    assert said in message
    assert name in message
    assert main(["curate", str(last / "good.jsonl"), str(path), "--skip-unreadable", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    warned = [line for line in (printed.out + printed.err).splitlines() if "warning" in line and "skipped" in line]
    assert any(said in line and name in line for line in warned)
    assert check_finished(out)["read"] == 40


@pytest.mark.parametrize(("name", "content", "read", "dropped"), KEPT.values(), ids=KEPT)
def test_an_odd_file_is_read_and_each_row_kept_or_dropped(tmp_path, capsys, name, content, read, dropped):
    path, out = write(tmp_path, name, content), tmp_path / "out"
    assert main(["curate", str(path), "--out", str(out)]) == 0
    summary = check_finished(out)
    assert summary["stages"]["collect"]["read"] == read
    assert summary["stages"]["collect"]["dropped"] == dropped
    assert summary["kept"] + summary["dropped"] == read
    for row in open_outputs(out).ledger().to_pylist():
        assert row["reason"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.symlink_to(path.name), "bad.jsonl"),
        (os.mkfifo, "is no file"),
        (lambda path: None, "no such file"),
    ],
    ids=["circle", "fifo", "missing"],
)
def test_what_is_no_file_is_refused(last, tmp_path, capsys, make: Callable[[Path], None], said: str):
    make(tmp_path / "bad.jsonl")
    message = refused(last, capsys, str(tmp_path / "bad.jsonl"))
    assert said in message
    assert "bad" in message


def test_a_file_that_may_not_be_read_is_refused(last, tmp_path, capsys):
    path = write(tmp_path, "bad.jsonl", LINES)
    path.chmod(0)
    if os.access(path, os.R_OK):  # root reads everything, but not what a process's memory has at 0
        path = Path("/proc/self/mem")
        link = tmp_path / "memory.jsonl"
        link.symlink_to(path)
        path = link
    message = refused(last, capsys, str(path))
    assert "cannot be read" in message
    assert path.name in message


def test_one_file_twice_is_refused(last, capsys):
    assert "two sources are called 'good'" in refused(last, capsys, str(last / "good.jsonl"))


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ("dedupe: {}", "dedupe: unknown section"),
        ("- dedup", "bad.yaml"),
        (
            "collect: {sources: [{name: good, path: good.jsonl, problem_field: nothing, answer_field: answer}], benchmarks: []}",
            "nothing",
        ),
    ],
)
def test_a_wrong_parameter_file_is_refused(last, tmp_path, capsys, params, said):
    message = refused(last, capsys, "--params", str(write(tmp_path, "bad.yaml", params)))
    assert said in message


def test_a_benchmark_with_an_unusable_row_is_refused(last, tmp_path, capsys):
    path = write(tmp_path, "bench.jsonl", spoilt({"problem": "What is 1?", "answer": ""}))
    message = refused(last, capsys, "--benchmark", str(path))
    assert "1 benchmark row is unusable: bench, row 20 (" in message
