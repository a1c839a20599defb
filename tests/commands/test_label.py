"""`compass label`: what it shows, asks, keeps and measures."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.evaluation.label_files import read_labels
from compass.evaluation.labels import error_of_run


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """Four responses to two problems: two right, one wrong, one whose answer the strict mode does not take."""
    folder = tmp_path / "data" / "evaluate"
    folder.mkdir(parents=True)
    marks = {
        r"\boxed{5}": (True, True, "equal", "5"),
        "escape \x1b[31m 5": (False, True, "none", "5"),
        r"\boxed{6}": (False, False, "different", "6"),
    }
    names = ("correct", "correct_lenient", "outcome", "answer_lenient")
    rows = [
        {
            "model": model,
            "benchmark": "sums",
            "id": name,
            "response": text,
            "leniencies": "",
            **dict(zip(names, marks[text], strict=True)),
        }
        for model, name, text in [
            ("base", "p", r"\boxed{5}"),
            ("base", "p", "escape \x1b[31m 5"),
            ("rl-1", "q", r"\boxed{6}"),
            ("rl-1", "q", r"\boxed{5}"),
        ]
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "samples.parquet")
    problems = [
        {
            "benchmark": "sums",
            "id": name,
            "problem": f"What is {name}?",
            "answer": "5",
            "alternatives": others,
            "tolerance": None,
        }
        for name, others in (("p", ["five"]), ("q", None))
    ]
    pq.write_table(pa.Table.from_pylist(problems), folder / "problems.parquet")
    return tmp_path


def label(folder: Path, said: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(said))
    return main(["label", "--data", str(folder / "data"), "--labels", str(folder / "labels"), *words])


def test_judgements_are_kept_and_measured(run_folder: Path, monkeypatch, capsys) -> None:
    assert label(run_folder, "y\nn\ny\ny\n", monkeypatch) == 0
    shown = capsys.readouterr().out
    assert shown.index("escape") < shown.index(r"\boxed{6}")  # disputed ones first
    assert "gold: 5 or five" in shown
    assert not [word for word in ("\x1b", "wrong", "equal") if word in shown.split("responses,")[0]]  # no verdict
    assert "4 labelled" in shown
    assert "the verifier's error: 25.00% of responses" in shown
    assert "called wrong and right 25.00%" in shown
    labels = read_labels(run_folder / "labels" / "labels.jsonl")
    assert sorted(labels.values()) == [False, True, True, True]
    found = error_of_run(run_folder / "data", run_folder / "labels")
    assert found is not None
    assert found["error"] == 0.25


def test_it_goes_on_where_it_was_left(run_folder: Path, monkeypatch, capsys) -> None:
    label(run_folder, "s\nwhat\n?\nq\n", monkeypatch)
    shown = capsys.readouterr().out
    assert "1 that the person could not judge" in shown
    assert re.findall("--- (.*), sums", shown) == ["1 of 4", "1 of 3", "2 of 3"]  # one was skipped
    label(run_folder, "y\n", monkeypatch)  # the input ends: the same as q
    label(run_folder, "y\ny\ny\n", monkeypatch)
    labels = read_labels(run_folder / "labels" / "labels.jsonl")
    assert len(labels) == 4
    capsys.readouterr()
    label(run_folder, "", monkeypatch)
    assert "3 labelled, 1 that the person could not judge" in capsys.readouterr().out


def test_a_second_verifier_is_asked_once_and_its_differences_come_first(run_folder: Path, monkeypatch, capsys) -> None:
    (run_folder / "grader.py").write_text("def ends(gold, response):\n    return response.endswith('{6}')\n")
    monkeypatch.syspath_prepend(str(run_folder))
    assert label(run_folder, "", monkeypatch, "--second", "grader:ends", "--json", "--count", "0") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["strata"]["second"]["responses"] == 3
    assert found["error"] is None
    monkeypatch.setattr("grader.ends", None)  # kept verdicts are not asked for again
    label(run_folder, "q\n", monkeypatch)
    assert "3 a second verifier disagrees" in capsys.readouterr().out
    assert label(run_folder, "q\n", monkeypatch, "--second", "operator:eq") == 1
    assert "holds verdicts of grader:ends" in capsys.readouterr().err


def test_models_are_chosen(run_folder: Path, monkeypatch, capsys) -> None:
    assert label(run_folder, "", monkeypatch, "--model", "rl-1", "--count", "0", "--json") == 0
    assert json.loads(capsys.readouterr().out)["responses"] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        *(
            ([f"--second={name}"], f"--second {name}")
            for name in ("no_such_module:f", "json:nothing", "json", "json:decoder")
        ),
        (["--benchmark=aime"], "--benchmark aime: the samples have sums"),
        (["--count=-1"], "--count -1: must be 0 or more"),
        (["without responses"], "holds no responses; run the evaluate stage again"),
        (["without samples"], "run the evaluate stage"),
    ],
)
def test_what_cannot_be_labelled_is_said(run_folder: Path, monkeypatch, capsys, words: list[str], message: str) -> None:
    path = run_folder / "data" / "evaluate" / "samples.parquet"
    if words == ["without responses"]:
        pq.write_table(pq.read_table(path).drop_columns("response"), path)
    if words == ["without samples"]:
        path.unlink()
    assert label(run_folder, "", monkeypatch, *(word for word in words if word.startswith("--"))) == 1
    assert message in capsys.readouterr().err
