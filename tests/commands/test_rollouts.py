"""`compass rollouts`: choose responses and read them."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.rl.rollouts import ROLLOUTS

BASE: dict[str, Any] = {
    "prompt": "How much is 3 + 4?",
    "gold": "7",
    "verdict": "equal",
    "method": "text",
    "leaned": "",
    "advantage": 0.5,
    "response_tokens": 9,
    "cut_off": False,
    "loop": False,
    "gap_mean": 1e-6,
    "gap_max": 2e-5,
    "used": True,
}


def row(step: int, id_: str, sample: int, right: bool, level: int = 1, **changed: Any) -> dict[str, Any]:
    answer = "7" if right else "8"
    return {
        **BASE,
        "step": step,
        "id": id_,
        "group": f"g{id_}",
        "sample": sample,
        "level": level,
        "response": f"3 + 4 = {answer}\nso \\boxed{{{answer}}}",
        "answer": answer,
        "right": right,
        "reward": 1.0 if right else -1.0,
        **changed,
    }


ROWS = [
    row(1, "a", 0, True),
    row(1, "a", 1, False, cut_off=True, leaned="units,percent"),
    row(5, "a", 0, True),
    row(5, "b", 0, False, level=4, used=False, advantage=None, gap_mean=None, gap_max=None, verdict=None, method=None),
    row(5, "b", 1, False, level=4, loop=True, response="\x1b[31mred"),
]


def write(path: Path, rows: list[dict[str, Any]] = ROWS) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=ROLLOUTS), path)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path / "data/rl-1/rollouts.parquet")
    (tmp_path / "data/grade").mkdir()
    pq.write_table(pa.table({"id": ["a"]}), tmp_path / "data/grade/rollouts.parquet")  # grading's, of another kind
    return tmp_path / "data"


@pytest.fixture
def rollouts(data: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*words: str, stage: str = "rl-1", status: int = 0) -> str:
        assert main(["rollouts", *([stage] if stage else []), "--data", str(data), *words]) == status
        told = capsys.readouterr()
        return told.err if status else told.out

    return run


def test_a_problem_is_shown_without_the_chat_template_s_words(data: Path, rollouts: Any) -> None:
    row = pq.read_table(data / "rl-1/rollouts.parquet").to_pylist()[0]
    (data / "curriculum").mkdir()
    pq.write_table(pa.table({"id": [row["id"]], "problem": ["What is 3 + 4?"]}), data / "curriculum/kept.parquet")
    assert "What is 3 + 4?" in rollouts("--id", row["id"])
    assert json.loads(rollouts("--id", row["id"], "--json").splitlines()[0])["prompt"] == row["prompt"]


def test_without_a_choice_the_kept_iterations_are_listed(rollouts: Any) -> None:
    head, *rows = [line.split() for line in rollouts().splitlines()]
    assert head[:3] == ["step", "responses", "trained"]
    assert rows == [
        ["1", "2", "100%", "50%", "+0.00", "50%", "0%", "9", "2.0e-05"],
        ["5", "3", "67%", "33%", "-0.33", "0%", "33%", "9", "2.0e-05"],
    ]


def test_a_response_is_shown_with_its_problem_verdict_and_numbers(rollouts: Any) -> None:
    shown = " ".join(rollouts("--step", "1", "--wrong").split())
    assert shown.startswith(
        "iteration 1 · a · level 1 How much is 3 + 4? gold 7 sample 1 · WRONG · answer 8 · equal · text · "
    )
    for fact in (
        "leaning on units,percent",
        "reward -1 ",
        "advantage +0.5 ",
        "9 tokens",
        "cut off",
        "differ by 1.0e-06, at most 2.0e-05",
    ):
        assert fact in shown
    assert shown.endswith("3 + 4 = 8 so \\boxed{8}")


def test_a_response_that_the_update_did_not_use_has_no_advantage(rollouts: Any) -> None:
    shown = rollouts("--level", "4", "--limit", "1")
    assert "level 4 · not used by the update" in shown
    assert "advantage" not in shown
    assert shown.endswith("1 of 2; --limit shows more\n")


def test_a_response_cannot_write_to_the_terminal(rollouts: Any) -> None:
    assert "\x1b" not in rollouts("--id", "b")


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ([], 5),
        (["--step", "5"], 3),
        (["--id", "a"], 3),
        (["--right"], 2),
        (["--wrong", "--level", "4"], 2),
        (["--limit", "2"], 2),
        (["--level", "9"], 0),
    ],
)
def test_rows_are_chosen_and_printed_as_json(rollouts: Any, words: list[str], count: int) -> None:
    rows = [json.loads(line) for line in rollouts("--json", *words).splitlines()]
    assert len(rows) == count
    assert all(set(row) == set(ROLLOUTS.names) for row in rows)


@pytest.mark.parametrize(
    ("words", "stage", "message"),
    [
        (["--step", "3"], "rl-1", "iteration 3 has no rollouts here; kept are 1, 5"),
        (["--level", "9"], "rl-1", "none of 5 rollouts is like that"),
        ([], "rl-9", "no rollouts of 'rl-9' in .*; there are some of: rl-1. A stage that trains has some after"),
        ([], "grade", "no rollouts of 'grade'"),
    ],
)
def test_what_is_not_there_is_told(rollouts: Any, words: list[str], stage: str, message: str) -> None:
    assert re.search(message, rollouts(*words, stage=stage, status=1))


def test_a_running_stage_shows_its_rollouts_so_far(rollouts: Any, data: Path) -> None:
    write(data.parent / "work/rl-2/0123/rollouts/000001.parquet", ROWS[:2])
    write(data.parent / "work/rl-2/0123/rollouts/000005.parquet", ROWS[2:])
    assert len(rollouts("--json", stage="rl-2").splitlines()) == 5


def test_the_samples_of_a_guard_are_shown_from_their_file(rollouts: Any, data: Path) -> None:
    path = data / "rl-1/samples/000005-loops.parquet"
    write(path, [ROWS[4]])
    assert "ends in a loop" in " ".join(rollouts("--file", str(path), stage="").split())


def test_why_shows_a_problems_rollouts_over_training(data: Path) -> None:
    from compass.report.outputs import find_rows
    from compass.report.rollouts import problem_lines

    lines = list(problem_lines(find_rows(data / "rl-1" / "rollouts.parquet", "a")))
    assert [line.partition("  answer")[0] for line in lines] == [
        "iteration 1: RIGHT",
        "iteration 1: WRONG",
        "iteration 5: RIGHT",
    ]
    assert "leaning on units,percent" in lines[1]
    assert lines[1].endswith("): 3 + 4 = 8 so \\boxed{8}")
