import pyarrow as pa
import pytest

from compass.evaluation.benchmark_scores import average_scores, benchmark_scores, over_base
from compass.evaluation.evaluate import plot_rows, summarise
from compass.evaluation.statistics import accuracy_interval, average_interval, paired_difference


def rows(model: str, benchmark: str, marks: dict[str, str], greedy: str = "") -> list[dict]:
    """`marks`: problem to one letter a sample: r(ight), w(rong), c(ut off without an answer), l(ong prompt)."""
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
                        "answer": {"r": "5", "w": "7"}.get(letter),
                        "correct": letter == "r",
                        "boxed": letter in "rw",
                        "correct_lenient": letter in "rc",
                        "leniencies": "unit" if letter == "r" and sample == 0 else "",
                        "tokens": {"r": 10, "w": 20, "c": 48, "l": 0}[letter],
                        "finish_reason": {"c": "length", "l": "prompt_too_long"}.get(letter, "stop"),
                    }
                )
    return found


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


def test_prompts_too_long_count_as_wrong_and_are_named():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "rr", "q": "ll"})))
    assert score["accuracy"] == 0.5
    assert score["prompt_too_long"] == 1
    assert isinstance(score["prompt_too_long"], int)


def test_one_sample_has_no_pass_at_k_and_no_majority():
    score = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"p": "r", "q": "w"})))
    assert not [name for name in score if "@" in name]
    assert "greedy" not in score


def test_the_average_weighs_benchmarks_not_problems():
    small = benchmark_scores(pa.Table.from_pylist(rows("base", "a", {"p": "rr"})))
    large = benchmark_scores(pa.Table.from_pylist(rows("base", "b", {"q": "ww", "r": "ww", "s": "ww"})))
    average = average_scores({"a": small, "b": large})
    assert average["accuracy"] == 0.5
    assert (average["problems"], average["samples"], average["prompt_too_long"]) == (4, 2, 0)
    assert average["ci95"] == list(average_interval([1, 0], [small["ci95"], large["ci95"]]))
    assert average_scores({"a": small}) == small | {"ci95": pytest.approx(small["ci95"])}
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


def test_gains_are_paired_by_problem_whatever_the_order():
    base = {"a": {"p": 0.0, "q": 1.0}, "b": {"r": 0.5}}
    model = {"b": {"r": 1.0}, "a": {"q": 1.0, "p": 0.5}}
    gains = over_base(model, base, resamples=200, seed=1)
    assert {name: gain["over_base"] for name, gain in gains.items()} == {"b": 0.5, "a": 0.25, "average": 0.375}
    expected = paired_difference([[0.5, 1.0]], [[0.0, 1.0]], resamples=200, seed=1)
    assert gains["a"]["over_base_ci95"] == list(expected[1])


def both() -> pa.Table:
    marks = {"base": ("rwww", "wwww"), "rl-1": ("rrrw", "rwww")}
    found = []
    for model, (one, two) in marks.items():
        found += rows(model, "easy", {f"e{n}": one for n in range(20)}, greedy="r" * 20)
        found += rows(model, "hard", {f"h{n}": two for n in range(20)}, greedy="w" * 20)
    return pa.Table.from_pylist(found)


def test_summary_has_the_contract_of_the_metrics_file():
    scores = summarise(both(), resamples=500, seed=0)
    assert list(scores) == ["base", "rl-1"]
    assert list(scores["base"]) == ["easy", "hard", "average"]
    for scored in scores.values():
        for score in scored.values():
            assert score.keys() >= {"accuracy", "ci95", "problems", "samples", "greedy", "pass@4", "maj@4", "length"}
            assert 0 <= score["ci95"][0] <= score["accuracy"] <= score["ci95"][1] <= 1


def test_gains_are_over_base_and_only_for_other_models():
    scores = summarise(both(), resamples=500, seed=0)
    assert "over_base" not in scores["base"]["average"]
    assert scores["rl-1"]["easy"]["over_base"] == pytest.approx(0.5)
    assert scores["rl-1"]["average"]["over_base"] == pytest.approx(0.375)
    assert scores["rl-1"]["average"]["over_base_ci95"][0] > 0


def test_without_a_base_there_is_no_gain():
    only = both().filter(pa.compute.equal(both().column("model"), "rl-1"))
    assert "over_base" not in summarise(only, resamples=100, seed=0)["rl-1"]["average"]


def test_plot_rows_show_sampled_greedy_and_pass_together():
    scores = summarise(both(), resamples=100, seed=0)
    assert {row["measure"] for row in plot_rows(scores)} == {"accuracy", "greedy", "pass@4"}
    assert len(plot_rows(scores)) == 2 * 3 * 3
    assert plot_rows(scores)[0] == {"model": "base", "benchmark": "easy", "measure": "accuracy", "value": 0.25}
