"""A whole parameter file, and the names of the pipeline's stages."""

from __future__ import annotations

from pydantic import model_validator

from compass.settings.base import Base
from compass.settings.collect import Collect
from compass.settings.curation import Curation
from compass.settings.curriculum import Curriculum
from compass.settings.dedup import Dedup
from compass.settings.denoise import Denoise
from compass.settings.engines import Engines
from compass.settings.evaluate import Evaluate
from compass.settings.grade import Grade
from compass.settings.report import Report
from compass.settings.rl import Rl
from compass.settings.section import NotNegative, Section
from compass.settings.verify import Verify

BEFORE_RL = ("collect", "dedup", "denoise", "base", "grade", "verify", "curriculum")
AFTER_RL = ("evaluate", "report")


class Settings(Section):
    """A whole parameter file."""

    profile: str
    """The name of the profile it came from."""

    seed: NotNegative = 0
    """Seed of everything random: generated problems, pre-training, sampling, RL, tests of differences."""

    curation: Curation = Curation()
    engines: Engines = Engines()
    collect: Collect
    dedup: Dedup = Dedup()
    denoise: Denoise = Denoise()
    base: Base
    grade: Grade = Grade()
    verify: Verify = Verify()
    curriculum: Curriculum
    rl: Rl
    evaluate: Evaluate = Evaluate()
    report: Report = Report()

    @model_validator(mode="after")
    def _names(self) -> Settings:
        if taken := [name for name in self.rl.stages if name in (*BEFORE_RL, *AFTER_RL)]:
            raise ValueError(f"`rl.stages.{taken[0]}`: another stage has this name")
        if list(self.curriculum.mixes) != list(self.rl.stages):
            raise ValueError(
                f"`curriculum.mixes` needs the stages of `rl.stages` in their order ({', '.join(self.rl.stages)}), "
                f"found {', '.join(self.curriculum.mixes) or 'none'}"
            )
        sources = [source.name for source in self.collect.sources]
        if unknown := [name for name in self.curriculum.sources if name not in sources]:
            raise ValueError(f"`curriculum.sources` has {unknown[0]!r}; allowed: {', '.join(sources)}")
        if self.denoise.min_problem_chars > self.collect.max_problem_chars:
            raise ValueError(
                f"`denoise.min_problem_chars` ({self.denoise.min_problem_chars}) must be at most `collect.max_problem_chars` "
                f"({self.collect.max_problem_chars}), or every problem is dropped"
            )
        self._check_amounts()
        self._check_levels()
        if unknown := [name for name in self.evaluate.models if name not in self.models]:
            raise ValueError(f"`evaluate.models` has {unknown[0]!r}; allowed: {', '.join(self.models)}")
        scored = self.evaluate.models or self.models
        if (pair := self.report.primary) and (len(set(pair)) != 2 or not set(pair) <= set(scored)):
            raise ValueError(
                f"`report.primary` needs two models that are evaluated ({', '.join(scored)}), found {', '.join(pair)}"
            )
        if self.evaluate.until == "verdict" and len(scored) < 2:
            raise ValueError(
                f"`evaluate.until: verdict` compares two models, and {scored[0]} alone is evaluated; add one"
            )
        return self

    def _check_amounts(self) -> None:
        """Check that the training set of every RL stage can fill a batch."""
        for name, stage in self.rl.stages.items():
            batch, held = stage.data.batch_size, stage.checkpoint.validation_problems
            if batch > self.curriculum.problems:
                raise ValueError(
                    f"`curriculum.problems` ({self.curriculum.problems}) must be at least `data.batch_size` of every RL stage; "
                    f"{name} has {batch}"
                )
            if batch + held > self.curriculum.problems:
                raise ValueError(
                    f"`curriculum.problems` ({self.curriculum.problems}) must be at least `data.batch_size` ({batch}) and "
                    f"`checkpoint.validation_problems` ({held}) of {name} together"
                )

    def _check_levels(self) -> None:
        """Check that every level that an RL stage wants can have problems."""
        grade, wanted = self.grade, self.curriculum
        if grade.levels != "thresholds" and grade.thresholds != Grade().thresholds:
            raise ValueError(
                f"`grade.thresholds` needs `grade.levels: thresholds`; `{grade.levels}` reads no thresholds"
            )
        if grade.levels != "thresholds" or wanted.use_source_level:
            return
        lowest, highest = wanted.solve_rate
        tops, floors = [1.0, *grade.thresholds], [*grade.thresholds, 0.0]
        for stage, mix in wanted.mixes.items():
            for level in sorted(level for level, share in mix.items() if share):
                floor, top = floors[int(level) - 1], tops[int(level) - 1]
                if floor > highest or (top <= lowest and level != "1"):  # only level 1 has its top
                    raise ValueError(
                        f"`curriculum.mixes.{stage}` wants level {level}, whose solve rates are {floor:g} to {top:g} by `grade.thresholds`, and "
                        f"`curriculum.solve_rate` takes {lowest:g} to {highest:g}: no problem would be left of it"
                    )

    @property
    def stages(self) -> tuple[str, ...]:
        """Every stage of the pipeline, in an order in which each one's inputs exist."""
        return (*BEFORE_RL, *self.rl.stages, *AFTER_RL)

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that the pipeline makes, the base first."""
        return ("base", *self.rl.stages)

    def stage(self, name: str) -> Section:
        """The settings of the stage called `name`; of an RL stage with the shared recipe filled in."""
        return self.rl.stages[name] if name in self.rl.stages else getattr(self, name)
