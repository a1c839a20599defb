"""An evaluation before it is sampled: what it takes, and the chance that it finds a gain, with the correction that the verdict applies.

The chance follows from two variances per benchmark: of the problems' true differences between the two models, and of single samples. An earlier run's responses
say both; without one they follow from an assumed accuracy, an assumed correlation of a problem's samples, and an assumed likeness of the two models' chances.
A difference is found where it is larger than the interval's half, as `compass.evaluation.comparisons` has it: its variance is estimated as if one more problem
were won and one more lost, so few problems need a larger difference than their own variance says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from compass.evaluation.comparisons import PRIMARY_SHARE
from compass.evaluation.paired import FEW, LEVEL, POWER, Paired, student

MOST_SAMPLES = 1_024
"""Samples per problem beyond which none are proposed."""


@dataclass(frozen=True)
class Assumed:
    """What two models are taken to be like where no earlier run says it."""

    correlation: float
    """Of two samples of one model on one problem."""

    alike: float
    """Correlation of the two models' chances on a problem."""


LIKELY, SURE, UNSURE = Assumed(0.5, 0.8), Assumed(0.5, 0.9), Assumed(0.5, 0.6)
"""Middle, and the ends of the range: models that find nearly the same problems hard, and models that do not."""


@dataclass(frozen=True)
class Variances:
    """Of two models on one benchmark, per problem (or cluster of problems): everything that the power of a comparison follows from."""

    problems: int
    units: int
    """Independent ones: problems, or clusters of them."""

    accuracy: float
    """Mean of both models."""

    between: float
    """Variance of the units' true differences."""

    within: float
    """Variance of a unit's difference that a single sample of each model adds."""

    def total(self, samples: int) -> float:
        """Variance of a unit's difference, with so many samples."""
        return self.between + self.within / samples


def measure_variances(paired: Paired) -> Variances:
    """The variances of a comparison that was made, with two samples per problem at least."""
    sampling = (paired.sampling_variance or 0.0) * paired.count
    samples = 2 / (1 / paired.samples.mean() + 1 / paired.other_samples.mean())
    accuracy = float(paired.shares.mean() + paired.other.mean()) / 2
    between = max(paired.spread - sampling, 0.0)
    return Variances(paired.problems, paired.count, accuracy, between, sampling * float(samples))


def assume_variances(problems: int, accuracy: float, assumed: Assumed) -> Variances:
    """The variances of two models of the same accuracy, 0..1."""
    spread = accuracy * (1 - accuracy)
    between = 2 * spread * assumed.correlation * (1 - assumed.alike)
    return Variances(problems, problems, accuracy, between, 2 * spread * (1 - assumed.correlation))


def resize(one: Variances, problems: int) -> Variances:
    """The variances of the same models on another number of such problems, clustered alike."""
    return replace(one, problems=problems, units=max(1, round(one.units * problems / one.problems)))


def move(one: Variances, gain: float) -> Variances:
    """The variances where one of the models is better by `gain`: accuracies nearer to one half vary more."""
    seen = (one.accuracy * one.units + 1) / (one.units + 2)  # never 0 or 1
    # Measured variances are of the accuracies that were seen; the better model is taken to lie nearer to one half.
    moved = min(min(seen, 1 - seen) + gain, 0.5)
    growth = (seen * (1 - seen) + moved * (1 - moved)) / (2 * seen * (1 - seen))
    nearer = min(one.accuracy + gain / 2, 0.5) if one.accuracy < 0.5 else max(one.accuracy - gain / 2, 0.5)
    return Variances(one.problems, one.units, nearer, one.between * growth, one.within * growth)


