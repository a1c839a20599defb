"""`compass why`: by id, by text, and where nothing is like it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.evaluation.results import PROBLEMS
from compass.ledger import split
from compass.records import record_id, write_records

Pipeline = tuple[Path, list[str]]


def why(folder: Path, *words: str) -> int:
    return main(["why", *words, "--data", str(folder)])


def test_a_similar_text_says_how_similar_and_what_else_is(
    pipeline: Pipeline, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, ids = pipeline
    assert why(folder, "Tom has 2 books and buys 3 more of them. How many books does Tom have?") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "No row has exactly these words; the most similar one (word trigrams, 0.93):"
    assert told[2].startswith(ids[2])
    assert told[-1].startswith("Also similar: ")
    assert told[-1].count("(web, 0.") == 2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("0" * 16, "compass why: no row has the id '0000000000000000'"),
        *(
            (text, "no collected problem is like that text in ")
            for text in ("quite another thing", "0" * 15, "0" * 17, "G" * 16)
        ),
        ("  ", "nothing to look for"),
        ("web:nowhere", "source 'web' has no row 'nowhere'; its rows are named "),
    ],
)
def test_nothing_found_is_an_error(pipeline: Pipeline, tmp_path: Path, capsys, asked: str, said: str) -> None:
    assert why(pipeline[0], asked) == 1
    assert said in capsys.readouterr().err
    assert why(tmp_path / "none", "0" * 16) == 1
    assert "holds no collected rows" in capsys.readouterr().err


@pytest.fixture(scope="module")
def curated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources with twins in other typesetting, verbatim twins, a conflict, benchmark items and a linked row."""
    folder = tmp_path_factory.mktemp("why")
    rows = {
        "first": [
            ("What is $\\dfrac{3}{7}$ of 4130 if half of it is given away?", "885"),
            ("A baker sells 14 loaves an hour for 9 hours. How many loaves are sold?", "126"),
            ("A baker sells 15 loaves an hour for 9 hours. How many loaves are sold?", "135"),
            ("At https://example.org/plan 16 trains leave\u00a0per hour. How many leave in 3 hours?", "48"),
            (f"Read first. {ITEM} Then say what the digits of the number add up to.", "9"),
        ],
        "second": [
            ("What is  $\\frac{3}{7}$ of $4130$  if half of it is given away?", "885"),
            ("A baker sells 14 loaves an hour for 9 hours. How many loaves are sold?", "126"),
            ("A baker sells 15 loaves an hour for 9 hours. How many loaves are sold?", "136"),
        ],
        "quiz": [("How many minutes are there in a week of 7 days?", "10080"), (ITEM, "153")],
    }
    for name, texts in rows.items():
        lines = [
            {"problem": problem, "answer": answer, "id": f"{name}-q{n}"} for n, (problem, answer) in enumerate(texts)
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    sources, out = [str(folder / f"{name}.jsonl") for name in ("first", "second")], folder / "out"
    assert main(["curate", *sources, "--benchmark", str(folder / "quiz.jsonl"), "--out", str(out)]) == 0
    return out


ITEM = "In a hall there are 9 rows of 17 chairs each and nobody sits on them. How many chairs stand in the hall in all?"
HALVES = "What is  $\\frac{3}{7}$ of $4130$  if half of it is given away?"
FIRST, SECOND = (record_id("first", "first-q0"), record_id("second", "second-q0"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (SECOND[:9], [f"{SECOND}  second:second-q0", "dedup       DROPPED: exact_duplicate"]),
        ("second-q0", [f"{SECOND}  second:second-q0"]),
        ("second:second-q0", [f"{SECOND}  second:second-q0"]),
        (HALVES, [f"{SECOND}  second:second-q0", "Its twin:", f"{FIRST}  first:first-q0", "twin gold        885"]),
        (FIRST, ["dedup       kept: stands for 2 rows", f"   {SECOND}  second:second-q0  exact_duplicate"]),
        (
            "what is 3/7 of 4130 if half of it is given away",
            ["No row has exactly these words; the most similar one"],
        ),
        ("WHAT IS $\\tfrac37$ of 4,130, if half of it is given away?", ["2 matches: that text in other typesetting"]),
        ("16 trains leave per", ["first:first-q3", "in the problem   ⟪At https://example.org/plan 16"]),
        (
            "A baker sells 14 loaves an hour for 9 hours. How many loaves are sold?",
            [
                "2 matches: exactly that text",
                f"  {record_id('first', 'first-q1')}  first:first-q1  kept by verify  A baker sells 14",
                f"  {record_id('second', 'second-q1')}  second:second-q1  dropped by dedup: exact_duplicate  A baker",
                f"Give one of them, for example: compass why {record_id('first', 'first-q1')} --data ",
            ],
        ),
        ("loaves an hour", ["4 matches: problems that hold this piece of text"]),
        ("second-q2", ["answer_conflict", "gold             136", "twin gold        135"]),
        (
            "first-q4",
            [
                "contaminated",
                f"this problem     Read first. ⟪{ITEM}⟫ Then say",
                f"item             quiz:quiz-q1: ⟪{ITEM}⟫",
                "item gold        153",
            ],
        ),
        ("quiz-q0", ["quiz:quiz-q0, a benchmark's item", "dropped rows that hold it or a share of it: 0"]),
        ("quiz:quiz-q1", ["dropped rows that hold it or a share of it: 1", "first:first-q4  dropped by denoise"]),
        (ITEM, ["quiz:quiz-q1, a benchmark's item"]),
        ("a  baker SELLS 15 loaves an hour for 9 hours how many loaves are sold", ["2 matches"]),
    ],
)
def test_a_row_is_found_by_whatever_names_it(
    curated: Path, capsys: pytest.CaptureFixture[str], query: str, expected: list[str]
) -> None:
    assert why(curated, query) == 0
    told = capsys.readouterr().out
    for part in expected:
        assert part in told


def test_what_why_prints_of_a_row_names_it_again(curated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    why(curated, SECOND)
    printed = capsys.readouterr().out
    shown = next(line for line in printed.splitlines() if line.startswith("  problem"))
    for name in (printed.split()[1], printed.split()[0], shown.removeprefix("  problem   ")):
        assert why(curated, name) == 0
        assert capsys.readouterr().out == printed


def test_twenty_of_many_matches_are_listed(tmp_path: Path, records, capsys: pytest.CaptureFixture[str]) -> None:
    kept, dropped = split(records(*[(f"{n} loaves?", "1", f"s{n}") for n in range(30)]), [None] * 30, "collect")
    write_records(tmp_path / "collect" / "kept.parquet", kept)
    write_records(tmp_path / "collect" / "dropped.parquet", dropped)
    assert why(tmp_path, "loaves") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "30 matches: problems that hold this piece of text"
    assert told[21] == "  and 10 more; give more of the text"


@pytest.fixture
def evaluated(pipeline: Pipeline) -> tuple[Path, str, str]:
    """A pipeline whose benchmark item resembles a trained row: its data, the item's id and the row's."""
    folder, ids = pipeline
    (item, other) = pq.read_table(folder / "collect" / "benchmarks.parquet", columns=["id"])["id"].to_pylist()
    rows = [
        {"model": model, "benchmark": "bench", "id": id_, "greedy": greedy, "correct": right, "correct_lenient": right or lenient,
         "answer_lenient": "7", "outcome": "equal" if right else "different", "finish_reason": "stop"}
        for model, marks in (("base", "0010l"), ("rl-3", "1110g"))
        for id_ in (item, other)
        for mark in marks
        for right, lenient, greedy in [(mark in "1g", mark == "l", mark == "g")]
    ]  # fmt: skip
    problems = [
        {"benchmark": "bench", "id": item, "problem": "What is 1?", "answer": "1", "similar": [ids[2]]},
        {"benchmark": "bench", "id": other, "problem": "2?", "answer": "2", "similar": []},
    ]
    (folder / "evaluate").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), folder / "evaluate" / "samples.parquet")
    pq.write_table(pa.Table.from_pylist(problems, schema=PROBLEMS), folder / "evaluate" / "problems.parquet")
    return folder, item, ids[2]


