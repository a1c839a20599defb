import json

import pyarrow as pa
import pytest

from compass.evaluation.comparisons import compare_models, judge, list_measures, weigh_measures
from compass.evaluation.paired import holm


def results(*models: tuple[str, dict[str, dict[str, str]]]) -> pa.Table:
    """Model, and benchmark to problem to one letter per sample: r(ight), f(orm wrong, answer right), w(rong)."""
    rows = [
        {
            "model": model,
            "benchmark": benchmark,
            "id": name,
            "greedy": greedy,
            "correct": letter == "r" and not greedy,
            "correct_lenient": letter in "rf" and not greedy,
        }
        for model, benchmarks in models
        for benchmark, marks in benchmarks.items()
        for name, letters in marks.items()
        for greedy, group in ((False, letters), (True, letters[:1]))
        for letter in group
    ]
    return pa.Table.from_pylist(rows)


def problems(letters: str, count: int, name: str = "p") -> dict[str, str]:
    return {f"{name}{number}": letters for number in range(count)}


def only(table: pa.Table, benchmark: str = "aime") -> dict:
    (pair,) = compare_models(table, seed=0)["pairs"]
    return pair["benchmarks"][benchmark]


def test_every_pair_is_compared_the_later_model_with_the_earlier():
    three = [(name, {"aime": problems("rw", 5)}) for name in ("base", "rl-1", "rl-2")]
    found = compare_models(results(*three), seed=0)
    assert [(pair["model"], pair["other"]) for pair in found["pairs"]] == [
        ("rl-1", "base"),
        ("rl-2", "base"),
        ("rl-2", "rl-1"),
    ]
    assert json.loads(json.dumps(found)) == found


def test_better_and_worse_say_by_how_much():
    low, high = {"aime": problems("rwww", 40)}, {"aime": problems("rrrw", 40)}
    one, two = only(results(("a", low), ("b", high))), only(results(("a", high), ("b", low)))
    assert (one["verdict"], two["verdict"]) == ("better", "worse")
    assert one["difference"] == -two["difference"] == 0.5
    assert one["words"].startswith("better by 50.0 points (4")
    assert two["words"] == one["words"].replace("better", "worse")
    assert (one["gained"], one["lost"], two["gained"], two["lost"]) == (40, 0, 0, 40)


def test_greedy_responses_are_left_out():
    found = only(results(("a", {"aime": problems("rw", 20)}), ("b", {"aime": problems("rr", 20)})))
    assert found["difference"] == 0.5
    assert found["samples"] == [2, 2]


def test_alike_models_are_tied_where_the_benchmark_is_large_enough():
    same = {"math": problems("rrww", 400)}
    found = only(results(("a", same), ("b", same)), "math")
    assert found["verdict"] == "tied"
    assert found["words"].startswith("tied within ±1 point")


def test_a_small_benchmark_says_what_it_can_show():
    marks = {"p0": "wr", **{f"p{n}": "rw" for n in range(1, 6)}}
    moved = {"p0": "rr", "p1": "ww", **{f"p{n}": "rw" for n in range(2, 6)}}
    found = only(results(("a", {"aime": marks}), ("b", {"aime": moved})))
    assert found["verdict"] == "cannot tell"
    assert found["words"].startswith("cannot tell: 6 problems with 2 samples show differences from ")
    assert found["words"].endswith(" points")
    assert found["needed"] == {"difference": 0.0, "problems": None, "samples": None}


def test_a_difference_that_is_not_shown_says_how_many_problems_would():
    ours = {**problems("rrwwwwww", 20, "p"), **problems("rrrrwwww", 10, "q")}
    theirs = {
        **problems("rwwwwwww", 15, "p"),
        **{f"p{n}": "rrrrrwww" for n in range(15, 20)},
        **problems("rrrwwwww", 10, "q"),
    }
    found = only(results(("a", {"aime": theirs}), ("b", {"aime": ours})))
    assert found["verdict"] == "cannot tell"
    assert f"; the {found['difference'] * 100:.1f} seen would need " in found["words"]
    assert found["needed"]["problems"] > 30


