from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import compass
from compass.evaluation.label_files import LabelsError, row_key
from compass.report.history import history
from compass.report.outputs import open_outputs
from compass.settings import SettingsError, load_settings
from compass.settings.curation import Curation
from stages._deps import write_deps
from stages._rl_entries import MARKED, check_names

ROOT = Path(__file__).parents[2]

ROWS = [
    ("What is the area of the shaded region in the figure below, in square metres?", "12"),
    ("What is the sum of the first ten odd positive integers?", "100"),
    ("How many positive divisors does the number 360 have in all?", "24"),
]


@pytest.fixture
def files(tmp_path):
    source = tmp_path / "mine.jsonl"
    source.write_text("".join(json.dumps({"problem": one, "answer": gold}) + "\n" for one, gold in ROWS))
    return source, tmp_path / "labels.jsonl"


def mark(path, row, right, **more):
    id_, digest = row_key(row)
    with path.open("a") as file:
        file.write(json.dumps({"id": id_, "digest": digest, "right": right, "by": "page", **more}) + "\n")


def by_problem(table):
    return {row["problem"]: row for row in table.to_pylist()}


def test_marks_overrule_a_drop_and_a_keep_and_why_says_so(files, tmp_path):
    source, labels = files
    before = compass.curate(source)
    figure = by_problem(before.dropped)[ROWS[0][0]]
    mark(labels, figure, True, note="the area is all\u2028that is asked")
    labels.write_text(labels.read_text().replace("\\u2028", "\u2028"))
    mark(labels, by_problem(before.kept)[ROWS[1][0]], False, note="too easy")

    after = compass.curate(source, labels=labels, out=tmp_path / "out")

    assert set(by_problem(after.kept)) == {ROWS[0][0], ROWS[2][0]}
    gone = by_problem(after.dropped)[ROWS[1][0]]
    assert (gone["stage"], gone["reason"]) == ("collect", "marked_unfit")
    assert json.loads(gone["evidence"])["note"] == "too easy"
    told = "\n".join(history(open_outputs(tmp_path / "out"), figure["id"]))
    assert "kept by a mark; would be dropped: figure" in told
    assert "the area is all" in told


def test_a_mark_of_no_row_is_said(files, tmp_path, capsys):
    source, labels = files
    row = by_problem(compass.curate(source).kept)[ROWS[1][0]]
    mark(labels, row, False)
    mark(labels, {**row, "answer": "99"}, False)
    mark(labels, {**row, "id": "feedfeedfeedfeed"}, False)
    capsys.readouterr()
    assert ROWS[1][0] not in by_problem(compass.curate(source, labels=labels).kept)
    said = capsys.readouterr().out
    assert "2 of 3 marks name no row" in said
    assert "feedfeedfeedfeed" in said


def test_dvc_follows_the_marks_and_sees_them_taken_back(tmp_path):
    shipped = load_settings(ROOT / "params.yaml")
    ours = shipped.model_copy(update={"curation": Curation(labels="marks/labels.jsonl")})
    before = (ROOT / "dvc.yaml").read_text()
    with pytest.raises(SettingsError, match=r"collect depends on marks/labels\.jsonl, .*; run `make deps`"):
        check_names(ours, ROOT / "dvc.yaml")
    by_hand = before.replace("      - data/collect\n", "      - data/collect\n      - mine/listed.jsonl\n", 1)
    written = write_deps(by_hand, ROOT, ours)
    graph = yaml.safe_load(written)["stages"]
    assert [name for name in graph if "${curation.labels}" in graph[name]["deps"]] == list(MARKED)
    assert [name for name in graph if "curation" in graph[name]["params"]] == list(MARKED)
    assert [name for name in graph if graph[name]["cmd"].endswith("# with curation")] == list(MARKED)
    (tmp_path / "dvc.yaml").write_text(written)
    check_names(ours, tmp_path / "dvc.yaml")
    with pytest.raises(SettingsError, match=r"says that collect depends on .*`curation\.labels` .*; run `make deps`"):
        check_names(shipped, tmp_path / "dvc.yaml")
    warns = shipped.model_copy(update={"curation": Curation(warn_share=0.5)})
    with pytest.raises(SettingsError, match=r"collect does not read `curation`, and params\.yaml sets it"):
        check_names(warns, ROOT / "dvc.yaml")
    assert write_deps(written, ROOT, shipped) == by_hand  # no longer named; what a user listed stays


@pytest.mark.parametrize("text", [None, '{"id": "1"}\n'])
def test_labels_that_cannot_be_read_stop_the_run(files, text):
    source, labels = files
    if text:
        labels.write_text(text)
    with pytest.raises(LabelsError):
        compass.curate(source, labels=labels)


def test_a_mark_that_cannot_keep_its_row_is_said(files, capsys):
    source, labels = files
    with source.open("a") as file:
        file.write(
            json.dumps({"problem": "How many primes are there below one hundred, in all?", "answer": "n/a"}) + "\n"
        )
    row = next(row for row in compass.curate(source).dropped.to_pylist() if row["stage"] == "collect")
    mark(labels, row, True)
    capsys.readouterr()
    assert row["problem"] not in by_problem(compass.curate(source, labels=labels).kept)
    said = capsys.readouterr().out
    assert f"collect: warning: {labels}: 1 of 1 marks cannot keep their row, which collect drops" in said
    assert f"({row['id']} (mine:3: placeholder_gold))" in said
