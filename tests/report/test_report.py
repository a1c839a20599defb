"""The page and the table show what the stages measured, and nothing that hostile data wants them to."""

import json
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.ledger import Drop, Reason, split
from compass.records import RecordError, write_records
from compass.report.page import render
from compass.report.results import read_results
from compass.report.table import main

HOSTILE = "<script>alert('x')</script>"


def score(accuracy: float) -> dict:
    return {
        "accuracy": accuracy,
        "ci95": [accuracy - 0.05, accuracy + 0.05],
        "problems": 60,
        "samples": 8,
        "greedy": accuracy,
        "pass@8": 0.9,
    }


@pytest.fixture
def folder(tmp_path: Path, records) -> Path:
    """A repository whose stages have run, with hostile names and text."""
    rows = records(*[("What?", str(number), "web") for number in range(100)])
    fates = {"collect": {Reason.MISSING_ANSWER: 10}, "dedup": {Reason.NEAR_DUPLICATE: 15, Reason.EXACT_DUPLICATE: 5}}
    for stage, reasons in fates.items():
        drops = [Drop(reason) for reason, count in reasons.items() for _ in range(count)]
        rows, dropped = split(rows, [*drops, *[None] * (rows.num_rows - len(drops))], stage)
        write_records(tmp_path / "data" / stage / "kept.parquet", rows)
        write_records(tmp_path / "data" / stage / "dropped.parquet", dropped)
    (tmp_path / "metrics").mkdir()
    summaries = {
        "collect": {"read": 100, "kept": 90, "dropped": {"missing_answer": 10}, "metrics": {"note": HOSTILE}},
        "dedup": {"read": 90, "kept": 70, "dropped": {"near_duplicate": 15, "exact_duplicate": 5}, "metrics": {}},
        "base": {"read": None, "kept": None, "dropped": None, "metrics": {"loss": 1.5}},
        "evaluate": {
            "models": {
                "base": {HOSTILE: score(0.2), "average": score(0.25)},
                "rl-1": {HOSTILE: score(0.4), "average": score(0.45)},
            }
        },
    }
    for stage, summary in summaries.items():
        (tmp_path / "metrics" / f"{stage}.json").write_text(json.dumps(summary))
    (tmp_path / "data/rl-1").mkdir(parents=True)
    rewards = {
        "step": [1, 1, 2, 2],
        "id": list("abab"),
        "reward": [-1.0, 1.0, 1.0, 1.0],
        "response_tokens": [10, 20, 20, 40],
    }
    pq.write_table(pa.table(rewards), tmp_path / "data/rl-1/rewards.parquet")
    return tmp_path


def test_results_are_read_from_the_stages_files(folder: Path) -> None:
    results = read_results(folder)
    assert [(row.stage, row.read, row.kept) for row in results.counts] == [("collect", 100, 90), ("dedup", 90, 70)]
    assert results.counts[1].dropped == {"near_duplicate": 15, "exact_duplicate": 5}
    assert results.scores["rl-1"]["average"]["accuracy"] == 0.45
    assert results.curves["rl-1"] == {
        "step": [1.0, 2.0],
        "reward": [0.0, 1.0],
        "accuracy": [0.5, 1.0],
        "response_tokens": [15.0, 30.0],
    }
    assert results.planted is None


def test_the_page_is_whole_and_harmless(folder: Path) -> None:
    page = render(read_results(folder), title=HOSTILE, facts={"seed": "0"}, links={"MLflow": f"javascript:{HOSTILE}"})
    assert "<script" not in page
    assert "javascript:" not in page.split("href=", 1)[-1] or "href=" not in page
    assert page.count("<svg") == 3
    assert "near_duplicate 15" in page
    assert "45.0" in page
    assert "src=" not in page
    parser = HTMLParser()
    parser.feed(page)


def test_the_page_links_to_files_beside_it(folder: Path) -> None:
    page = render(read_results(folder), title="t", facts={}, links={"data card": "data_card/card.html"})
    assert "<a href='data_card/card.html'>data card</a>" in page


def test_every_way_of_counting_samples_is_shown(folder: Path) -> None:
    evaluated = json.loads((folder / "metrics/evaluate.json").read_text())
    for scored in evaluated["models"].values():
        for found in scored.values():
            found |= {"samples": 4, "pass@2": 0.1, "pass@4": 0.123}
    (folder / "metrics/evaluate.json").write_text(json.dumps(evaluated))
    page = render(read_results(folder), title="t", facts={}, links={})
    assert "<th>pass@4 %</th>" in page
    assert "12.3" in page
    assert "pass@2" not in page


def test_the_page_is_the_same_for_the_same_results(folder: Path) -> None:
    pages = {render(read_results(folder), title="t", facts={}, links={}) for _ in range(2)}
    assert len(pages) == 1


def test_a_run_without_results_still_has_a_page(tmp_path: Path) -> None:
    assert "<h1>t</h1>" in render(read_results(tmp_path), title="t", facts={}, links={})


def test_the_table_shows_rows_and_scores(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "160")
    main()
    text = capsys.readouterr().out
    assert "near_duplicate 15, exact_duplicate 5" in text
    assert "20.0\N{NO-BREAK SPACE}to\N{NO-BREAK SPACE}30.0" in text


def test_the_table_says_when_nothing_has_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="make pipeline"):
        main()


def test_a_broken_file_is_named(folder: Path) -> None:
    (folder / "metrics/dedup.json").write_text("{")
    with pytest.raises(RecordError, match=r"dedup\.json: not JSON"):
        read_results(folder)
