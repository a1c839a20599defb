"""Settings of `grade`."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from compass.settings.sampling import Sampling
from compass.settings.section import Commit, NotNegative, Positive, Probability, Section


class Grade(Section):
    """Difficulty 1-5 by a grader's solve rate (report section 4.2; Big-Math's method)."""

    model: str = "models/base"
    """The grader: a folder or hub id (the report uses an 8B Llama). The pipeline's own base policy in the tiny profile."""

    revision: Commit = ""
    """The commit of a hub id, 40 hex digits; required for one."""

    sources: list[str] = []
    """Grade rows of these sources alone, by their names in `collect.sources`; empty grades all. What RL does not train on
    (`curriculum.sources`) need not be graded."""

    rollouts: Positive = 8
    """Solutions sampled for each problem."""

    sampling: Sampling = Sampling()
    """How they are sampled."""

    max_problems: NotNegative = 0
    """Grade so many problems, drawn by a seeded hash of their id, and leave the rest ungraded; 0 grades all."""

    doubtful: Literal["keep", "drop"] = "keep"
    """Whether to grade rows that a noise filter doubts; those that are left out have no level. `drop` goes with
    `curriculum.doubtful: drop`."""

    levels: Literal["quantiles", "thresholds", "operations"] = "quantiles"
    """`quantiles`: five levels of about equal size by rank of solve rate. `thresholds`: by the solve rate alone. `operations`: by the
    arithmetic operations of the row's own solution, one per level and five or more in level 5; a row whose solution writes none has no level."""

    thresholds: list[Probability] = [0.8, 0.6, 0.4, 0.2]
    """With `thresholds`: the lowest solve rate of levels 1, 2, 3 and 4, falling."""

    stop_when_certain: Probability = 0.0
    """With `thresholds`: sample no more of a problem once the level of its solve rate is this probable, looked at after every 8
    rollouts; 0 samples `rollouts` of every problem. On a real model's 64 rollouts 0.95 saves 39% of them and changes one level in a
    thousand (docs/reference/curation.md)."""

    @model_validator(mode="after")
    def _certain(self) -> Grade:
        if self.stop_when_certain and self.levels != "thresholds":
            raise ValueError(
                "`stop_when_certain` needs `levels: thresholds`: by quantiles a problem's level depends on all others"
            )
        if self.stop_when_certain == 1:
            raise ValueError(
                "`stop_when_certain: 1` never stops, for no level is certain; give a share such as 0.95, or 0"
            )
        return self

    @model_validator(mode="after")
    def _rollouts_differ(self) -> Grade:
        self.sampling.check_samples("rollouts", self.rollouts)
        return self

    @model_validator(mode="after")
    def _falling(self) -> Grade:
        if len(self.thresholds) != 4 or sorted(set(self.thresholds), reverse=True) != self.thresholds:
            raise ValueError(f"`thresholds` must be four falling solve rates, found {self.thresholds}")
        return self

    @model_validator(mode="after")
    def _revision_of_a_hub_id(self) -> Grade:
        if self.revision and self.model.startswith("models/"):
            raise ValueError(
                f"`revision` is for a hub id in `model`, which is {self.model!r}, a model of this pipeline"
            )
        return self
