"""Looking more than once: limits are the published ones, later looks keep earlier samples, and a plan cannot be changed after a look."""

from __future__ import annotations

import random
from math import sqrt

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

from compass.evaluation.comparisons import compare_models
from compass.evaluation.looks import (
    LooksError,
    check_plan,
    describe_looks,
    find_limits,
    find_pair,
    judge_look,
    measure_information,
    plan_rounds,
    sample_until_verdict,
)
from compass.evaluation.paired import Paired


def test_limits_are_those_of_lan_and_demets() -> None:
    # z for five equal looks, two-sided 5%, as gsDesign and ldbounds print them.
    z = [norm.isf(limit / 2) for limit in find_limits([0.2, 0.4, 0.6, 0.8, 1.0])]
    assert z == pytest.approx([4.877, 3.357, 2.680, 2.290, 2.031], abs=6e-4)
    assert find_limits([1.0]) == pytest.approx([0.05])
    assert find_limits([1.0], 0.04) == pytest.approx([0.04])


def test_all_looks_together_spend_the_error() -> None:
    times = [0.3, 0.35, 0.7, 1.0]
    limits = [norm.isf(limit / 2) for limit in find_limits(times)]
    steps = np.diff([0, *times])
    paths = np.random.default_rng(0).standard_normal((200_000, 4)) * np.sqrt(steps)
    z = paths.cumsum(axis=1) / np.sqrt(times)
    assert np.mean((np.abs(z) >= limits).any(axis=1)) == pytest.approx(0.05, abs=0.0015)


@pytest.mark.parametrize(("samples", "at_most", "rounds"), [(8, 64, [8, 16, 32, 64]), (4, 20, [4, 8, 16, 20]), (8, 8, [8])])  # fmt: skip
def test_rounds_double_up_to_the_most(samples: int, at_most: int, rounds: list[int]) -> None:
    assert plan_rounds(samples, at_most) == rounds


def paired(ours: list[float], theirs: list[float], samples: int) -> Paired:
    return Paired(np.array(ours), np.array(theirs), *[np.full(len(ours), samples)] * 2)


def test_information_is_the_share_of_the_inverse_variance_at_the_end() -> None:
    noisy = paired([0.5] * 40, [0.5] * 40, 8)  # the problems do not differ: all that is left is sampling
    assert measure_information([noisy], 64) == pytest.approx(8 / 64)
    sure = paired([1.0, 0.0] * 20, [0.0, 0.0] * 20, 8)  # all samples of a problem agree: more of them bring nothing
    assert measure_information([sure], 64) == 1.0
    one = paired([0.75, 0.5, 0.0, 1.0] * 10, [0.25, 0.5, 0.5, 0.25] * 10, 8)
    sampling = one.sampling_variance
    rest = one.spread / one.count - sampling
    assert measure_information([one], 64) == pytest.approx((rest + sampling / 8) / (rest + sampling))
    assert measure_information([paired([0.0] * 5, [0.0] * 5, 16)], 64) == 0.25


def test_a_p_below_5_percent_is_no_verdict_at_an_early_look() -> None:
    draw = np.random.default_rng(3)
    ours, theirs = draw.binomial(8, 0.6, 30) / 8, draw.binomial(8, 0.5, 30) / 8
    first = judge_look([paired(ours, theirs, 8)], [], at_most=64, alpha=0.05, seed=0)
    assert first["limit"] < first["p"] < 0.05
    assert first["verdict"] == "cannot tell"
    only = judge_look([paired(ours, theirs, 8)], [], at_most=8, alpha=0.05, seed=0)
    assert (only["information"], only["verdict"]) == (1.0, "better")
    assert only["limit"] == pytest.approx(0.05)


def rows(model: str, chance: float, samples: int, problems: int = 30) -> list[dict]:
    """Sample n of a problem is the same however many there are."""
    return [
        {"model": model, "benchmark": "aime", "id": str(number), "sample": sample, "greedy": False, "correct": right, "correct_lenient": right}
        for number in range(problems)
        for sample in range(samples)
        for right in [random.Random(f"{model} {number} {sample}").random() < chance]
    ]  # fmt: skip


