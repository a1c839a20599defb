"""Scores of a model on a benchmark, with the golds of other copies."""

from __future__ import annotations

import pyarrow as pa
import pytest

from compass.evaluation.accuracy import accuracy_interval, accuracy_sd, average_interval
from compass.evaluation.benchmark_scores import average_scores, benchmark_scores, score_other_golds
from compass.evaluation.comparisons import compare_models
from compass.evaluation.evaluate import plot_rows, summarise
from compass.records import table
from compass.sampling.score import score_responses


def rows(model: str, benchmark: str, marks: dict[str, str], greedy: str = "") -> list[dict]:
    """`marks`: problem to one letter per sample: r(ight), w(rong), c(ut off, right by its last line), l(ong prompt), u(nreadable)."""
    found = []
    for number, (name, letters) in enumerate(marks.items()):
        for is_greedy, group in ((False, letters), (True, greedy[number : number + 1])):
            for sample, letter in enumerate(group):
                found.append(
                    {
                        "model": model,
                        "benchmark": benchmark,
                        "id": name,
                        "sample": sample,
                        "greedy": is_greedy,
                        "answer": {"r": "5", "w": "7", "u": "?!"}.get(letter),
                        "answer_lenient": {"r": "5", "w": "7", "u": "?!", "c": "5"}.get(letter),
                        "outcome": {"r": "equal", "w": "different", "u": "unrecognised"}.get(letter, "none"),
                        "looped": letter == "c",
                        "operations": {"r": 2, "c": 1}.get(letter, 0),
                        "bare": letter in "wu",
                        "correct": letter == "r",
                        "boxed": letter in "rw",
                        "correct_lenient": letter in "rc",
                        "leniencies": "unit" if letter == "r" and sample == 0 else "",
                        "tokens": {"r": 10, "w": 20, "c": 48, "l": 0, "u": 20}[letter],
                        "finish_reason": {"c": "length", "l": "prompt_too_long"}.get(letter, "stop"),
                    }
                )
    return found


def test_clusters_are_the_units_of_every_interval():
    marks = {f"p{number}": "rrww"[number % 4] * 4 for number in range(8)}
    clusters = {f"p{number}": f"stem {number % 4}" for number in range(8)}
    samples = pa.Table.from_pylist(rows("base", "b", marks, greedy="rrwwrrww"))
    alone, score = benchmark_scores(samples, {"p0"}), benchmark_scores(samples, {"p0"}, clusters)
    assert score["clusters"] == 4
    assert "clusters" not in alone
    assert score["accuracy"] == alone["accuracy"]
    numbers = [0, 1, 2, 3] * 2
    assert score["ci95"] == list(accuracy_interval([1, 1, 0, 0] * 2, 4, numbers))
    for name in ("ci95", "greedy_ci95", "lenient_ci95"):
        assert score[name][0] < alone[name][0]
    assert score["clean"]["ci95"][0] < alone["clean"]["ci95"][0]
    both = pa.concat_tables([samples, pa.Table.from_pylist(rows("other", "b", dict.fromkeys(marks, "wwww")))])
    one, two = (compare_models(both, seed=0, clusters=own)["pairs"][0]["benchmarks"]["b"] for own in (None, clusters))
    assert (one["problems"], two["problems"], two["clusters"]) == (8, 8, 4)
    assert one["p"] == pytest.approx(2 / 2**4)
    assert two["p"] == pytest.approx(2 / 2**2)
    assert two["measures"]["pass@4"]["p"] == two["p"]


