"""Which problems each RL stage trains on: the level mix of `curriculum.mixes`, filled by a stated rule.

The rule: a stage takes of each level its share of `problems`, first those that no earlier stage took, in the order of a
seeded hash of their id. What a level lacks comes from the nearest level with problems left, the easier of two equally
near; only levels of the stage's mix and levels next to one of them give. A set that is still short stays short.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from compass.curriculum.source_levels import LEVELS
from compass.seeded_draw import draw


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