def evaluation(chances: dict[str, float], *, at_most: int, pair: list[str]) -> tuple[dict, list[int], pa.Table]:
    asked: list[int] = []
    seen: list[pa.Table] = []

    def sample(count: int) -> pa.Table:
        asked.append(count)
        seen.append(pa.Table.from_pylist([row for model, chance in chances.items() for row in rows(model, chance, count if model in pair else 4)]))  # fmt: skip
        return seen[-1]

    looks = sample_until_verdict(sample, samples=4, at_most=at_most, pair=pair, seed=0)
    return looks, asked, seen[-1]


def test_sampling_stops_at_the_first_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    looks, asked, samples = evaluation({"base": 0.3, "rl": 0.41}, at_most=64, pair=["rl", "base"])
    assert asked == [4, 8, 16, 32]
    assert [one["verdict"] for one in looks["made"]] == ["cannot tell", "cannot tell", "cannot tell", "better"]
    assert looks["alpha"] == pytest.approx(0.05)
    assert describe_looks(looks).startswith("Stopped after 32 of at most 64 samples per problem; 4 looks at rl against base; limit")  # fmt: skip
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert "evaluate: look 4 at rl against base: 32 of at most 64 samples, difference +" in printed[3]
    found = compare_models(samples, seed=0, primary=looks["pair"], looks=looks)
    average = found["pairs"][0]["average"]
    assert average["verdict"] == "better"
    assert average["p"] == looks["made"][-1]["p"]
    assert average["p_corrected"] == pytest.approx(min(1, average["p"] * 0.05 / looks["made"][-1]["limit"]))
    plain = compare_models(samples, seed=0)["pairs"][0]["average"]
    assert average["ci95"][0] < plain["ci95"][0]
    assert average["ci95"][1] > plain["ci95"][1]
    assert average["detectable"] > plain["detectable"]


def test_of_several_models_the_pair_is_looked_at_with_its_part_of_the_error() -> None:
    looks, asked, samples = evaluation({"base": 0.3, "one": 0.3, "rl": 0.31}, at_most=8, pair=["rl", "base"])
    assert asked == [4, 8]
    assert looks["alpha"] == pytest.approx(0.04)
    assert looks["made"][-1]["limit"] < 0.04
    found = compare_models(samples, seed=0, primary=looks["pair"], looks=looks)
    pair = next(pair for pair in found["pairs"] if pair["model"] == "rl" and pair["other"] == "base")
    # Reaching the limit of the look is being below 5% after Holm's correction.
    last = looks["made"][-1]
    assert pair["average"]["p_corrected"] >= min(1.0, last["p"] * 0.05 / last["limit"]) - 1e-12


def test_the_pair_is_the_declared_one() -> None:
    assert find_pair(["base", "one", "two"], None) == ["two", "base"]
    assert find_pair(["a", "b"], None) == ["b", "a"]
    assert find_pair(["base", "one", "two"], ["two", "one"]) == ["two", "one"]
    with pytest.raises(LooksError, match="needs two of the models base, one; found two, one"):
        find_pair(["base", "one"], ["two", "one"])
    with pytest.raises(LooksError, match="give a second one"):
        find_pair(["base"], None)


def test_a_plan_cannot_be_changed_after_a_look() -> None:
    made = {"pair": ["rl", "base"], "at_most": 64, "alpha": 0.05, "made": [{"samples": 8}, {"samples": 16}]}
    check_plan(made, ["rl", "base"], at_most=64, samples=8, pair=["rl", "base"])
    check_plan(made, ["other"], at_most=0, samples=8, pair=None)
    check_plan(None, ["rl"], at_most=0, samples=8, pair=None)
    for most, samples, pair in ((128, 8, ["rl", "base"]), (64, 4, ["rl", "base"]), (0, 32, [])):
        with pytest.raises(LooksError, match="--samples 8 --until verdict --at-most 64"):
            check_plan(made, ["rl"], at_most=most, samples=samples, pair=pair)


def test_information_never_falls() -> None:
    made = [{"information": 0.6}]
    one = judge_look([paired([0.5] * 40, [0.5] * 40, 8)], made, at_most=64, alpha=0.05, seed=0)
    assert one["information"] == pytest.approx(0.6 + 0.4 / 10)
    assert sqrt(one["information"]) < 1
