"""Typed parameters: one class a stage, one section of `params.yaml` a class, a docstring under each field.

`load_settings("params.yaml")` reads and checks a whole parameter file. An unknown key, a wrong type or an impossible
combination raises `SettingsError`, which names the file, the key, the value found and what is allowed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, model_validator

from compass.errors import UserError
from compass.settings.data import Collect, Curriculum, Dedup, Denoise, Generator, Grade, Source, Verify
from compass.settings.models import Base, Evaluate, Pretrain, Report, Sampling
from compass.settings.rl import Rl
from compass.settings.section import RL_STAGES, STAGES, NotNegative, Section

__all__ = [
    "RL_STAGES",
    "STAGES",
    "Base",
    "Collect",
    "Curriculum",
    "Dedup",
    "Denoise",
    "Evaluate",
    "Generator",
    "Grade",
    "Pretrain",
    "Report",
    "Rl",
    "Sampling",
    "Settings",
    "SettingsError",
    "Source",
    "Verify",
    "load_settings",
]


class SettingsError(UserError):
    """A parameter file that cannot be used; the message names file, key, value and what is allowed."""


class Settings(Section):
    """A whole parameter file."""

    profile: str
    """The name of the profile it came from."""

    seed: NotNegative = 0
    """Seed of everything random: generated problems, pre-training, sampling, RL, bootstrap."""

    collect: Collect
    dedup: Dedup = Dedup()
    denoise: Denoise = Denoise()
    base: Base
    grade: Grade = Grade()
    verify: Verify = Verify()
    curriculum: Curriculum
    rl: dict[str, Any] = {}
    """Recipe settings that all RL stages share."""

    rl_1: Rl = Field(alias="rl-1")
    rl_2: Rl = Field(alias="rl-2")
    rl_3: Rl = Field(alias="rl-3")
    evaluate: Evaluate = Evaluate()
    report: Report = Report()

    @model_validator(mode="before")
    @classmethod
    def _merge_recipe(cls, values: Any) -> Any:
        """Lay each RL stage's own section over the shared one, so that a stage is checked whole."""
        if isinstance(values, dict) and isinstance(values.get("rl", {}), dict):
            shared = values.get("rl", {})
            stages = {s: {**shared, **values[s]} for s in RL_STAGES if isinstance(values.get(s), dict)}
            return {**values, **stages}
        return values

    @model_validator(mode="after")
    def _chain(self) -> Settings:
        for number, stage in enumerate(RL_STAGES):
            ours = self.stage(stage)
            allowed = ("base", *RL_STAGES[:number])
            if ours.init_from not in allowed:
                raise ValueError(f"`{stage}.init_from` is {ours.init_from!r}; allowed: {', '.join(allowed)}")
            if ours.carry_optimizer and not self.stage(ours.init_from).keep_optimizer:
                raise ValueError(f"`{stage}.carry_optimizer` needs `{ours.init_from}.keep_optimizer: true`")
        return self

    def stage(self, name: str) -> Any:
        """The section of the stage called `name` (`rl-1` as it is written in the file)."""
        return getattr(self, name.replace("-", "_"))


def load_settings(path: str | Path = "params.yaml") -> Settings:
    """Read and check a parameter file.

    Raises:
        SettingsError: the file is missing, not YAML, or holds an unknown key, a wrong type or an impossible combination.
    """
    path = Path(path)
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file; `compass profile use NAME` writes one") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(values, dict):
        raise SettingsError(f"{path}: must hold sections ({', '.join(STAGES)}), found {type(values).__name__}")
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_explain(path, error)) from None


def _explain(path: Path, error: ValidationError) -> str:
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"]) or "the file"
        found = "" if problem["type"] == "missing" else f", found {_short(problem['input'])}"
        message = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            message = f"unknown key; allowed here: {', '.join(_allowed(problem['loc'][:-1]))}"
        lines.append(f"{path}: {key}: {message}{found}")
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _allowed(location: tuple[int | str, ...]) -> list[str]:
    """Names of the keys that the section at `location` knows."""
    model: Any = Settings
    for part in location:
        if isinstance(part, int):
            continue
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        model = _section_class(fields[str(part)].annotation)
        if model is None:
            return []
    return sorted(field.alias or name for name, field in model.model_fields.items())


def _section_class(annotation: Any) -> type[Section] | None:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if found := _section_class(inner):
            return found
    return None
