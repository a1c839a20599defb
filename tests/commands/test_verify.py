"""`compass verify`: what it prints and returns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from compass.cli import main


def call(*words: str) -> int:
    """Run the command with these arguments."""
    return main(["verify", *words])


def test_a_pair_is_judged_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert call(r"\frac12", "0.5") == 0
    shown = capsys.readouterr().out
    assert "equal: decided by rational" in shown
    assert "fraction" in shown
    assert "decimal" in shown


@pytest.mark.parametrize(("answer", "code"), [("0.5", 0), ("0.6", 1), ("9^{9^{9^9}}", 2)])
def test_the_exit_code_is_the_outcome(answer: str, code: int) -> None:
    assert call(r"\frac12", answer) == code


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([r"-\frac{1}{2}", "-0.5"], 0),
        (["--response", "-3", r"So \boxed{-4}."], 1),
        (["--fiel", "pairs.jsonl"], 3),
        (["1", "2", "--jsno"], 3),
        (["1", "2", "3"], 3),
    ],
)
def test_a_negative_answer_is_no_option_and_a_wrong_option_no_verdict(words: list[str], code: int) -> None:
    assert call(*words) == code


def test_a_response_is_read_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert call("--response", "4", r"2+2 is \boxed{4}") == 0
    assert call("--response", "4", "") == 2
    assert "no final answer" in capsys.readouterr().out


def test_a_response_is_judged_with_its_question(capsys: pytest.CaptureFixture[str]) -> None:
    question = "Which of these is prime? (A) 51 (B) 57 (C) 59"
    assert call("C", "59", "--response") == 1
    assert call("C", "59", "--response", "--question", question) == 0
    assert call("C", "59", "--question", question) == 3
    assert "give --response as well" in capsys.readouterr().err


def test_a_file_is_judged_and_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"gold": "1", "answer": "1.0", "label": True},
        {"gold": "1", "pred": "2", "label": True},
        {"gold": "1", "response": r"\boxed{1}"},
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    assert call("--file", str(path)) == 0
    assert capsys.readouterr().out == "3 pairs: 2 equal, 1 different, 0 unrecognised; 1 of 2 against their label\n"
    (tmp_path / "one.jsonl").write_text(json.dumps(rows[2]) + "\n", encoding="utf-8")
    assert call("--file", str(tmp_path / "one.jsonl")) == 0
    assert capsys.readouterr().out == "1 pair: 1 equal, 0 different, 0 unrecognised\n"
    assert call("--file", str(path), "--json") == 0
    assert [json.loads(line)["outcome"] for line in capsys.readouterr().out.splitlines()] == [
        "equal",
        "different",
        "equal",
    ]


def test_an_attack_prints_the_share_that_each_policy_is_paid(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"problem": f"Simplify $\\sqrt{{{2 * n * n}}}$.", "answer": f"{n}\\sqrt2"} for n in range(3, 9)]
    path = tmp_path / "problems.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert call("--attack", str(path), "--problems", "4") == 0
    shown = capsys.readouterr().out
    assert "4 problems; 0 more left out" in shown
    assert "  last formula                              0.00%  100.00%" in shown
    assert call("--attack", str(path), "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["problems"], found["given_away"]) == (6, 0)
    assert {policy["name"]: policy["lenient"] for policy in found["policies"]}["last formula"] == 1.0


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--attack", None, "no such file"),
        ("--attack", '{"problem": "Is it $x+y$?", "answer": "x+y"}', "gives its answer away"),
        ("--file", None, "file.jsonl: No such file"),
        ("--file", "{", "file.jsonl:1: no JSON object"),
        ("--file", '{"answer": "1"}', "file.jsonl:1: needs a text `gold`"),
        ("--file", '{"gold": "1", "answer": 1}', ":1: needs a text `answer`, `pred` or `response`, found int"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(
    option: str, text: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file.jsonl"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    assert call(option, str(path)) == 3
    assert message in capsys.readouterr().err
    assert call("1") == 3
