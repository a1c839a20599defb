"""The forecast of an evaluation: its chances are those of simulated evaluations, and it says what was measured."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from compass.cli import main
from compass.evaluation.paired import sign_flip_p
from compass.plan.evaluation import (
    LIKELY,
    SURE,
    UNSURE,
    Assumed,
    assume_variances,
    find_gain,
    find_power,
    find_samples,
    levels,
    measure_variances,
    plan_chances,
)
from tests.report.conftest import sample_rows, write_evaluation

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from simulated_models import Truth, draw


@pytest.mark.parametrize(
    ("problems", "samples", "accuracy", "gain"), [(200, 8, 0.5, 0.05), (500, 4, 0.8, 0.03), (30, 32, 0.5, 0.15)]
)
def test_the_chance_is_that_of_simulated_evaluations(problems: int, samples: int, accuracy: float, gain: float) -> None:
    generator = np.random.default_rng(0)
    truth = Truth(problems, *[(samples, samples)] * 2, accuracy + gain, accuracy, 0.5, 0.5, 0.8)
    drawn = [draw(truth, generator) for _ in range(150)]
    found = np.mean([one.interval()[0] > 0 and sign_flip_p([one], seed=0) <= 0.05 for one in drawn])
    assumed = find_power([assume_variances(problems, accuracy, Assumed(0.5, 0.8))], gain, samples, 0.95)
    measured = np.mean([find_power([measure_variances(one)], gain, samples, 0.95) for one in drawn[:30]])
    assert assumed == pytest.approx(found, abs=0.12)
    assert measured == pytest.approx(found, abs=0.12)


def test_variances_that_were_measured_carry_over_to_other_numbers_of_samples() -> None:
    generator = np.random.default_rng(1)
    few = Truth(5_000, (4, 4), (4, 4), 0.5, 0.5, 0.4, 0.4, 0.7)
    many = few._replace(samples=(32, 32), other_samples=(32, 32))
    carried = np.mean([measure_variances(draw(few, generator)).total(32) for _ in range(20)])
    assert carried == pytest.approx(np.mean([draw(many, generator).spread for _ in range(20)]), rel=0.05)


def test_smallest_gain_and_samples_are_those_that_are_found_in_4_of_5() -> None:
    each = [assume_variances(500, 0.5, LIKELY)]
    gain = find_gain(each, 8, 0.95)
    assert find_power(each, gain, 8, 0.95) >= 0.8 > find_power(each, gain - 0.001, 8, 0.95)
    samples = find_samples(each, gain - 0.003, 0.95)
    assert samples > 8
    assert find_power(each, gain - 0.003, samples, 0.95) >= 0.8 > find_power(each, gain - 0.003, samples - 1, 0.95)
    assert find_samples([assume_variances(30, 0.5, LIKELY)], 0.01, 0.95) is None


def test_levels_are_those_of_the_verdict() -> None:
    assert levels(2, 1) == pytest.approx((0.95, 0.95))
    assert levels(2, 5) == pytest.approx((0.95, 0.99))
    assert levels(4, 2) == pytest.approx((0.96, 0.98))


@pytest.mark.parametrize("evaluated", [100, 50])
def test_a_range_covers_likeness_and_what_is_measured_has_none(evaluated: int) -> None:
    """The earlier evaluation may have had other problems: what is planned has 100."""
    measured = {"a": assume_variances(evaluated, 0.3, LIKELY)}
    one, two, both = plan_chances(measured, {"a": 100, "b": 100}, accuracy=0.3, gain=0.1, samples=8, models=2)
    assert (one.problems, one.units, both.problems) == (100, 100, 200)
    assert one.power[0] == one.power[1] == one.power[2] == pytest.approx(two.power[1])
    assert two.power[0] < two.power[1] < two.power[2]
    assert (one.source, two.source, both.source) == ("measured", "assumed", "measured and assumed")
    assert both.power[1] > one.power[1]
    assert UNSURE.alike < LIKELY.alike < SURE.alike


def test_the_command_takes_variances_and_lengths_from_an_earlier_evaluation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_evaluation(tmp_path / "old", sample_rows())
    words = ["plan", "evaluation", "--benchmarks", "easy,aime-2024", "--gain", "20", "--earlier", "old"]
    assert main([*words, "--model", "Qwen/Qwen2.5-Math-7B", "--gpu", "h100:1", "--price", "2"]) == 0
    printed = capsys.readouterr().out
    assert "A gain of 20 points, 2 models, 8 samples per problem, on 1 x h100" in printed
    assert "easy: mean response: 26 tokens (measured)" in printed
    assert "aime-2024: mean response: 614 tokens (307 to 1,024 of 2,048) (assumed)" in printed
    assert "easy: variances of rl-2 and base in the earlier evaluation (measured)" in printed
    assert "7,615.6 M parameters (configuration)" in printed
    assert main([*words, "--json", "--models", "4", "--greedy"]) == 0
    found = json.loads(capsys.readouterr().out)
    easy, aime, average = found["chances"]
    assert (easy["problems"], aime["problems"], average["problems"]) == (12, 30, 42)
    assert easy["power"][0] == easy["power"][2]
    assert [one["responses"] for one in found["costs"]] == [4 * 9 * 12, 4 * 9 * 30]
    assert found["costs"][0]["hours"] == []  # no model is known here
    assert found["costs"][0]["tokens"][1] == pytest.approx(4 * 9 * 12 * 25.5)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--benchmarks aime-2024 --gain 3 --earlier gone", "gone/samples.parquet: no such file"),
        ("--benchmarks aime-2024 --gain 3 --pair a b", "samples.parquet: no such file"),
        ("--benchmarks aime-2024 --gain 3 --earlier old --pair base two", "has the models base, rl-1, rl-2; name two of them with --pair"),
        ("--benchmarks aime-2o24 --gain 3", "benchmark 'aime-2o24' is not known"),
        ("--benchmarks aime-2024 --gain 3 --gpu h1000", "there is no GPU 'h1000'"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned_is_told(
    words: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_evaluation(tmp_path / "old", sample_rows())
    assert main(["plan", "evaluation", *words.split()]) == 1
    assert told in capsys.readouterr().err
