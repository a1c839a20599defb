"""Settings of the RL stages: a recipe that they share, and each stage's name, start, length and own values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from compass.settings.grade import Grade
from compass.settings.recipe import Recipe
from compass.settings.recipe_checks import check_device, check_lora, check_objective
from compass.settings.section import Commit, Positive

GROUPS = tuple(Recipe.model_fields)
"""The groups of a recipe, as they are named under `rl` and under a stage."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


class RlStage(Recipe):
    """One RL stage. Where it gives a value of a group, this wins over the shared one."""

    init_from: str
    """The model whose weights it starts from: `base`, an earlier RL stage, or a model from elsewhere: a folder or `.gguf` file (a path with
    `/`) or a hub id. `$NAME` is filled in. A folder or file is a dependency of the stage."""

    revision: Commit = ""
    """The commit of a hub id in `init_from`, 40 hex digits; required for one."""

    steps: Positive
    """Optimization iterations (rollout, reward, update)."""

    @model_validator(mode="after")
    def _possible(self) -> RlStage:
        mini, batch = self.optimizer.mini_batch_size, self.data.batch_size
        if mini > batch or batch % mini:
            raise ValueError(f"`optimizer.mini_batch_size` ({mini}) must divide `data.batch_size` ({batch})")
        buffer, longest = self.reward.overlong_buffer, self.rollout.max_response_tokens
        if buffer >= longest:
            raise ValueError(
                f"`reward.overlong_buffer` ({buffer}) must be less than `rollout.max_response_tokens` ({longest})"
            )
        self.optimizer.check_length(self.steps)
        if self.checkpoint.carry_optimizer and (self.init_from == "base" or self.from_elsewhere):
            raise ValueError(
                "`checkpoint.carry_optimizer` needs an RL stage in `init_from`; "
                + ("the base" if self.init_from == "base" else "a model from elsewhere")
                + " has no optimizer state"
            )
        check_objective(self, self.steps)
        check_lora(self)
        if self.revision and not self.from_elsewhere:
            raise ValueError(f"`revision` is for a hub id in `init_from`, which is {self.init_from!r}")
        check_device(self)
        return self

    @property
    def from_elsewhere(self) -> bool:
        """Whether it starts from a model that is neither the base nor an RL stage."""
        return "/" in self.init_from or self.init_from.startswith("$") or self.init_from.endswith(".gguf")

    def graded_by_policy(self, grade: Grade) -> bool:
        """Whether graded solve rates are of the very weights that the stage starts from."""
        if self.from_elsewhere:
            return (grade.model, grade.revision) == (self.init_from, self.revision)
        return grade.model == f"models/{self.init_from}"


def list_course(starts: Mapping[str, str], model: str) -> list[str]:
    """The RL stages that lead to a model, in the order of training.

    Args:
        starts: each RL stage's `init_from`.
        model: its name; of one that is no RL stage there are none.
    """
    course: list[str] = []
    while model in starts:
        course.insert(0, model)
        model = starts[model]
    return course


class Rl(Recipe):
    """The shared recipe and the stages, which are listed nowhere else."""

    stages: Annotated[dict[str, RlStage], Field(min_length=1)]
    """Every RL stage by its name, in the order of training; `curriculum.mixes` has the same names."""

    @model_validator(mode="before")
    @classmethod
    def _merge(cls, values: Any) -> Any:
        """Lay each stage's own groups over the shared ones, so that a stage is checked whole."""
        if not isinstance(values, dict) or not isinstance(values.get("stages"), dict):
            return values
        shared = {group: values[group] for group in GROUPS if group in values}
        return {**values, "stages": {name: _over(shared, own) for name, own in values["stages"].items()}}

    @model_validator(mode="after")
    def _chain(self) -> Rl:
        models = ["base"]
        for name, stage in self.stages.items():
            if not _NAME.fullmatch(name):
                raise ValueError(f"`stages` has {name!r}; a name is lower-case letters, digits, `-` and `_`")
            if stage.init_from not in models and not stage.from_elsewhere:
                raise ValueError(
                    f"`stages.{name}.init_from` is {stage.init_from!r}; allowed: {', '.join(models)}, a path with `/`, or a hub id "
                    "(owner/name)"
                )
            if stage.checkpoint.carry_optimizer and not self.stages[stage.init_from].checkpoint.keep_optimizer:
                raise ValueError(
                    f"`stages.{name}.checkpoint.carry_optimizer` needs "
                    f"`stages.{stage.init_from}.checkpoint.keep_optimizer: true`"
                )
            if (
                stage.checkpoint.carry_optimizer
                and (ranks := self.stages[stage.init_from].resources.mesh) != stage.resources.mesh
            ):
                raise ValueError(
                    f"`stages.{name}.checkpoint.carry_optimizer` takes over one file per rank: {stage.init_from} has {_say_ranks(ranks)}, {name} "
                    f"{_say_ranks(stage.resources.mesh)}; give both the same `resources`, or set it to false"
                )
            if stage.checkpoint.carry_optimizer and stage.advantage.estimator == "gae":
                earlier = self.stages[stage.init_from].advantage.estimator
                if earlier != "gae":
                    raise ValueError(
                        f"`stages.{name}.checkpoint.carry_optimizer` would take over a critic with the optimizer, and "
                        f"{stage.init_from} has none (`advantage.estimator: {earlier}`); set it to false"
                    )
            models.append(name)
        return self


def _say_ranks(mesh: tuple[int, int]) -> str:
    ranks, nodes = mesh
    return f"{ranks} rank{'s' * (ranks > 1)}" + (f" on each of {nodes} nodes" if nodes > 1 else "")


def _over(shared: Any, own: Any) -> Any:
    """`own`, with what it lacks taken from `shared`, mapping by mapping; YAML's own values win as a whole elsewhere."""
    if isinstance(shared, dict) and isinstance(own, dict):
        return {**shared, **{key: _over(shared.get(key), value) for key, value in own.items()}}
    return own
