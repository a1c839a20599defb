"""Reading a parameter file, and saying what is wrong with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import ValidationError, create_model

from compass.errors import UserError
from compass.settings.pipeline import Settings
from compass.settings.section import Section


class SettingsError(UserError):
    """A parameter file that cannot be used; the message names file, key, value and what is allowed."""


def load_settings(path: str | Path = "params.yaml") -> Settings:
    """Read and check a parameter file.

    Raises:
        SettingsError: the file is missing, not YAML, or holds an unknown key, a wrong type or an impossible combination.
    """
    path = Path(path)
    return check_values(_read(path), path)


def check_values(values: Mapping[str, Any], path: str | Path = "params.yaml") -> Settings:
    """The settings that the sections of a parameter file make.

    Args:
        values: what the file holds.
        path: the file, as messages name it.

    Raises:
        SettingsError: an unknown key, a wrong type or an impossible combination.
    """
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError(_explain(Path(path), error)) from None


def known_keys(section: Sequence[str]) -> list[str] | None:
    """The keys that are allowed in a section (`["rl", "loss"]`); None where the user names them, as RL stages."""
    return _allowed(Settings, tuple(section)) or None


def _read(path: Path) -> dict[str, Any]:
    """The sections of a parameter file, unchecked."""
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file; `compass profile use NAME` writes one") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not readable as YAML: {error}") from None
    if not isinstance(values, dict):
        sections = ", ".join(Settings.model_fields)
        raise SettingsError(f"{path}: must hold sections ({sections}), found {type(values).__name__}")
    return values


def load_sections(path: str | Path, sections: Sequence[str]) -> dict[str, Section]:
    """Read some sections of a parameter file that need not hold the others; those it lacks have their defaults.

    Raises:
        SettingsError: as `load_settings`, of these sections and of unknown ones.
    """
    path = Path(path)
    values = _read(path)
    if unknown := sorted(set(values) - set(Settings.model_fields)):
        raise SettingsError(f"{path}: {unknown[0]}: unknown section; there are {', '.join(Settings.model_fields)}")
    given = {name: values.get(name) or {} for name in sections}
    if "collect" in given and isinstance(given["collect"], dict):
        given["collect"] = {"sources": [], "benchmarks": [], **given["collect"]}
    kinds: Any = {name: (Settings.model_fields[name].annotation, ...) for name in sections}
    try:
        made = create_model("Sections", __base__=Section, **kinds).model_validate(given)
    except ValidationError as error:
        raise SettingsError(_explain(path, error)) from None
    return {name: getattr(made, name) for name in sections}


def _explain(path: Path, error: ValidationError) -> str:
    """One line per problem. What is wrong in the shared recipe is told there, not once more under every RL stage."""
    problems = error.errors()
    told = {problem["loc"] for problem in problems}
    return "\n".join(
        _line(path, problem)
        for problem in problems
        if problem["loc"][:2] != ("rl", "stages") or ("rl", *problem["loc"][3:]) not in told
    )


def _line(path: Path, problem: Any) -> str:
    location = problem["loc"]
    key = ".".join(str(part) for part in location) or "the file"
    message = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "extra_forbidden":
        message = f"unknown key; allowed here: {', '.join(_allowed(Settings, location[:-1]))}"
    # Of a missing key and of sections that contradict each other the value would say nothing more.
    tells = problem["type"] not in ("missing", "value_error") or not isinstance(problem["input"], dict | Section)
    return f"{path}: {key}: {message}" + (f", found {_short(problem['input'])}" if tells else "")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _allowed(annotation: Any, location: tuple[int | str, ...]) -> list[str]:
    """The keys that the section at `location` below a type knows; empty where no section is there."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        if not location:
            return sorted(annotation.model_fields)
        return _allowed(annotation.model_fields[str(location[0])].annotation, location[1:])
    inner = get_args(annotation)
    if get_origin(annotation) in (list, dict):
        return _allowed(inner[-1], location[1:])
    return next((keys for kind in inner if (keys := _allowed(kind, location))), [])
