"""Grade problems: sample rollouts, score them, fill in solve rate and level 1 (easy) to 5 (hard).

A solve rate is the share of a problem's samples that are right (report, section 4.2). Two rules make levels of them.
`thresholds`: by the solve rate alone, so that a level means the same in every dataset. `quantiles`: five levels of about
equal size by rank, so that every level has problems however strong the grader is. A few rollouts give few distinct solve rates;
within one solve rate quantiles rank the problem with the longer mean response as harder, and problems that agree in both by id.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.golds import golds
from compass.records import RecordError, with_column
from compass.sampling.model_source import find_model
from compass.sampling.response import PROMPT_TOO_LONG
from compass.sampling.resume import sample_responses
from compass.sampling.score import leaned_shares, score_responses
from compass.seeded_draw import draw
from compass.settings import Grade


@dataclass(frozen=True)
class SolveRate:
    """One problem's rollouts: how many, the share that is right, and their mean length in tokens."""

    rollouts: int
    rate: float
    mean_tokens: float


def solve_rates(rollouts: pa.Table) -> dict[str, SolveRate]:
    """Solve rate by problem id.

    Args:
        rollouts: columns `id`, `correct`, `tokens`, `finish_reason`. Problems whose prompt was too long to sample
            have no solve rate.
    """
    counts: dict[str, list[int]] = {}
    for name, correct, tokens in _rows(sampled(rollouts), ("id", "correct", "tokens")):
        count = counts.setdefault(name, [0, 0, 0])
        count[0] += 1
        count[1] += correct
        count[2] += tokens
    return {name: SolveRate(n, right / n, tokens / n) for name, (n, right, tokens) in counts.items()}


def sampled(rollouts: pa.Table) -> pa.Table:
    """The rollouts without those of problems whose prompt was too long to sample."""
    return rollouts.filter(pc.not_equal(rollouts.column("finish_reason"), PROMPT_TOO_LONG))


def _rows(table: pa.Table, columns: tuple[str, ...]) -> Iterable[tuple]:
    return zip(*(table.column(name).to_pylist() for name in columns), strict=True)


HARDEST = 5
"""The highest level; 1 is the easiest."""


def assign_levels(rates: Mapping[str, SolveRate], settings: Grade) -> dict[str, int]:
    """Level by problem id, by the rule that `settings.levels` names."""
    if settings.levels == "thresholds":
        return {name: threshold_level(rate.rate, settings.thresholds) for name, rate in rates.items()}
    return quantile_levels(rates)


def threshold_level(rate: float, thresholds: Sequence[float]) -> int:
    """1 plus the number of `thresholds` that `rate` does not reach.

    Args:
        rate: solve rate, 0..1.
        thresholds: the lowest solve rates of levels 1, 2, 3 and 4, falling.
    """
    return 1 + sum(rate < threshold for threshold in thresholds)


def quantile_levels(rates: Mapping[str, SolveRate]) -> dict[str, int]:
    """Five levels whose sizes differ by one problem at most, the highest solve rates in level 1."""
    ranked = sorted(rates, key=lambda name: (-rates[name].rate, rates[name].mean_tokens, name))
    return {name: 1 + rank * HARDEST // len(ranked) for rank, name in enumerate(ranked)}


def sample_rollouts(records: pa.Table, settings: Grade, *, seed: int, work: str | Path) -> pa.Table:
    """Sample and score the rollouts of every problem that is graded.

    Args:
        records: `RECORD` rows; with `settings.max_problems` a seeded draw of them is graded.
        settings: the grader and how it samples.
        seed: the run's seed.
        work: folder of resumable work.

    Returns:
        Columns `id`, `sample`, `answer`, `correct`, `boxed`, `leniencies`, `tokens`, `finish_reason`, `response`, in the records' order.

    Raises:
        RecordError: two records with one id.
        SamplingError: the grader cannot be used.
    """
    problems = dict(zip(*(records.column(name).to_pylist() for name in ("id", "problem")), strict=True))
    if len(problems) != records.num_rows:
        raise RecordError(f"grade: {records.num_rows} records have {len(problems)} distinct ids; run collect again")
    drawn = set(draw(problems, settings.max_problems, f"{seed}\0draw"))
    responses = sample_responses(
        {name: problem for name, problem in problems.items() if name in drawn},
        model=find_model(settings.model, settings.revision),
        sampling=settings.sampling,
        n=settings.rollouts,
        seed=seed,
        folder=work,
        what="rollouts",
    )
    scored = score_responses(responses, golds(records), problems)
    return scored.select(
        ["id", "sample", "answer", "correct", "boxed", "leniencies", "tokens", "finish_reason", "response"]
    )


def fill_levels(records: pa.Table, rollouts: pa.Table, settings: Grade) -> tuple[pa.Table, dict[str, Any]]:
    """Records with `n_rollouts`, `solve_rate` and `level`; null for problems that were not graded.

    Returns:
        The records, and what was measured: problems graded, not drawn or too long to sample, how many of them nobody or everybody solved, each level's
        size and mean solve rate, the mean response length in tokens, the share of rollouts that give no answer, and of the right rollouts the
        share that leans on each leniency.
    """
    rates = solve_rates(rollouts)
    level = assign_levels(rates, settings)
    ids = records.column("id").to_pylist()
    columns = {
        "n_rollouts": [rates[name].rollouts if name in rates else None for name in ids],
        "solve_rate": [rates[name].rate if name in rates else None for name in ids],
        "level": [level.get(name) for name in ids],
    }
    for name, values in columns.items():
        records = with_column(records, name, values)
    too_long = len(set(rollouts.column("id").to_pylist())) - len(rates)
    measured = _measured(rates, level, not_drawn=len(ids) - len(rates) - too_long, prompt_too_long=too_long)
    unanswered = pc.mean(pc.is_null(sampled(rollouts).column("answer"))).as_py() if rates else None
    return records, measured | {"unanswered": unanswered, "leaned": leaned_shares(rollouts)}


def _measured(rates: dict[str, Any], level: dict[str, int], *, not_drawn: int, prompt_too_long: int) -> dict[str, Any]:
    sizes = Counter(level.values())
    solved = [rate.rate for rate in rates.values()]
    return {
        "graded": len(rates),
        "not_drawn": not_drawn,
        "prompt_too_long": prompt_too_long,
        "solve_rate": sum(solved) / len(solved) if solved else None,
        "never_solved": sum(rate == 0 for rate in solved),
        "always_solved": sum(rate == 1 for rate in solved),
        "tokens": sum(rate.mean_tokens for rate in rates.values()) / len(rates) if rates else None,
        "levels": {
            str(number): {
                "problems": sizes[number],
                "solve_rate": sum(rates[name].rate for name in level if level[name] == number) / sizes[number],
            }
            for number in sorted(sizes)
        },
    }
