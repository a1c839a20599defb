import pyarrow as pa
import pytest

from compass.grading.grade import SolveRate, fill_levels, solve_rates
from compass.records import RECORD, table
from compass.settings import Grade


def rollouts(marks: dict[str, str]) -> pa.Table:
    """Problem to one letter a rollout: r(ight), w(rong), l(ong prompt)."""
    rows = [
        {
            "id": name,
            "sample": sample,
            "correct": letter == "r",
            "leniencies": "unit" if letter == "r" and sample == 0 else "",
            "tokens": 10 * (sample + 1),
            "finish_reason": "prompt_too_long" if letter == "l" else "stop",
        }
        for name, letters in marks.items()
        for sample, letter in enumerate(letters)
    ]
    return pa.Table.from_pylist(rows)


def test_solve_rate_is_the_share_of_right_rollouts():
    assert solve_rates(rollouts({"p": "rrww"})) == {"p": SolveRate(4, 0.5, 25.0)}


def test_a_prompt_too_long_to_sample_has_no_solve_rate():
    assert list(solve_rates(rollouts({"p": "rw", "q": "ll"}))) == ["p"]


def test_records_get_rollouts_solve_rate_and_level_and_keep_the_rest():
    records = table([{"id": name, "problem": "?", "answer": "5"} for name in ("a", "b", "c", "d", "e", "f", "g")])
    scored = rollouts({"a": "rrrr", "b": "rrrw", "c": "rrww", "d": "rwww", "e": "wwww", "f": "llll"})
    graded, measured = fill_levels(records, scored, Grade())
    assert graded.schema.equals(RECORD)
    assert graded.column("level").to_pylist() == [1, 2, 3, 4, 5, None, None]
    assert graded.column("solve_rate").to_pylist() == [1.0, 0.75, 0.5, 0.25, 0.0, None, None]
    assert graded.column("n_rollouts").to_pylist() == [4] * 5 + [None] * 2
    assert graded.column("answer").to_pylist() == ["5"] * 7
    assert measured["graded"] == 5
    assert measured["prompt_too_long"] == 1
    assert measured["not_drawn"] == 1
    assert measured["never_solved"] == measured["always_solved"] == 1
    assert measured["solve_rate"] == pytest.approx(0.5)
    assert measured["tokens"] == 25
    assert measured["leaned"] == {"unit": 4 / 10}
    assert measured["levels"]["2"] == {"problems": 1, "solve_rate": 0.75}
    assert list(measured["levels"]) == ["1", "2", "3", "4", "5"]


def test_a_levels_solve_rate_is_its_problems_mean():
    records = table([{"id": name, "problem": "?", "answer": "5"} for name in ("a", "b", "c")])
    settings = Grade(levels="thresholds", thresholds=[0.8, 0.6, 0.4, 0.2])
    _, measured = fill_levels(records, rollouts({"a": "rrrr", "b": "rrwwwwwwww", "c": "rrrwwwwwww"}), settings)
    assert measured["levels"] == {
        "1": {"problems": 1, "solve_rate": 1.0},
        "4": {"problems": 2, "solve_rate": pytest.approx(0.25)},
    }
    assert (measured["never_solved"], measured["always_solved"]) == (0, 1)


def test_nothing_graded_is_measured_as_nothing():
    records = table([{"id": "a", "problem": "?", "answer": "5"}])
    graded, measured = fill_levels(records, rollouts({"a": "ll"}), Grade())
    assert graded.column("level").to_pylist() == [None]
    assert measured == {
        "leaned": {},
        "graded": 0,
        "not_drawn": 0,
        "prompt_too_long": 1,
        "solve_rate": None,
        "never_solved": 0,
        "always_solved": 0,
        "tokens": None,
        "levels": {},
    }
