"""Solve rates, levels, and the grades of problems."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from pydantic import ValidationError

from compass.grading.grade import Tally, _asked_for, choose_problems, fill_levels, sample_rollouts
from compass.grading.levels import SolveRate, assign_levels, level_probability, quantile_levels, threshold_level
from compass.records import RECORD, RecordError, table
from compass.sampling.response import Response
from compass.settings import Grade


def rates(*found: float, tokens: float = 10) -> dict[str, SolveRate]:
    return {f"p{number:03d}": SolveRate(8, rate, tokens) for number, rate in enumerate(found)}


def test_quantiles_put_the_highest_solve_rates_in_level_1():
    found = quantile_levels(rates(0.9, 0.1, 0.5, 0.7, 0.3))
    assert found == {"p000": 1, "p003": 2, "p002": 3, "p004": 4, "p001": 5}


@pytest.mark.parametrize("count", [5, 7, 99, 100])
def test_quantiles_have_sizes_that_differ_by_one_at_most(count):
    sizes = Counter(quantile_levels(rates(*[0.0] * count)).values())
    assert sorted(sizes) == [1, 2, 3, 4, 5]
    assert max(sizes.values()) - min(sizes.values()) <= 1


def test_within_a_solve_rate_longer_responses_are_harder():
    found = quantile_levels({f"p{tokens}": SolveRate(8, 0.0, tokens) for tokens in (50, 10, 40, 20, 30)})
    assert found == {"p10": 1, "p20": 2, "p30": 3, "p40": 4, "p50": 5}


def test_levels_do_not_depend_on_the_order_of_problems():
    found = rates(*[0.125 * (number % 4) for number in range(50)])
    assert quantile_levels(dict(reversed(found.items()))) == quantile_levels(found)


@pytest.mark.parametrize(
    ("rate", "level"), [(1.0, 1), (0.8, 1), (0.79, 2), (0.6, 2), (0.4, 3), (0.2, 4), (0.1, 5), (0, 5)]
)
def test_thresholds_are_the_lowest_solve_rates_of_their_levels(rate, level):
    assert threshold_level(rate, [0.8, 0.6, 0.4, 0.2]) == level


def test_the_settings_choose_the_rule():
    found = rates(1.0, 1.0, 1.0, 1.0, 1.0)
    assert set(assign_levels(found, Grade(levels="thresholds"), {}).values()) == {1}
    assert set(assign_levels(found, Grade(levels="quantiles"), {}).values()) == {1, 2, 3, 4, 5}
    assert set(assign_levels(found, Grade(levels="operations"), dict.fromkeys(found, "2+3-4=1")).values()) == {2}


def tally(marks: dict[str, str]) -> Tally:
    """Rollouts in two tables, which part the problems' rollouts."""
    found = Tally()
    rows = rollouts(marks)
    for piece in (rows.slice(0, 3), rows.slice(3)):
        found.add(piece)
    return found