def test_a_gain_in_form_is_named_as_one():
    base, trained = {"amc": problems("rwff", 60)}, {"amc": problems("rrrw", 60)}
    found = only(results(("a", base), ("b", trained)), "amc")
    assert found["verdict"] == "better"
    assert found["lenient"]["difference"] == 0
    assert found["form"]["difference"] == 0.5
    assert ", in form alone: read leniently the difference is +0.0 points" in found["words"]


def test_problems_that_one_model_lacks_are_left_out_and_counted():
    ours, theirs = problems("rrrr", 40), problems("wwww", 43)
    found = only(results(("a", {"aime": theirs}), ("b", {"aime": ours})))
    assert (found["problems"], found["missing"], found["difference"]) == (40, 3, 1.0)
    assert found["words"].endswith("; left out: 3 problems that one model alone answered")


def test_benchmarks_without_a_shared_problem_are_not_compared():
    table = results(
        ("a", {"aime": problems("r", 3, "x"), "amc": problems("r", 9)}),
        ("b", {"aime": problems("r", 3, "y"), "amc": problems("r", 9), "math": problems("r", 4)}),
    )
    (pair,) = compare_models(table, seed=0)["pairs"]
    assert list(pair["benchmarks"]) == ["aime", "amc"]
    assert pair["benchmarks"]["aime"]["verdict"] == "not compared"
    assert (pair["average"]["problems"], pair["average"]["missing"]) == (9, 6)


def test_models_that_share_nothing_are_said_to():
    table = results(("a", {"aime": problems("r", 3)}), ("b", {"amc": problems("r", 3)}))
    (pair,) = compare_models(table, seed=0)["pairs"]
    assert pair["benchmarks"] == {}
    assert pair["average"]["verdict"] == "not compared"


def test_unequal_numbers_of_samples_are_compared():
    ours = {f"p{n}": "r" * (2 + n % 5) + "w" for n in range(30)}
    theirs = {f"p{n}": "r" + "w" * (1 + n % 3) for n in range(30)}
    found = only(results(("a", {"aime": theirs}), ("b", {"aime": ours})))
    assert found["verdict"] == "better"
    assert found["samples"] == [2, 7]
    assert found["sd"]["samples"] > 0


def test_p_is_corrected_over_the_benchmarks_of_a_pair():
    marks = {f"p{n}": "ww" for n in range(12)}
    gains = {f"p{n}": "rw" if n < 7 else "ww" for n in range(12)}
    names = ("aime", "amc", "math")
    table = results(("a", dict.fromkeys(names, marks)), ("b", {"aime": gains, "amc": gains, "math": marks}))
    (pair,) = compare_models(table, seed=0)["pairs"]
    each = list(pair["benchmarks"].values())
    assert each[0]["p"] == pytest.approx(2 / 2**7)
    assert [one["p_corrected"] for one in each] == pytest.approx(holm([one["p"] for one in each]))
    assert each[0]["p_corrected"] == pytest.approx(6 / 2**7)


def test_a_verdict_needs_the_corrected_test_and_the_interval():
    sure = {"problems": 9, "missing": 0, "samples": [8, 8], "difference": 0.2, "ci95": [0.1, 0.3], "ci90": [0.12, 0.28],
            "p_corrected": 0.01, "detectable": 0.1, "lenient": {"difference": 0.2, "ci95": [0.1, 0.3]},
            "form": {"difference": 0.0, "ci95": [-0.1, 0.1]}}  # fmt: skip
    assert judge(sure)["verdict"] == "better"
    assert judge(sure | {"p_corrected": 0.06})["verdict"] == "cannot tell"
    assert judge(sure | {"ci95": [-0.01, 0.41]})["verdict"] == "cannot tell"
    assert judge(sure | {"ci95": [-0.05, 0.07], "ci90": [-0.06, 0.06]})["verdict"] == "tied"
    assert judge(sure | {"ci95": [-0.05, 0.07], "ci90": [-0.061, 0.06]})["verdict"] == "cannot tell"


@pytest.mark.parametrize(
    ("base", "trained", "words"),
    [
        ("wwwf", "rrww", ", 25.0 of them in form: read leniently the difference is +25.0"),
        ("wwwf", "rrwf", ""),
    ],
)
def test_a_gain_says_which_part_of_it_is_form(base, trained, words):
    found = only(results(("a", {"amc": problems(base, 60)}), ("b", {"amc": problems(trained, 60)})), "amc")["words"]
    assert words in found
    assert ("form" in found) is bool(words)


