"""Whether the models' order holds under other ways to score the same responses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from compass.page.markdown import to_markdown
from compass.report.run import read_run
from compass.report.sensitivity import other_ways, sensitivity_section
from tests.report.conftest import write_evaluation, write_json


def rows(model: str, right: int, **changed: Any) -> list[dict[str, Any]]:
    """Ten problems of one benchmark with one greedy and two sampled responses each; the first `right` problems are answered right, in a box."""
    return [
        {
            "model": model, "benchmark": "easy", "id": f"easy-{number}", "sample": sample % 2, "greedy": sample == 2,
            "response": f"It is \\boxed{{{number if number < right else 77}}}.", "answer": str(number if number < right else 77),
            "answer_lenient": "1", "correct": number < right, "correct_lenient": number < right, "outcome": "different", "method": "text",
            "leniencies": "", "boxed": True, "looped": False, "tokens": 20, "finish_reason": "stop", "setup": model,
        }
        | changed
        for number in range(10)
        for sample in range(3)
    ]  # fmt: skip


def evaluated(folder: Path, *models: list[dict[str, Any]], limit: int = 60) -> Path:
    scores = write_evaluation(folder, [row for own in models for row in own])
    write_json(folder / "scores.json", {"models": scores})
    setups = {own[0]["model"]: {"sampling": {"max_tokens": limit}} for own in models}
    write_json(folder / "setups.json", setups)
    return folder


def shown(folder: Path) -> str:
    return to_markdown("t", [sensitivity_section(read_run(folder))]).replace("\\", "")


def test_each_way_of_scoring_stands_with_every_model(tmp_path: Path) -> None:
    folder = evaluated(tmp_path, rows("base", 4), rows("trained", 7))
    text = shown(folder)
    assert "The order of the models, trained, base, holds in 7 of 7 other ways to score the same responses." in text
    assert "| as on this page | 70.0 | 40.0 |  |" in text
    ways = {
        name: {model: each["easy"] for model, each in found.items()} for name, found in other_ways(read_run(folder))
    }
    assert ways["lenient reading"] == pytest.approx({"base": 0.4, "trained": 0.7})
    assert ways["without problems that resemble trained rows"] == pytest.approx({"base": 3 / 9, "trained": 6 / 9})
    assert ways["half the length limit: responses over 30 tokens count as wrong"] == pytest.approx(
        {"base": 0.4, "trained": 0.7}
    )
    [boxes] = [found for name, found in ways.items() if name.startswith("reader boxed-text")]
    assert boxes == pytest.approx({"base": 0.4, "trained": 0.7})
    assert not any(name.startswith("reader minerva-text") for name in ways), "it finds no answer in these responses"


def test_a_way_that_turns_the_order_is_named(tmp_path: Path) -> None:
    long = rows("trained", 7, tokens=40)
    for row in long:
        row["response"] = row["response"].replace("boxed{1}", "boxed{01}").replace("boxed{2}", "boxed{+2}")
    lenient = rows("base", 5, correct_lenient=True)
    text = shown(evaluated(tmp_path, lenient, long))
    assert "holds in 5 of 7 other ways" in text
    assert "| lenient reading | 70.0 | 100.0 | no |" in text
    assert "| half the length limit: responses over 30 tokens count as wrong | 0.0 | 50.0 | no |" in text
    assert "| 50.0 | 50.0 | yes |" in text, "equal is not turned round"


def test_one_model_has_no_order(tmp_path: Path) -> None:
    assert sensitivity_section(read_run(evaluated(tmp_path, rows("base", 4)))).parts == []


def test_limits_and_golds_that_are_not_known_leave_their_ways_out(tmp_path: Path) -> None:
    folder = evaluated(tmp_path, rows("base", 4), rows("trained", 7))
    write_json(folder / "setups.json", {})
    (folder / "problems.parquet").unlink()
    names = list(dict(other_ways(read_run(folder))))
    assert "lenient reading" in names
    assert not any(name.startswith(("half the length", "reader")) for name in names)
