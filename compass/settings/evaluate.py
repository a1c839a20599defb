"""Settings of `evaluate`."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from compass.settings.prompting import PromptName
from compass.settings.sampling import Sampling
from compass.settings.section import NotNegative, Positive, Section


class Evaluate(Section):
    """Score every model on every benchmark."""

    models: list[str] = []
    """The models that are scored, of `base` and the stages of `rl.stages`; empty scores all."""

    samples: Positive = 8
    """Responses sampled for each problem; accuracy is avg@k, pass@k and maj@k use the same samples."""

    until: Literal["samples", "verdict"] = "samples"
    """`verdict`: sample the two models of `report.primary` in rounds, `samples` in the first and twice as many after each, until their comparison has a
    verdict, at limits that keep the error of all looks together at 5%."""

    at_most: NotNegative = 0
    """With `until: verdict`, samples per problem after the last round."""

    greedy: bool = True
    """Also score one greedy response for each problem."""

    sampling: Sampling = Sampling()
    """How responses are sampled."""

    other_prompts: list[PromptName] = []
    """Prompts to sample with as well, `samples` responses per problem: the report says whether the models stand in the same order."""

    max_problems: NotNegative = 0
    """Score only so many problems of each benchmark, drawn by a seeded hash; 0 scores all."""

    @model_validator(mode="after")
    def _samples_differ(self) -> Evaluate:
        self.sampling.check_samples("samples", self.samples)
        if self.until == "verdict" and not 2 <= self.samples <= self.at_most:
            raise ValueError(
                f"`until: verdict` needs 2 `samples` or more in the first round, and `at_most` of no fewer; found {self.samples} and {self.at_most}"
            )
        if self.until == "samples" and self.at_most:
            raise ValueError(
                f"`at_most` ({self.at_most}) is read with `until: verdict` alone; set that too, or leave it out"
            )
        if twice := [
            name for name in self.other_prompts if [*self.other_prompts, self.sampling.prompt].count(name) > 1
        ]:
            raise ValueError(f"`other_prompts` has {twice[0]!r}, which is sampled with already; name each prompt once")
        for name in self.other_prompts:
            self.sampling.with_prompt(name)
        if twice := [name for name in self.models if self.models.count(name) > 1]:
            raise ValueError(f"`models` has {twice[0]!r} twice; a model is scored once")
        return self
