"""From verified problems to the training set of each RL stage: their levels, and the level mix of `curriculum.mixes`, filled by a rule.

A problem trains at its graded level, or at its source's own where the settings allow. The rule: a stage takes of each level its
share of `problems`, first those that no earlier stage took, in the order of a seeded hash of their id. What a level lacks comes
from the nearest level with problems left, the easier of two equally near; only levels of the stage's mix and levels next to one
of them give. A set that is still short stays short.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from compass.ledger import Drop, Reason, split
from compass.records import SOLVE_RATE, join_stages, with_column
from compass.seeded_draw import draw
from compass.settings import Curriculum

LEVELS = (1, 2, 3, 4, 5)

_NUMBER = re.compile(r"(?:(?<!\w)-)?(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d*\.\d+|\d+)")
"""A number; in `level-3` the hyphen belongs to the word."""


def source_levels(sources: Sequence[str], published: Sequence[str | None]) -> list[int | None]:
    """Levels 1-5 from what sources publish, None where nothing can be read.

    A source whose difficulties are all whole numbers from 1 to 5 is taken as it is ("Level 3" is 3). Any other
    scale (AIME's 2.0-7.5, HARP's 6-9) is ranked within its source into five parts of about equal size; equal
    difficulties share a level, that of the middle one. Solve rates are ranked the other way: what is solved least is hardest.

    Args:
        sources: each problem's source.
        published: each problem's difficulty as published.
    """
    values = [_value(text) for text in published]
    scales: dict[str, list[float]] = {}
    for source, value in zip(sources, values, strict=True):
        if value is not None:
            scales.setdefault(source, []).append(value)
    ranked = {source: sorted(scale) for source, scale in scales.items() if not all(value in LEVELS for value in scale)}
    return [
        None if value is None else _quantile(ranked[source], value) if source in ranked else int(value)
        for source, value in zip(sources, values, strict=True)
    ]


def _value(text: str | None) -> float | None:
    text = text or ""
    match = _NUMBER.search(text)
    if match is None:
        return None
    number = float(match[0].replace(",", ""))
    return -number if text.startswith(SOLVE_RATE) else number


def _quantile(scale: list[float], value: float) -> int:
    """The fifth of a sorted scale in which the middle one of the values equal to `value` lies."""
    middle = (bisect_left(scale, value) + bisect_right(scale, value) - 1) / 2
    return min(5, int(5 * middle / len(scale)) + 1)


@dataclass(frozen=True)
class Selection:
    """A stage's training set: ids, and for each level how many were wanted, had and borrowed."""

    ids: list[str]
    wanted: dict[int, int]
    taken: dict[int, int]
    borrowed: list[dict[str, int]] = field(default_factory=list)

    @property
    def missing(self) -> int:
        """Problems that no allowed level could give."""
        return sum(self.wanted.values()) - len(self.ids)


def select_problems(
    levels: Mapping[str, int], mixes: Mapping[str, Mapping[str, float]], problems: int, seed: int
) -> dict[str, Selection]:
    """Choose the training problems of every stage.

    Args:
        levels: level 1-5 of each problem by its id.
        mixes: for each stage, in training order, the share of every level.
        problems: most problems in a stage's set.
        seed: of the hash that orders problems; the same seed and ids give the same sets.
    """
    by_level: dict[int, list[str]] = {level: [] for level in LEVELS}
    for id_ in draw(levels, len(levels), seed):
        by_level[levels[id_]].append(id_)
    uses: dict[str, int] = {}
    chosen = {}
    for stage, mix in mixes.items():
        # sorted() is stable: among equally often used problems the hash decides.
        ordered = {level: sorted(ids, key=lambda id_: uses.get(id_, 0)) for level, ids in by_level.items()}
        chosen[stage] = _fill(ordered, quotas(mix, problems))
        for id_ in chosen[stage].ids:
            uses[id_] = uses.get(id_, 0) + 1
    return chosen