def test_an_item_shows_its_scores_and_when_rows_like_it_were_trained_on(
    evaluated: tuple[Path, str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, item, row = evaluated
    assert why(folder, "bench:0") == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0] == f"{item}  bench:0, a benchmark's item"
    assert "base        1 of 5 samples right, 2 leniently" in told
    assert "rl-3        3 of 4 samples right; greedy right" in told
    place = told.index("trained rows that resemble it: 1")
    assert told[place + 1].startswith(f"  {row}  web:2  Tom has 2 books")
    assert told[place + 2 : place + 4] == [
        "    rl-1: trained on in iteration 2",
        "    rl-3: trained on in iteration 2",
    ]  # iteration 5 was left out of the update
    assert told[-1] == "dropped rows that hold it or a share of it: 0"
    assert why(folder, "bench:1") == 0
    assert "trained rows that resemble it: 0" in capsys.readouterr().out
    assert why(folder, row) == 0
    assert f"evaluate    resembles bench {item} (base 1/5, rl-3 3/4): What is 1?" in capsys.readouterr().out
    assert why(folder, "bench:0", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["items"]
    assert found["scores"]["rl-3"] == {
        "samples": 4,
        "right": 3,
        "right_lenient": 3,
        "cut_off": 0,
        "unread": 0,
        "greedy": True,
    }
    assert [one["trained"] for one in found["similar"]] == [{"rl-1": [2], "rl-3": [2]}]


def test_an_item_that_nothing_was_evaluated_on_says_so(pipeline: Pipeline, capsys: pytest.CaptureFixture[str]) -> None:
    assert why(pipeline[0], "bench:0") == 0
    told = capsys.readouterr().out
    assert "no model was evaluated on it here" in told
    assert "which trained rows resemble it is not known: the evaluate stage says it" in told
