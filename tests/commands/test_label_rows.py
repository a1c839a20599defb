"""`compass label --rows` on a folder of `compass curate`."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from compass.cli import main

ITEM = "A farmer has 17 sheep and buys 25 more at the market on Monday. How many sheep does the farmer have then?"


@pytest.fixture(scope="module")
def curated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    rows = [{"problem": f"What is {n} plus {n * n + 3} minus {n + 1}?", "answer": str(n * n + 2)} for n in range(5)]
    rows += [
        {"problem": ITEM, "answer": "42"},
        {"problem": "See https://example.org/x.html and say how many dogs there are.", "answer": "3"},
        {"problem": "How many \x1b[31mred\x1b[0m cats are five and six cats?", "answer": "11"},
        {"problem": "What is 4 plus 19 minus 5?", "answer": "18"},
    ]
    (folder / "web.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "bench.jsonl").write_text(json.dumps({"problem": ITEM, "answer": "42"}) + "\n")
    files = [str(folder / "web.jsonl"), "--benchmark", str(folder / "bench.jsonl")]
    assert main(["curate", *files, "--out", str(folder / "out")]) == 0
    return folder / "out"


def label(data: Path, labels: Path, said: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    return main(["label", "--rows", "--data", str(data), "--labels", str(labels), *words])


def test_rows_are_shown_without_their_fate_and_measured(curated: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    assert label(curated, tmp_path, "n\nn\nn\ny\nn\nq\n", monkeypatch) == 0
    shown, measured = capsys.readouterr().out.split(" rows labelled, ")
    assert "a benchmark holds bench:" in shown  # contaminated, encoding, exact_duplicate, kept, link
    assert "the training set also holds web:" in shown
    assert not [word for word in ("\x1b", "dropped", "contaminated", "encoding", "duplicate") if word in shown]
    assert shown.endswith("\n5")
    assert "contaminated              1         1      1  100.0% (20.7% to 100.0%)" in measured
    assert "link (sure)                         1      1  100.0%" in measured
    assert label(curated, tmp_path, "", monkeypatch, "--count", "0", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: one["unfit"] for name, one in found["reasons"].items()} == {
        "contaminated": 1,
        "encoding": 1,
        "exact_duplicate": 1,
        "link": 1,
    }
    assert (found["kept"]["rows"], found["kept"]["labelled"], found["kept"]["error"]) == (5, 1, 0.0)


def test_it_goes_on_where_it_was_left_and_one_reason_can_be_asked_for(curated, tmp_path, monkeypatch, capsys) -> None:
    label(curated, tmp_path, "?\n", monkeypatch, "--reason", "link")
    assert "0 rows labelled, 1 that the person could not judge" in capsys.readouterr().out
    label(curated, tmp_path, "y\n", monkeypatch, "--reason", "link")
    assert "--- 1 of" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--reason", "lnk"],
            "--reason 'lnk': no such reason among these rows; did you mean 'link'? there are answer_conflict, ",
        ),
        (["--source", "shop"], "--source 'shop': no such source among these rows; there are web"),
        (["--model", "rl-1"], "--model is for responses: leave out --rows"),
    ],
)
def test_what_cannot_be_asked_for_is_said(curated, tmp_path, monkeypatch, capsys, words, message) -> None:
    assert label(curated, tmp_path, "", monkeypatch, *words) == 1
    assert message in capsys.readouterr().err
    assert main(["label", "--rows", "--data", "nowhere"]) == 1
    assert "nowhere: holds no collected rows" in capsys.readouterr().err
    assert main(["label", "--reason", "link"]) == 1
    assert "--reason is for rows: add --rows" in capsys.readouterr().err