def test_scores_of_a_benchmark():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "rrwc", "q": "wwwr"}, greedy="rw")))
    assert score["accuracy"] == pytest.approx(3 / 8)
    assert score["ci95"] == list(accuracy_interval([0.5, 0.25], 4))
    assert score["greedy_ci95"] == list(accuracy_interval([1.0, 0.0], 1))
    assert score["pass@2"] == pytest.approx((5 / 6 + 1 / 2) / 2)
    assert score["pass@4"] == 1.0
    assert score["maj@4"] == 0.5
    assert score["greedy"] == 0.5
    assert (score["problems"], score["samples"], score["prompt_too_long"]) == (2, 4, 0)
    assert score["truncated"] == pytest.approx(1 / 8)
    assert score["boxed"] == pytest.approx(7 / 8)
    assert score["lenient"] == pytest.approx(4 / 8)
    assert score["leaned"] == pytest.approx(1 / 3)
    assert score["length"] == pytest.approx((3 * 10 + 4 * 20 + 48) / 8)


def test_accuracy_is_given_by_the_tokens_that_it_takes():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "rrww", "q": "wwwr"}, greedy="rw")))
    one, two, four = score["by_tokens"]
    # p takes 60 tokens for four samples, q 70: 16.25 a response on average.
    assert (one["k"], one["tokens"], one["maj"], one["pass"]) == (1, 16.25, 3 / 8, 3 / 8)
    # p: two right, two wrong; q: two alike wrong, one of each, which is a tie.
    assert (two["k"], two["tokens"], two["maj"]) == (2, 32.5, pytest.approx((1 / 2 + 1 / 4) / 2))
    assert two["pass"] == score["pass@2"]
    assert (four["k"], four["tokens"], four["maj"], four["pass"]) == (4, 65.0, score["maj@4"], score["pass@4"])
    assert score["greedy_length"] == 15.0
    single = benchmark_scores(pa.Table.from_pylist(rows("base", "c", {"p": "r", "q": "w"})))
    assert single["by_tokens"] == [{"k": 1, "tokens": 15.0, "maj": 0.5, "pass": 0.5}]
    assert average_scores({"b": score, "c": single})["by_tokens"] == [
        {"k": 1, "tokens": 15.625, "maj": 7 / 16, "pass": 7 / 16}
    ]


def test_prompts_too_long_count_as_wrong_and_are_named():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "rr", "q": "ll"})))
    assert score["accuracy"] == 0.5
    assert score["prompt_too_long"] == 1
    assert isinstance(score["prompt_too_long"], int)


def test_the_average_weighs_benchmarks_not_problems():
    small = benchmark_scores(pa.Table.from_pylist(rows("base", "a", {"p": "rr"})))
    large = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"q": "ww", "r": "ww", "s": "ww"})))
    average = average_scores({"a": small, "b": large})
    assert average["accuracy"] == 0.5
    assert (average["problems"], average["samples"], average["prompt_too_long"]) == (4, 2, 0)
    assert average["ci95"] == list(average_interval([1, 0], [small["ci95"], large["ci95"]]))
    assert average_scores({"a": small}) == small | {
        name: pytest.approx(small[name]) for name in ("ci95", "fixed_ci95", "lenient_ci95")
    }
    assert average["pass@2"] == average["maj@2"] == 0.5
    assert average["length"] == 15
    assert "greedy" not in average
    assert "greedy_ci95" not in average


def test_an_average_counts_long_prompts_and_takes_scores_that_every_benchmark_has():
    one = benchmark_scores(pa.Table.from_pylist(rows("base", "a", {"p": "rr", "q": "ll"}, greedy="rr")))
    two = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "rrr", "q": "lll"}, greedy="wr")))
    average = average_scores({"a": one, "b": two})
    assert average["prompt_too_long"] == 2
    assert average["greedy"] == 0.75
    assert average["greedy_ci95"] == list(average_interval([1, 0.5], [one["greedy_ci95"], two["greedy_ci95"]]))
    assert "pass@2" in average
    assert "pass@3" not in average
    assert average["samples"] == 2


def test_the_majority_counts_answers_as_the_verifier_does():
    groups = rows("base", "b", {"p": "rrwww"})
    for row, answer in zip(groups, ("5", "5", "1/2", "0.5", "7"), strict=True):
        row["answer"] = answer
    assert benchmark_scores(pa.Table.from_pylist(groups))["maj@5"] == 0.5