def find_power(each: Sequence[Variances], gain: float, samples: int, level: float) -> float:
    """The chance that a gain in the mean over benchmarks is found.

    Args:
        each: benchmarks, which weigh alike.
        gain: the true one, 0..1, the same on each.
        samples: per problem, of both models.
        level: 1 - the error of the test.
    """
    from scipy.special import ndtr

    real = believed = freedom = 0.0
    for one in (move(one, gain) for one in each):
        total = one.total(samples)
        size = (one.units * total + 1) / (one.units + 1)
        size += (1 - size) * (FEW / max(one.units * min(one.accuracy, 1 - one.accuracy), FEW)) ** 2
        own = (total + 2 * size / one.units) / one.units / len(each) ** 2
        real += total / one.units / len(each) ** 2
        believed += own
        freedom += own**2 / max(one.units - 1, 2)
    if not real:
        return 0.0
    need = student(believed**2 / freedom, level) * sqrt(believed)
    return float(ndtr((gain - need) / sqrt(real)))


def find_gain(each: Sequence[Variances], samples: int, level: float) -> float | None:
    """The smallest gain, 0..1, that is found in 80 of 100 repetitions; None where none is."""
    sizes = np.arange(1, 1_001) / 1_000
    return next((float(size) for size in sizes if find_power(each, float(size), samples, level) >= POWER), None)


def find_samples(each: Sequence[Variances], gain: float, level: float) -> int | None:
    """Samples per problem with which `gain` is found in 80 of 100 repetitions; None where no number up to `MOST_SAMPLES` does."""
    if find_power(each, gain, MOST_SAMPLES, level) < POWER:
        return None
    return next(count for count in range(1, MOST_SAMPLES + 1) if find_power(each, gain, count, level) >= POWER)


@dataclass(frozen=True)
class Chance:
    """What a comparison can show: of one benchmark, or of their average."""

    name: str
    problems: int
    units: int
    power: tuple[float, float, float]
    """Low, middle and high; all alike where the variances are measured."""

    smallest: float | None
    """Gain that is found in 80 of 100 repetitions, 0..1."""

    samples: int | None
    """Per problem, with which the planned gain is."""

    source: str
    """`measured`, `assumed`, or `measured and assumed`."""


def levels(models: int, benchmarks: int) -> tuple[float, float]:
    """At what level the pair that decides is tested first: its average, and each of its benchmarks.

    Args:
        models: that are compared, two at least.
        benchmarks: of the pair.
    """
    error = (1 - LEVEL) * (PRIMARY_SHARE if models > 2 else 1)
    return 1 - error, 1 - error / benchmarks


def plan_chances(
    measured: Mapping[str, Variances],
    problems: Mapping[str, int],
    *,
    accuracy: float,
    gain: float,
    samples: int,
    models: int,
) -> list[Chance]:
    """The chance to find a gain on each benchmark, and on their average, the last of the list.

    Args:
        measured: benchmark to its variances in an earlier run, for those that it has, on whatever number of problems.
        problems: benchmark to its number of problems.
        accuracy: of both models where no earlier run says it, 0..1.
        gain: 0..1.
        samples: per problem.
        models: that are compared; more than two share the level.
    """
    cases = {
        name: [resize(measured[name], count)] * 3 if name in measured else [assume_variances(count, accuracy, one) for one in (UNSURE, LIKELY, SURE)]
        for name, count in problems.items()
    }  # fmt: skip
    average, single = levels(models, len(problems))

    def chance(name: str, each: Sequence[Sequence[Variances]], level: float, sources: set[str]) -> Chance:
        """Of benchmarks, each with its variances low, middle and high."""
        low, middle, high = ([one[place] for one in each] for place in range(3))
        return Chance(
            name,
            sum(one.problems for one in middle),
            sum(one.units for one in middle),
            tuple(find_power(one, gain, samples, level) for one in (low, middle, high)),  # type: ignore[arg-type]
            find_gain(middle, samples, level),
            find_samples(middle, gain, level),
            " and ".join(sorted(sources, reverse=True)),
        )

    source = {name: "measured" if name in measured else "assumed" for name in problems}
    found = [chance(name, [each], single, {source[name]}) for name, each in cases.items()]
    return [*found, chance("average", list(cases.values()), average, set(source.values()))]