def quotas(mix: Mapping[str, float], problems: int) -> dict[int, int]:
    """Problems of each level in a set of `problems`, by the largest remainders, so that they add up."""
    exact = {int(level): share * problems for level, share in mix.items() if share > 0}
    whole = {level: int(count + 1e-9) for level, count in exact.items()}
    by_remainder = sorted(exact, key=lambda level: (whole[level] - exact[level], level))
    for level in by_remainder[: problems - sum(whole.values())]:
        whole[level] += 1
    return dict(sorted(whole.items()))


def _fill(ordered: Mapping[int, Sequence[str]], wanted: dict[int, int]) -> Selection:
    taken = {level: min(wanted.get(level, 0), len(ordered[level])) for level in LEVELS}
    borrowed = []
    for level, count in wanted.items():
        lacking = count - min(count, len(ordered[level]))
        givers = [giver for giver in LEVELS if giver != level and any(abs(giver - own) <= 1 for own in wanted)]
        for giver in sorted(givers, key=lambda giver: (abs(giver - level), giver)):
            given = min(lacking, len(ordered[giver]) - taken[giver])
            if given > 0:
                taken[giver] += given
                lacking -= given
                borrowed.append({"for": level, "from": giver, "problems": given})
    ids = [id_ for level in LEVELS for id_ in ordered[level][: taken[level]]]
    return Selection(ids, wanted, {level: count for level, count in taken.items() if count}, borrowed)


def curriculum(records: pa.Table, settings: Curriculum, seed: int) -> tuple[pa.Table, pa.Table, dict[str, Selection]]:
    """Choose training problems; `stages` of a kept row names the RL stages that train on it.

    Args:
        records: verified `RECORD` rows.
        settings: the section `curriculum`.
        seed: of the order in which problems are taken.

    Returns:
        Kept rows, with `level` and `stages` filled, dropped rows, and each stage's selection.
    """
    rows = records.select(["id", "source", "source_level", "level", "solve_rate", "findings"]).to_pylist()
    own = source_levels([r["source"] for r in rows], [r["source_level"] for r in rows])
    levels: list[int | None] = [
        row["level"] if row["level"] is not None else own_level if settings.use_source_level else None
        for row, own_level in zip(rows, own, strict=True)
    ]
    verdicts = [_trainable(row, level, settings) for row, level in zip(rows, levels, strict=True)]
    candidates = {
        row["id"]: level
        for row, level, verdict in zip(rows, levels, verdicts, strict=True)
        if verdict is None and level is not None
    }
    chosen = select_problems(candidates, settings.mixes, settings.problems, seed)
    stages: dict[str, list[str]] = {}
    for stage, selection in chosen.items():
        for id_ in selection.ids:
            stages.setdefault(id_, []).append(stage)
    for position, row in enumerate(rows):
        if verdicts[position] is None and row["id"] not in stages:
            verdicts[position] = Drop(Reason.NOT_SELECTED, {"level": levels[position]})
    filled = with_column(records, "level", levels)
    filled = with_column(filled, "stages", [join_stages(stages.get(row["id"], ())) for row in rows])
    kept, dropped = split(filled, verdicts, "curriculum")
    return kept, dropped, chosen


def _trainable(row: dict[str, Any], level: int | None, settings: Curriculum) -> Drop | None:
    if settings.sources and row["source"] not in settings.sources:
        return Drop(Reason.NOT_SELECTED, {"source": row["source"], "sources": settings.sources})
    if row["findings"] and settings.doubtful == "drop":
        return Drop(Reason.DOUBTFUL, {"findings": json.loads(row["findings"])})
    lowest, highest = settings.solve_rate
    rate = row["solve_rate"]
    if level is None:
        return Drop(
            Reason.UNGRADED, {"source_level": row["source_level"], "use_source_level": settings.use_source_level}
        )
    if rate is not None and not lowest <= rate <= highest:
        return Drop(Reason.SOLVE_RATE, {"solve_rate": rate, "allowed": [lowest, highest]})
    return None