def test_forms_losses_and_cuts_are_shares_of_the_sampled_responses():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "rcuw", "q": "wcll"}, greedy="cr")))
    assert score["unextracted"] == score["looped"] == score["truncated"] == pytest.approx(2 / 8)
    assert score["unreadable"] == pytest.approx(1 / 8)
    assert score["unanswered"] == pytest.approx(2 / 8)
    assert score["lenient"] == pytest.approx(3 / 8)
    assert score["lenient_ci95"] == list(accuracy_interval([0.5, 0.25], 4))
    assert score["form"] == pytest.approx(2 / 8)
    assert (score["greedy"], score["greedy_lenient"]) == (0.5, 1.0)
    # Two operations in a right response, one in each that is cut off; w and u are bare answers, l does not answer.
    assert (score["operations"], score["bare"], score["accuracy_with_work"]) == (4 / 8, 3 / 8, 1 / 3)
    assert score["sd"] == dict(zip(("samples", "problems"), accuracy_sd([0.25, 0.0], [4, 4]), strict=True))


def test_accuracy_with_work_shown_needs_responses_that_show_some():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "ww", "q": "uw"})))
    assert (score["operations"], score["bare"], "accuracy_with_work" in score) == (0.0, 1.0, False)
    earlier = pa.Table.from_pylist(rows("base", "b", {"p": "rw"})).drop_columns(["bare"])
    assert not {"operations", "bare", "accuracy_with_work"} & benchmark_scores(earlier).keys()


def test_sums_are_per_problem_and_hold_the_greedy_response():
    table = pa.Table.from_pylist(rows("base", "b", {"p": "rw", "q": "ww"}, greedy="rw"))
    assert benchmark_scores(table)["tokens"] == pytest.approx((10 + 20 + 20 + 20 + 10 + 20) / 2)
    assert "seconds" not in benchmark_scores(table)
    timed = table.append_column("seconds", pa.array([0.5] * table.num_rows))
    assert benchmark_scores(timed)["seconds"] == pytest.approx(1.5)


def test_problems_with_unequal_numbers_of_samples_weigh_alike():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "rrww", "q": "ww"})))
    assert score["accuracy"] == 0.25
    assert (score["samples"], score["most_samples"]) == (2, 4)
    assert score["pass@2"] == pytest.approx((5 / 6) / 2)
    assert "pass@4" not in score
    assert score["maj@2"] == 0.5  # of the first two samples
    assert score["ci95"] == list(accuracy_interval([0.5, 0.0], 3))


def test_scores_without_the_problems_that_resemble_training_rows():
    table = pa.Table.from_pylist(rows("base", "b", {"p": "rr", "q": "rw", "s": "ww"}))
    score = benchmark_scores(table, similar={"p", "elsewhere"})
    assert score["accuracy"] == 0.5
    assert score["clean"] == {"accuracy": 0.25, "ci95": list(accuracy_interval([0.5, 0.0], 2)), "problems": 2}
    assert score["similar"] == 1
    assert benchmark_scores(table, similar=())["clean"]["accuracy"] == 0.5
    assert "clean" not in benchmark_scores(table)
    gone = benchmark_scores(table, similar={"p", "q", "s"})
    assert "clean" not in gone
    average = average_scores({"a": score, "b": gone})
    assert (average["similar"], average["clean"]["accuracy"], average["clean"]["problems"]) == (4, 0.25, 2)


def test_the_average_halves_the_spread_of_four_alike_benchmarks():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "rrww", "q": "wwwr", "s": "rrrr"})))
    average = average_scores(dict.fromkeys("abcd", score))
    assert average["sd"]["samples"] == pytest.approx(score["sd"]["samples"] / 2)
    single = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "r", "q": "w"})))
    assert average_scores({"a": score, "b": single})["sd"] == {"samples": None, "problems": None}