def rollouts(marks: dict[str, str]) -> pa.Table:
    """Problem to one letter a rollout: r(ight), w(rong), n(o answer), l(ong prompt)."""
    rows = [
        {
            "id": name,
            "sample": sample,
            "answer": "5" if letter == "r" else "6" if letter == "w" else None,
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
    assert tally({"p": "rrww"}).solve_rates() == {"p": SolveRate(4, 0.5, 25.0)}


def test_a_prompt_too_long_to_sample_has_no_solve_rate():
    found = tally({"p": "rw", "q": "ll", "half": "rwll"})
    assert list(found.solve_rates()) == ["p"]
    assert found.uncertain(["p", "q", "half"], Grade(levels="thresholds", stop_when_certain=0.99)) == ["p"]


def test_records_get_rollouts_solve_rate_and_level_and_keep_the_rest():
    records = table([{"id": name, "problem": "?", "answer": "5"} for name in ("a", "b", "c", "d", "e", "f", "g")])
    scored = tally({"a": "rrrr", "b": "rrrw", "c": "rrww", "d": "rwww", "e": "wwnn", "f": "llll"})
    graded, measured = fill_levels(records, scored, Grade())
    assert graded.schema.equals(RECORD)
    assert graded.column("level").to_pylist() == [1, 2, 3, 4, 5, None, None]
    assert graded.column("solve_rate").to_pylist() == [1.0, 0.75, 0.5, 0.25, 0.0, None, None]
    assert graded.column("n_rollouts").to_pylist() == [4] * 5 + [None] * 2
    assert graded.column("answer").to_pylist() == ["5"] * 7
    assert measured["graded"] == 5
    assert measured["prompt_too_long"] == 1
    assert measured["not_sent"] == 1
    assert measured["never_solved"] == measured["always_solved"] == 1
    assert measured["solve_rate"] == pytest.approx(0.5)
    low, high = measured["solve_rate_ci95"]
    assert 0 <= low < 0.2 < 0.8 < high <= 1  # five problems say little of others
    assert (measured["rollouts"], measured["saved"]) == (20, 1 - 20 / 40)
    assert measured["tokens"] == 25
    assert measured["leaned"] == {"unit": 4 / 10}
    assert measured["unanswered"] == 2 / 20
    assert measured["levels"]["2"] == {"problems": 1, "solve_rate": 0.75}
    assert list(measured["levels"]) == ["1", "2", "3", "4", "5"]


def test_problems_that_no_response_could_solve_and_doubted_ones_are_not_sent():
    rows = [
        {"id": "fine", "answer": "5"},
        {"id": "unreadable", "answer": r"\frac{1}{"},
        {"id": "one of two", "answer": r"\frac{1}{", "alternatives": ["0.5"]},
        {"id": "doubted", "answer": "7", "findings": '[{"reason": "link"}]'},
        {"id": "empty", "answer": None},
    ]
    records = table([{"problem": "?", **row} for row in rows])
    assert choose_problems(records, Grade(), seed=0) == ["fine", "one of two", "doubted"]
    assert choose_problems(records, Grade(doubtful="drop"), seed=0) == ["fine", "one of two"]
    assert len(choose_problems(records, Grade(max_problems=2), seed=0)) == 2


def test_a_level_is_as_probable_as_its_share_of_the_beta_distribution():
    assert level_probability(8, 8, [0.8, 0.6, 0.4, 0.2]) == pytest.approx(1 - 0.8**9)
    assert level_probability(0, 16, [0.8, 0.6, 0.4, 0.2]) == pytest.approx(1 - 0.8**17)
    assert level_probability(4, 8, [0.8, 0.6, 0.4, 0.2]) == pytest.approx(0.46686464)
    probable = [level_probability(right, 64, [0.5, 0.4, 0.3, 0.2]) for right in range(65)]
    assert all(0 < one <= 1 for one in probable)


@pytest.mark.parametrize("given", [{"levels": "quantiles", "stop_when_certain": 0.95}, {"stop_when_certain": 1}])
def test_a_certainty_that_cannot_be_is_refused(given):
    with pytest.raises(ValidationError, match="stop_when_certain"):
        Grade(**{"levels": "thresholds", **given})


def test_a_problem_has_rollouts_until_its_level_is_certain(tmp_path, monkeypatch):
    """Problems 0 to 4 are solved in 0 to 4 of 4 rollouts: the first and the last are certain after two looks of 8."""
    opened = []

    class Known:
        def __init__(self, model, sampling):
            opened.append(self)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            opened.append("closed")

        def sample(self, wanted, *, seed):
            for one in wanted:
                right = one.sample % 4 < int(one.problem)
                yield Response(one, 3, "stop", rf"\boxed{{{7 if right else 8}}}")

    monkeypatch.setattr("compass.grading.grade.choose_engine", lambda model, sampling, engines: Known(model, sampling))
    (tmp_path / "model").mkdir()
    (tmp_path / "model/config.json").write_text("{}")
    settings = Grade(
        model=str(tmp_path / "model"),
        rollouts=60,
        levels="thresholds",
        thresholds=[0.8, 0.6, 0.4, 0.2],
        stop_when_certain=0.9,
    )
    records = table([{"id": f"p{number}", "problem": str(number), "answer": "7"} for number in range(5)])
    found = Tally()
    pieces = list(
        sample_rollouts(records, [f"p{number}" for number in range(5)], settings, found, seed=0, work=tmp_path / "work")
    )
    rates = found.solve_rates()
    assert {name: rate.rate for name, rate in rates.items()} == {f"p{number}": number / 4 for number in range(5)}
    rollouts = [rates[f"p{number}"].rollouts for number in range(5)]
    assert rollouts[0] == rollouts[4] == 16
    assert rollouts[1] > 16
    assert rollouts[2] > 16
    assert max(rollouts) <= 60
    assert len(opened) == 2  # one engine for all looks
    keys = [(row["id"], row["sample"]) for piece in pieces for row in piece.select(["id", "sample"]).to_pylist()]
    assert sorted(keys) == sorted((f"p{number}", sample) for number in range(5) for sample in range(rollouts[number]))


def test_a_levels_solve_rate_is_its_problems_mean():
    records = table([{"id": name, "problem": "?", "answer": "5"} for name in ("a", "b", "c")])
    settings = Grade(levels="thresholds", thresholds=[0.8, 0.6, 0.4, 0.2])
    _, measured = fill_levels(records, tally({"a": "rrrr", "b": "rrwwwwwwww", "c": "rrrwwwwwww"}), settings)
    assert measured["levels"] == {
        "1": {"problems": 1, "solve_rate": 1.0},
        "4": {"problems": 2, "solve_rate": pytest.approx(0.25)},
    }
    assert (measured["never_solved"], measured["always_solved"]) == (0, 1)


def test_nothing_graded_is_measured_as_nothing():
    records = table([{"id": "a", "problem": "?", "answer": "5"}])
    graded, measured = fill_levels(records, tally({"a": "ll"}), Grade())
    assert graded.column("level").to_pylist() == [None]
    assert measured == {
        "leaned": {},
        "unanswered": None,
        "graded": 0,
        "not_sent": 0,
        "prompt_too_long": 1,
        "failed": 0,
        "solve_rate": None,
        "solve_rate_ci95": None,
        "rollouts": 0,
        "saved": 0.0,
        "never_solved": 0,
        "always_solved": 0,
        "tokens": None,
        "levels": {},
    }


def test_levels_by_operations_are_those_of_the_published_solutions():
    solutions = {"a": "7+2=9\n\\boxed{9}", "b": "3*4=12. 12-5=7", "c": "It is 4.", "d": None, "e": "1+1=2\n" * 7}
    records = table([{"id": name, "problem": "?", "answer": "5", "solution": text} for name, text in solutions.items()])
    graded, measured = fill_levels(records, tally(dict.fromkeys("abcde", "rw")), Grade(levels="operations"))
    assert graded.column("level").to_pylist() == [1, 2, None, None, 5]
    assert graded.column("solve_rate").to_pylist() == [0.5] * 5
    assert measured["without_level"] == 2
    assert {level: found["problems"] for level, found in measured["levels"].items()} == {"1": 1, "2": 1, "5": 1}


def test_rows_of_chosen_sources_are_graded_and_a_source_without_rows_is_named():
    rows = [
        {"id": f"{source}{n}", "source": source, "problem": "?", "answer": "5"} for source in "ab" for n in range(3)
    ]
    records = table(rows)
    assert _asked_for(records, Grade(sources=["b"])) == ["b0", "b1", "b2"]
    assert len(_asked_for(records, Grade())) == 6
    with pytest.raises(RecordError, match=r"grade.sources: no kept row comes from 'c'; there are a, b"):
        _asked_for(records, Grade(sources=["b", "c"]))
