from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.files import file_digest
from compass.ledger import LEDGER
from compass.records import RecordError, record_id
from compass.report.printable import printable
from compass.report.rows import check_finished, open_outputs

ITEM = "A farmer has 17 sheep and buys 25 more at the market on Monday. How many sheep does the farmer have then?"
WORDY = (
    "the second one has more of them because it can be split into equal parts in many more ways than the first one can"
)
BOOKS = "Tom has 8 books. Then Tom buys 3 more of them in the shop. How many books does Tom have now?"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two sources and a benchmark, with one row of each fate."""
    folder = tmp_path_factory.mktemp("raw")
    first = [{"problem": f"What is {n} plus {n * n + 3} minus {n + 1}?", "answer": str(n * n + 2)} for n in range(40)]
    first += [
        {"problem": BOOKS, "answer": "11"},
        {"problem": ITEM, "answer": "42"},
        {"problem": "See https://example.org/x.html and say how many dogs there are.", "answer": "3"},
        {"problem": "How many hats has Ann if she has 5 of them and 2 more?", "answer": ""},
        {"problem": "Which of the two numbers 18 and 24 has more divisors than the other?", "answer": WORDY},
        {"problem": "How many <b>cats</b> | \x1b[31mred\x1b[0m are 5 and 6 cats?", "answer": "11"},
    ]
    second = [{"question": f"{BOOKS} Explain.", "final_answer": "11"}, {"question": BOOKS, "final_answer": "12"}]
    for name, rows in (("first", first), ("second", second), ("bench", [{"problem": ITEM, "answer": "42"}])):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def command(files: Path, out: Path) -> list[str]:
    sources = [str(files / "first.jsonl"), str(files / "second.jsonl")]
    return ["curate", *sources, "--benchmark", str(files / "bench.jsonl"), "--out", str(out)]


def digests(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): file_digest(path) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def curated(files, tmp_path_factory):
    out = tmp_path_factory.mktemp("out")
    assert main(command(files, out)) == 0
    return out


def test_every_row_is_kept_or_dropped_with_reason(curated):
    summary = check_finished(curated)
    outputs = open_outputs(curated)
    kept, dropped = pq.read_table(curated / "verify" / "kept.parquet"), outputs.ledger()
    assert (summary["read"], summary["kept"], summary["dropped"]) == (48, kept.num_rows, dropped.num_rows)
    assert kept.num_rows + dropped.num_rows == 48
    assert dropped.schema.equals(LEDGER)
    reasons = dict(zip(dropped["id"].to_pylist(), dropped["reason"].to_pylist(), strict=True))
    assert reasons[record_id("first", "41")] == "contaminated"
    assert reasons[record_id("first", "42")] == "link"
    assert reasons[record_id("first", "43")] == "missing_answer"
    assert reasons[record_id("second", "0")] == "near_duplicate"
    assert reasons[record_id("second", "1")] == "answer_conflict"
    assert summary["sources"]["second"]["kept"] == 0
    assert summary["sources"]["second"]["dropped"] == {"answer_conflict": 1, "near_duplicate": 1}


def test_two_runs_give_the_same_bytes(files, curated, tmp_path):
    main(command(files, tmp_path))
    assert digests(tmp_path) == digests(curated)


def test_selection_is_a_stable_sample(files, curated, tmp_path):
    for count in (10, 20):
        main([*command(files, tmp_path / str(count)), "--problems", str(count)])
    ten, twenty = (
        set(pq.read_table(tmp_path / count / "select" / "kept.parquet")["id"].to_pylist()) for count in ("10", "20")
    )
    assert len(ten) == 10
    assert len(twenty) == 20
    assert ten < twenty < set(pq.read_table(curated / "verify" / "kept.parquet")["id"].to_pylist())
    assert check_finished(tmp_path / "10")["stages"]["select"]["dropped"].keys() == {"not_selected"}


def test_an_unfinished_folder_is_not_read(curated, tmp_path, capsys):
    shutil.copytree(curated, tmp_path, dirs_exist_ok=True)
    (tmp_path / "dedup" / "dropped.parquet").write_bytes(b"PAR1")
    with pytest.raises(RecordError, match=r"dedup/dropped\.parquet: not the file"):
        check_finished(tmp_path)
    (tmp_path / "summary.json").unlink()
    assert main(["ledger", "--data", str(tmp_path)]) == 1
    assert "start it again" in capsys.readouterr().err


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_that_counts_and_the_next_ends_right(files, curated, tmp_path):
    begin = time.monotonic()
    subprocess.run([sys.executable, "-m", "compass.cli", *command(files, tmp_path)], check=True, capture_output=True)
    whole = time.monotonic() - begin
    for part in (0.3, 0.6, 0.8, 0.9, 0.95, 0.98):
        process = subprocess.Popen(
            [sys.executable, "-m", "compass.cli", *command(files, tmp_path)], stdout=subprocess.DEVNULL
        )
        time.sleep(whole * part)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if (tmp_path / "summary.json").exists():
            check_finished(tmp_path)  # whole, or an error here
    subprocess.run([sys.executable, "-m", "compass.cli", *command(files, tmp_path)], check=True, capture_output=True)
    assert digests(tmp_path) == digests(curated)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (record_id("first", "0"), ["verify      kept"]),
        (record_id("first", "40"), ["stands for 3 rows", "verify      kept"]),
        (record_id("second", "0"), ["dedup       DROPPED: near_duplicate", record_id("first", "40"), "Its twin:"]),
        (record_id("second", "1"), ["answer_conflict", "twin_answer      11"]),
        (record_id("first", "41"), ["denoise     DROPPED: contaminated", "bench"]),
        (record_id("first", "42"), ["denoise     DROPPED: link", "https://example.org/x.html"]),
        (record_id("first", "43"), ["collect     DROPPED: missing_answer"]),
        (record_id("first", "44"), ["verify      DROPPED: unreadable_gold"]),
        (ITEM.upper(), ["contaminated"]),
        (
            "Tom has 8 books. Tom buys 3 more of them in a shop. How many books does Tom have now?",
            ["most similar", "Tom has"],
        ),
    ],
)
def test_why_tells_the_story(curated, capsys, query, expected):
    assert main(["why", query, "--data", str(curated)]) == 0
    told = capsys.readouterr().out
    for part in expected:
        assert part in told


def test_why_says_when_it_knows_nothing(curated, tmp_path, capsys):
    assert main(["why", "0" * 16, "--data", str(curated)]) == 1
    assert main(["why", "quite another thing", "--data", str(curated)]) == 1
    assert main(["why", "0" * 16, "--data", str(tmp_path)]) == 1
    assert "holds no collected rows" in capsys.readouterr().err


def test_terminal_escapes_are_not_printed(curated, capsys):
    main(["why", record_id("first", "45"), "--data", str(curated)])
    assert "\x1b" not in capsys.readouterr().out
    assert printable("a\x1b[31m\nb\u202e") == "a [31m b"


def test_ledger_counts_filters_and_samples(curated, tmp_path, capsys):
    main(["ledger", "--data", str(curated)])
    assert "contaminated" in capsys.readouterr().out
    main(["ledger", "--data", str(curated), "--stage", "dedup", "--sample", "1"])
    one = capsys.readouterr().out
    main(["ledger", "--data", str(curated), "--stage", "dedup", "--sample", "1"])
    assert capsys.readouterr().out == one
    main(["ledger", "--data", str(curated), "--reason", "link", "--out", str(tmp_path / "rows.jsonl")])
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["reason"] for row in rows] == ["link"]
    assert isinstance(rows[0]["evidence"], dict)


def test_the_card_shows_counts_and_escapes_text(curated):
    page, text = (curated / "card.html").read_text(), (curated / "card.md").read_text()
    assert "near_duplicate" in page
    assert "near_duplicate" in text
    assert "<svg" in page
    assert "<script" not in page
    assert "card-composition.svg" in text


def test_bad_input_is_said_and_leaves_no_summary(files, curated, tmp_path, capsys):
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"problem": "What is 1 + 1?", "answer": "2"}\n{"problem": \n')
    assert main(["curate", str(broken), "--out", str(tmp_path / "out")]) == 1
    assert "broken.jsonl" in capsys.readouterr().err
    assert not (tmp_path / "out" / "summary.json").exists()
