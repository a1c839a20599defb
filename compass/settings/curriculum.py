"""Settings of `curriculum`."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from compass.settings.section import Positive, Probability, Section


class Curriculum(Section):
    """Which levels each RL stage trains on, and in what share (report section 1: stages of different difficulty)."""

    mixes: dict[str, dict[Literal["1", "2", "3", "4", "5"], Probability]]
    """For each stage of `rl.stages`, in the same order, the share of every level; shares of a stage add up to 1."""

    problems: Positive = 1024
    """Most problems in the training set of one stage."""

    sources: list[str] = []
    """Train on rows of these sources alone, by their names in `collect.sources`; empty trains on all. RL learns little from problems
    whose solutions a warm start (`base.warm_start.sources`) has already taught."""

    solve_rate: list[Probability] = [0.0, 1.0]
    """Lowest and highest solve rate that is trained on, ends included; a problem nobody or everybody solves teaches nothing."""

    use_source_level: bool = False
    """Use the source's own difficulty for problems that were not graded."""

    doubtful: Literal["keep", "drop"] = "keep"
    """Whether to train on rows that a noise filter doubts (`denoise.strictness`)."""

    @model_validator(mode="after")
    def _shares(self) -> Curriculum:
        for stage, mix in self.mixes.items():
            if abs(sum(mix.values()) - 1) > 1e-6:
                raise ValueError(f"`mixes.{stage}` adds up to {sum(mix.values()):g}, not 1")
        if len(self.solve_rate) != 2 or self.solve_rate[0] > self.solve_rate[1]:
            raise ValueError(f"`solve_rate` must be [lowest, highest], found {self.solve_rate}")
        return self
