"""Simulated benchmark results of two models whose true difference is known: problems differ, samples of one problem are alike."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from compass.evaluation.paired import Paired


class Truth(NamedTuple):
    """What a pair of models is drawn from."""

    problems: int
    samples: tuple[int, int] = (8, 8)
    """Fewest and most samples per problem of the first model, drawn evenly."""
    other_samples: tuple[int, int] = (8, 8)
    accuracy: float = 0.5
    other: float = 0.5
    """The two models' accuracies over all problems there could be."""
    correlation: float = 0.3
    """Of two samples of one model on one problem (intra-class)."""
    other_correlation: float = 0.3
    alike: float = 0.5
    """How far what is hard for one model is hard for the other, 0..1 (correlation of the Gaussian copula)."""
    clusters: tuple[int, ...] = ()
    """Sizes of the clusters of problems, which add up to `problems`; empty where every problem stands alone."""
    within: float = 0.0
    """How alike the problems of a cluster are, for each model and for what both have in common, 0..1 (as `alike`)."""


def draw(truth: Truth, generator: np.random.Generator) -> Paired:
    """One benchmark: chances per problem from beta distributions, tied by a Gaussian copula, and samples from the chances."""
    from scipy.stats import norm

    common, *own = generator.standard_normal((3, truth.problems))
    labels = None
    if truth.clusters:
        labels = np.repeat(np.arange(len(truth.clusters)), truth.clusters)
        shared = generator.standard_normal((3, len(truth.clusters)))[:, labels]
        mixed = np.sqrt(truth.within) * shared + np.sqrt(1 - truth.within) * np.array([common, *own])
        common, *own = mixed
    results = []
    for noise, accuracy, correlation, (fewest, most) in zip(
        own,
        (truth.accuracy, truth.other),
        (truth.correlation, truth.other_correlation),
        (truth.samples, truth.other_samples),
        strict=True,
    ):
        rank = norm.cdf(np.sqrt(truth.alike) * common + np.sqrt(1 - truth.alike) * noise)
        chances = draw_chances(rank, accuracy, correlation)
        samples = generator.integers(fewest, most + 1, truth.problems)
        results.append((generator.binomial(samples, chances) / samples, samples))
    (shares, samples), (other, other_samples) = results
    return Paired(shares, other, samples, other_samples, clusters=labels)


def draw_equal(
    models: int,
    problems: int,
    samples: int,
    accuracy: float,
    generator: np.random.Generator,
    *,
    correlation: float = 0.3,
    alike: float = 0.5,
) -> np.ndarray:
    """Shares of right samples (models, problems) of models that are equally good, drawn as `draw` draws two."""
    from scipy.stats import norm

    common, own = generator.standard_normal(problems), generator.standard_normal((models, problems))
    rank = norm.cdf(np.sqrt(alike) * common + np.sqrt(1 - alike) * own)
    return generator.binomial(samples, draw_chances(rank, accuracy, correlation)) / samples


def draw_chances(ranks: np.ndarray, accuracy: float, correlation: float) -> np.ndarray:
    """The chances that problems of these ranks, 0..1, are solved; an accuracy of 0 or 1 is that of every problem."""
    return np.interp(ranks, *_quantiles(accuracy, correlation)) if 0 < accuracy < 1 else np.full(ranks.shape, accuracy)


_TABLES: dict[tuple[float, float], tuple[np.ndarray, np.ndarray]] = {}


def _quantiles(accuracy: float, correlation: float) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and the beta distribution's values there, whose mean is exactly `accuracy`."""
    from scipy.stats import beta

    if (accuracy, correlation) not in _TABLES:
        spread = 1 / correlation - 1
        ranks = np.linspace(0, 1, 20_001)
        values = beta.ppf(ranks, accuracy * spread, (1 - accuracy) * spread)
        _TABLES[accuracy, correlation] = ranks, values
    return _TABLES[accuracy, correlation]
