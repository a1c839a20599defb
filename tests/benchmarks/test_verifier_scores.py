"""What the scoreboard computes of judged pairs, and how it reads a set."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
import verifier
from verifier_page import write
from verifier_scores import scores


def judged(label: bool, equal: bool, seconds: float = 0.001) -> dict[str, object]:
    return {"label": label, "equal": equal, "seconds": seconds}


def test_scores_by_hand() -> None:
    rows = (
        [judged(True, True)] * 3 + [judged(True, False)] + [judged(False, False)] * 3 + [judged(False, True, 0.002)] * 2
    )
    found = scores(rows)
    assert (found["false_positives"], found["false_negatives"]) == (2, 1)
    assert found["balanced"] == round((3 / 4 + 3 / 5) / 2, 4)
    assert found["precision"] == 0.6
    assert found["recall"] == 0.75
    assert found["accuracy"] == round(6 / 9, 4)
    assert found["pairs_per_second"] == round(9 / 0.011, 1)
    assert found["max_ms"] == 2.0


def test_scores_where_a_label_is_missing() -> None:
    assert scores([judged(True, True), judged(True, False)])["balanced"] == 0.5
    assert scores([judged(False, False)])["precision"] == 1.0


def test_a_set_is_read_in_each_of_its_forms(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    rows = [
        {"gold": "1", "pred": "2", "label": False, "source": "mix::wrong"},
        {"gold": "1", "answer": "1", "equal": True, "group": "integers"},
        {"gold": "1", "response": "So 1.", "label": True, "source": "own::a"},
        {"gold": "1", "pred": "So 1.", "label": True, "source": "own::a", "needs_extraction": True},
        {"gold": "1", "pred": "1", "label": True, "disputed": True},
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    found = verifier.read_set(path)
    assert [(row["id"], row["answer"], row["whole"], row["label"], row["group"]) for row in found] == [
        (1, "2", False, False, "wrong"),
        (2, "1", False, True, "integers"),
        (3, "So 1.", True, True, "own"),
        (4, "So 1.", True, True, "own"),
    ]
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="no labelled pair"):
        verifier.read_set(path)


def test_a_grader_is_run_and_its_page_written(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "gold": "1/2", "answer": "0.5", "whole": False, "label": True, "group": "fractions"},
        {"id": 2, "gold": "1/2", "answer": "It is $\\boxed{0.6}$", "whole": True, "label": False, "group": "fractions"},
        {"id": 3, "gold": "1", "answer": "2", "whole": False, "label": True, "group": "mislabelled"},
    ]
    grader = verifier.Grader("compass", sys.executable, 60.0)
    assert grader.start()
    found = verifier.middle([verifier.measure(grader, rows)])
    grader.stop()
    assert found["wrong"] == [3]
    assert found["groups"]["fractions"]["accuracy"] == 1.0
    write({"mix": {"digest": verifier.digest(rows), "results": [found]}}, tmp_path / "page.md")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| `mix` | fractions | 2 | 1 | 1 | 1 |" in page
    assert (tmp_path / "images/scoreboard.svg").exists()