def both() -> pa.Table:
    marks = {"base": ("rwww", "wwww"), "rl-1": ("rrrw", "rwww")}
    found = []
    for model, (one, two) in marks.items():
        found += rows(model, "easy", {f"e{n}": one for n in range(20)}, greedy="r" * 20)
        found += rows(model, "hard", {f"h{n}": two for n in range(20)}, greedy="w" * 20)
    return pa.Table.from_pylist(found)


def summarised(samples: pa.Table) -> dict:
    return summarise(samples, compare_models(samples, seed=0))


def test_gains_are_over_base_and_only_for_other_models():
    scores = summarised(both())
    assert "over_base" not in scores["base"]["average"]
    assert scores["rl-1"]["easy"]["over_base"] == pytest.approx(0.5)
    assert scores["rl-1"]["average"]["over_base"] == pytest.approx(0.375)
    assert scores["rl-1"]["average"]["over_base_ci95"][0] > 0


def test_gains_are_those_of_the_paired_comparisons_whatever_the_order_of_the_models():
    found = compare_models(both(), seed=0)["pairs"][0]
    gain = summarised(both())["rl-1"]["average"]
    assert (gain["over_base"], gain["over_base_ci95"]) == (found["average"]["difference"], found["average"]["ci95"])
    assert gain["over_base_form"] == 0
    turned = pa.concat_tables([both().filter(pa.compute.equal(both()["model"], name)) for name in ("rl-1", "base")])
    again = summarised(turned)
    assert "over_base" not in again["base"]["average"]
    assert again["rl-1"]["average"]["over_base"] == pytest.approx(gain["over_base"])
    assert again["rl-1"]["average"]["over_base_ci95"] == pytest.approx(gain["over_base_ci95"])


def test_without_a_base_there_is_no_gain():
    only = both().filter(pa.compute.equal(both().column("model"), "rl-1"))
    assert "over_base" not in summarised(only)["rl-1"]["average"]


def test_plot_rows_show_sampled_greedy_and_pass_together():
    scores = summarised(both())
    assert {row["measure"] for row in plot_rows(scores)} == {"accuracy", "greedy", "pass@4"}
    assert len(plot_rows(scores)) == 2 * 3 * 3
    assert plot_rows(scores)[0] == {"model": "base", "benchmark": "easy", "measure": "accuracy", "value": 0.25}


ITEMS = [
    {"id": "a", "problem": "?", "answer": "2.5", "tolerance": "10%", "other_answer": "7.5"},
    {"id": "b", "problem": "?", "answer": "3", "other_answer": "3"},
]
ANSWERS = [("a", "2.6"), ("a", "7.4"), ("b", "3"), ("b", "4")]


def scored(items: list[dict]) -> pa.Table:
    rows = [
        {
            "id": name,
            "sample": number,
            "greedy": False,
            "response": rf"\boxed{{{answer}}}",
            "tokens": 1,
            "finish_reason": "stop",
        }
        for number, (name, answer) in enumerate(ANSWERS)
    ]
    golds = {item["id"]: item["answer"] for item in items}
    return score_other_golds(score_responses(pa.Table.from_pylist(rows), golds), table(items))


def test_each_response_is_held_against_the_other_gold_within_its_tolerance() -> None:
    assert scored(ITEMS)["correct_other"].to_pylist() == [False, True, True, False]
    assert benchmark_scores(scored(ITEMS))["other_gold"]["accuracy"] == 0.5
    assert benchmark_scores(scored(ITEMS))["accuracy"] == 0.25


def test_without_another_gold_for_every_problem_there_is_no_such_score() -> None:
    items = [ITEMS[0], {**ITEMS[1], "other_answer": None}]
    assert scored(items)["correct_other"].to_pylist() == [False, True, None, None]
    assert "other_gold" not in benchmark_scores(scored(items))
    assert "other_gold" not in benchmark_scores(scored(ITEMS).drop_columns("correct_other"))
