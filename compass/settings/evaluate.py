"""Settings of `evaluate`."""

from __future__ import annotations

from pydantic import model_validator

from compass.settings.sampling import Sampling
from compass.settings.section import NotNegative, Positive, Section


class Evaluate(Section):
    """Score every model on every benchmark."""

    models: list[str] = []
    """The models that are scored, of `base` and the stages of `rl.stages`; empty scores all."""

    samples: Positive = 8
    """Responses sampled for each problem; accuracy is avg@k, pass@k and maj@k use the same samples."""

    greedy: bool = True
    """Also score one greedy response for each problem."""

    sampling: Sampling = Sampling()
    """How responses are sampled."""

    max_problems: NotNegative = 0
    """Score only so many problems of each benchmark, drawn by a seeded hash; 0 scores all."""

    @model_validator(mode="after")
    def _samples_differ(self) -> Evaluate:
        self.sampling.check_samples("samples", self.samples)
        if twice := [name for name in self.models if self.models.count(name) > 1]:
            raise ValueError(f"`models` has {twice[0]!r} twice; a model is scored once")
        return self
