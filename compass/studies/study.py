"""A study's file, `studies/NAME.yaml`: the question, the recipes that are compared (arms), the seeds, and what will decide."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, field_validator, model_validator

from compass.errors import UserError, did_you_mean
from compass.evaluation.accuracy import reported_k
from compass.settings import Settings
from compass.settings.load import read_values
from compass.settings.section import NotNegative, Section

FOLDER = Path("studies")
RESULTS = FOLDER / "results"

LEAST_POINTS = 0.1
"""The least difference that a study can ask for: below it, a share was meant."""

_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?")


class Study(Section):
    """A study as its file declares it, before any run."""

    question: Annotated[str, Field(min_length=1)]
    """What the study asks, in words."""

    profile: Annotated[str, Field(min_length=1)]
    """The file of `profiles/` that every run starts from."""

    settings: dict[str, Any] = Field(default_factory=dict)
    """Settings of every arm that differ from the profile, by their names with dots."""

    arms: dict[str, dict[str, Any]]
    """Name to the settings of this arm alone, by their names with dots; the first arm is what the others are compared with."""

    seeds: list[NotNegative]
    """The `seed` of each training run of an arm."""

    model: str = ""
    """The model that is compared; empty for the last RL stage's."""

    measure: str = "accuracy"
    """What decides, on average over all benchmarks: `accuracy`, `greedy`, `lenient`, `pass@K` or `maj@K`."""

    smallest_difference: Annotated[float, Field(le=100)]
    """The smallest difference of interest, in points, 0.1 at least; fixed before the first run."""

    @field_validator("arms")
    @classmethod
    def _arms(cls, arms: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        if len(arms) < 2:
            raise ValueError("a study compares two arms or more")
        if wrong := [name for name in arms if not _NAME.fullmatch(name) or ".." in name]:
            raise ValueError(f"an arm's name has letters, digits, and `.`, `_`, `-` between them; found {wrong[0]!r}")
        return arms

    @field_validator("seeds")
    @classmethod
    def _seeds(cls, seeds: list[int]) -> list[int]:
        if len(seeds) < 2:
            raise ValueError(
                f"one training run per arm says nothing about the next one: give two seeds or more, found {seeds}"
            )
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"a seed stands twice, and its second run would count as new evidence; found {seeds}")
        return seeds

    @field_validator("smallest_difference")
    @classmethod
    def _points(cls, points: float) -> float:
        if points < LEAST_POINTS:
            raise ValueError(f"is in points: 5 stands for 5%; {LEAST_POINTS} at least, found {points}")
        return points

    @model_validator(mode="after")
    def _settings_of_the_study(self) -> Study:
        named = {"settings": self.settings} | {f"arms.{name}": values for name, values in self.arms.items()}
        for place, values in named.items():
            if taken := {"seed", "profile"} & set(values):
                raise ValueError(f"`{place}` has `{taken.pop()}`, which the study sets by its own field")
        if doubled := [name for values in self.arms.values() for name in values if name in self.settings]:
            raise ValueError(f"`{doubled[0]}` stands in `settings` and in an arm; give it in the arms alone")
        return self


def read_study(name: str, root: Path = Path()) -> Study:
    """Read `studies/NAME.yaml`.

    Raises:
        UserError: there is no such study, or its file cannot be used; the message names file and key.
    """
    path = root / FOLDER / f"{name}.yaml"
    if not path.is_file():
        known = sorted(one.stem for one in (root / FOLDER).glob("*.yaml"))
        hint = did_you_mean(name, known).rstrip() or f"there are {', '.join(known) or 'none here'}"
        raise UserError(f"there is no study {name!r} ({path}); {hint}")
    try:
        return Study.model_validate(read_values(path, Study.model_fields))
    except ValidationError as error:
        raise UserError("\n".join(_describe(path, problem) for problem in error.errors())) from None


def find_model(study: Study, settings: Settings) -> str:
    """The model that a study compares.

    Raises:
        UserError: it is none that the profile evaluates, or the study's measure is none that it is given.
    """
    model = study.model or settings.models[-1]
    scored = settings.evaluate.models or list(settings.models)
    if model not in scored:
        raise UserError(f"model: {model!r} is not evaluated; there are {', '.join(scored)}")
    measures = list_measures(settings)
    if study.measure not in measures:
        hint = f"{did_you_mean(study.measure, measures)}there are {', '.join(measures)}"
        raise UserError(f"measure: {study.measure!r} is not measured with these settings; {hint}")
    return model


def list_measures(settings: Settings) -> list[str]:
    """The measures that an evaluation with these settings gives every model."""
    samples = settings.evaluate.samples
    several = [f"pass@{k}" for k in reported_k(samples)] + ([f"maj@{samples}"] if samples > 1 else [])
    return ["accuracy", "lenient", *several, *(["greedy"] if settings.evaluate.greedy else [])]


def _describe(path: Path, problem: Any) -> str:
    key = ".".join(map(str, problem["loc"]))
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        message = f"unknown key; allowed here: {', '.join(Study.model_fields)}"
    elif problem["type"] == "missing":
        message = "is missing"
    elif problem["type"] != "value_error":
        message += f", found {problem['input']!r}"
    return f"{path}: {key}: {message}" if key else f"{path}: {message}"