@pytest.mark.parametrize(
    ("greedy", "majority", "reach", "words"),
    [
        ("better", "better", "better", "better by every measure"),
        ("tied", "better", "tied", "sharper, not abler"),
        ("cannot tell", "cannot tell", "cannot tell", "sharper, not shown to be abler"),
        ("cannot tell", "better", "better", "not shown to be better by greedy"),
        ("worse", "better", "tied", "the measures disagree, greedy moved the other way"),
    ],
)
def test_a_gain_at_one_temperature_is_weighed_with_the_other_measures(greedy, majority, reach, words):
    verdicts = {"greedy": greedy, "maj@8": majority, "pass@8": reach}
    measures = {name: {"values": [0.9, 0.923], "verdict": verdict} for name, verdict in verdicts.items()}
    found = {"verdict": "better", "measures": measures}
    assert list_measures(found).startswith("greedy 90.0 against 92.3, ")
    assert weigh_measures(found) == words
    assert weigh_measures({"verdict": "better", "measures": {}}) == ""


def test_greedy_majority_and_reach_are_compared_problem_by_problem():
    def rows(model, letters, greedy):
        marks = [{"greedy": False, "correct": letter == "r", "answer": letter} for letter in letters]
        return [
            {"model": model, "benchmark": "aime", "id": f"p{number}", "correct_lenient": False, **mark}
            for number in range(12)
            for mark in [*marks, {"greedy": True, "correct": greedy and number < 9, "answer": "r"}]
        ]

    table = pa.Table.from_pylist(rows("a", "rwww", False) + rows("b", "rrrw", True))
    for found in (only(table), compare_models(table, seed=0)["pairs"][0]["average"]):
        measures = found["measures"]
        assert {name: one["values"] for name, one in measures.items()} == {
            "greedy": [0.75, 0.0], "maj@4": [1.0, 0.0], "pass@4": [1.0, 1.0]
        }  # fmt: skip
        assert measures["greedy"]["p"] == pytest.approx(2 / 2**9)  # McNemar's exact test: nine won, none lost
        assert measures["pass@4"]["p"] == 1.0
        assert [one["p_corrected"] for one in measures.values()] == holm([one["p"] for one in measures.values()])


def test_the_pair_that_decides_gets_most_of_the_level_and_the_others_share_the_rest():
    models = [(name, {"aime": problems("rw", 9)}) for name in ("base", "rl-1", "rl-2")]
    gained = {**problems("rw", 3), **{f"p{number}": "rr" for number in range(3, 9)}}  # six problems moved: p = 2 / 2**6
    found = compare_models(results(*models[:2], ("rl-2", {"aime": gained})), seed=0)
    assert found["primary"] == ["rl-2", "base"]
    averages = {(pair["model"], pair["other"]): pair["average"] for pair in found["pairs"]}
    assert averages["rl-2", "base"]["p_corrected"] == pytest.approx(2 / 2**6 / 0.8)
    assert averages["rl-2", "rl-1"]["p_corrected"] == pytest.approx(2 / 2**6 * 2)  # of what the first one leaves, half
    other = compare_models(results(*models[:2], ("rl-2", {"aime": gained})), seed=0, primary=["rl-2", "rl-1"])
    assert {pair["other"]: pair["average"]["p_corrected"] for pair in other["pairs"]}["rl-1"] == pytest.approx(
        2 / 2**6 / 0.8
    )


def test_what_could_be_found_knows_the_correction():
    two = [(name, {"aime": problems("rw", 30) | {"p0": letters}}) for name, letters in (("base", "ww"), ("rl-1", "rr"))]
    many = [*two[:1], *((f"rl-{n}", {"aime": problems("rw", 30)}) for n in range(3, 9)), *two[1:]]
    alone, crowd = (
        {(pair["model"], pair["other"]): pair["average"] for pair in compare_models(results(*models), seed=0)["pairs"]}
        for models in (two, many)
    )
    assert (
        alone["rl-1", "base"]["detectable"]
        < crowd["rl-1", "base"]["detectable"]
        < alone["rl-1", "base"]["detectable"] * 1.1
    )
    assert crowd["rl-1", "rl-3"]["detectable"] > crowd["rl-1", "base"]["detectable"]
