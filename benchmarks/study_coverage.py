"""How often the 95% interval of a study holds the true difference of two recipes, and how often equal recipes are told apart.

    python benchmarks/study_coverage.py

A run's accuracy on 300 problems with 8 samples each: a problem's chance is logistic in its hardness, which the arms of a seed share in
part, in the seed's own effect and in the run's. The standard deviations of these are 3.8 points between seeds and 2.1 between runs of one
seed: the differences of two arms per seed then spread by 3.2 points, about the middle of what was measured on profile `tiny`
(docs/measurements/studies.md). Run effects are normal, have the tails of Student's t with 4 degrees of freedom, or are
normal but for one run in 20 that collapses by 20 points. Compared: Student's interval of the differences per seed, which a study uses, and the
percentile bootstrap over seeds and, within them, problems. About five minutes on one core; prints Markdown tables.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import expit

from compass.studies.statistics import compare_arms, count_needed_seeds, find_power, interval

STUDIES = 1000
RESAMPLES = 200
PROBLEMS, SAMPLES = 300, 8
CENTRE, SLOPE = 1.6, 0.072
"""Logits of a problem of middle hardness, and per point of accuracy: about 76% at this hardness."""
SEED_SD, RUN_SD = 3.8, 2.1
"""Points."""
HARDNESS, ALIKE = 1.5, 0.8
"""Standard deviation of a problem's hardness in logits, and the part of its variance that arms share."""
EFFECT = 3.0
"""Points by which the last arm differs where it does."""
TAILS = ("normal", "heavy", "collapse")


def draw_scores(
    studies: int, arms: int, seeds: int, effect: float, tails: str, generator: np.random.Generator
) -> np.ndarray:
    """Shares of right samples (studies, arms, seeds, problems); the last arm is better by about `effect` points."""
    shape = (studies, arms, seeds)
    run = generator.standard_normal(shape)
    if tails == "heavy":
        run = generator.standard_t(4, shape) / np.sqrt(2)
    points = RUN_SD * run + (SEED_SD * generator.standard_normal(shape[::2]))[:, None]
    if tails == "collapse":
        points -= 20 * (generator.random(shape) < 0.05)
    points[:, -1] += effect
    common = generator.standard_normal((studies, 1, seeds, PROBLEMS))
    own = generator.standard_normal((*shape, PROBLEMS))
    hardness = HARDNESS * (np.sqrt(ALIKE) * common + np.sqrt(1 - ALIKE) * own)
    return generator.binomial(SAMPLES, expit(CENTRE + SLOPE * points[..., None] - hardness)) / SAMPLES


def draw_means(arms: int, seeds: int, effect: float, tails: str, generator: np.random.Generator) -> np.ndarray:
    """Accuracies (studies, arms, seeds) of `STUDIES` studies, drawn in parts that fit into memory."""
    parts = [draw_scores(STUDIES // 10, arms, seeds, effect, tails, generator).mean(axis=3) for _ in range(10)]
    return np.concatenate(parts)


def bootstrap(differences: np.ndarray, generator: np.random.Generator) -> tuple[float, float]:
    """The percentile bootstrap over seeds and, within them, problems, of differences (seeds, problems)."""
    seeds, problems = differences.shape
    chosen = generator.integers(seeds, size=(RESAMPLES, seeds))
    items = generator.integers(problems, size=(RESAMPLES, seeds, problems))
    means = differences[chosen[..., None], items].mean(axis=(1, 2))
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def coverage() -> None:
    """Print coverage and mean width (points) of both intervals."""
    generator = np.random.default_rng(0)
    print("| seeds | run effects | true difference | Student | bootstrap |\n|---|---|---|---|---|")
    for seeds, tails, effect in product((3, 5, 10), TAILS, (0.0, EFFECT)):
        true = 0.0
        if effect:
            large = draw_scores(2000, 2, 5, effect, tails, generator).mean(axis=(0, 2, 3))
            true = float(large[1] - large[0])
        shares = draw_scores(STUDIES, 2, seeds, effect, tails, generator)
        differences = shares[:, 1] - shares[:, 0]
        held = {
            "Student": [interval(one.mean(axis=1).tolist()) for one in differences],
            "bootstrap": [bootstrap(one, generator) for one in differences],
        }
        cells = []
        for limits in held.values():
            low, high = np.transpose([one or (-1.0, 1.0) for one in limits])
            cells.append(f"{np.mean((low <= true) & (true <= high)):.3f} ({100 * np.mean(high - low):.1f})")
        print(f"| {seeds} | {tails} | {100 * true:.1f} | {' | '.join(cells)} |", flush=True)


def verdicts() -> None:
    """Print how often equal arms are called better or worse, and the verdicts where one arm is better by `EFFECT`."""
    generator = np.random.default_rng(1)
    names = ("better", "worse", "tied", "cannot tell", "too few seeds")
    print("\n| seeds | arms | run effects | any equal arm called better or worse |\n|---|---|---|---|")
    for seeds, arms, tails in product((3, 5, 10), (2, 6), TAILS):
        means = draw_means(arms, seeds, 0.0, tails, generator)
        found = [
            any(one.verdict in ("better", "worse") for one in compare_arms(_named(study), smallest=0.03, planned=seeds))
            for study in means
        ]
        print(f"| {seeds} | {arms} | {tails} | {np.mean(found):.3f} |", flush=True)
    print(f"\n| seeds | true difference | {' | '.join(names)} |\n|---|---|{'---|' * len(names)}")
    for seeds, effect in product((3, 5, 10), (0.0, EFFECT, 2 * EFFECT)):
        means = draw_means(2, seeds, effect, "normal", generator)
        seen = [compare_arms(_named(study), smallest=0.03, planned=seeds)[0].verdict for study in means]
        print(
            f"| {seeds} | about {effect:g} | {' | '.join(f'{np.mean([one == name for one in seen]):.2f}' for name in names)} |"
        )


def seeds_needed() -> None:
    """Print the power of studies by their seeds, and the seeds that find a difference in 4 of 5 studies."""
    generator = np.random.default_rng(2)
    means = draw_scores(5000, 2, 1, 0.0, "normal", generator).mean(axis=3)[..., 0]
    spread = float((means[:, 1] - means[:, 0]).std(ddof=1))
    print(f"\nStandard deviation of a seed's difference: {100 * spread:.1f} points\n")
    print("| true difference, points | 3 seeds | 5 seeds | 10 seeds | seeds for 80% |\n|---|---|---|---|---|")
    for points in (2, 3, 5, 8):
        power = " | ".join(f"{100 * find_power(seeds, spread, points / 100):.0f}%" for seeds in (3, 5, 10))
        print(f"| {points} | {power} | {count_needed_seeds(spread, points / 100)} |")


def _named(study: np.ndarray) -> dict[str, dict[int, float]]:
    """Scores (arms, seeds) by their names."""
    return {f"arm-{number}": dict(enumerate(arm.tolist())) for number, arm in enumerate(study)}


if __name__ == "__main__":
    coverage()
    verdicts()
    seeds_needed()
