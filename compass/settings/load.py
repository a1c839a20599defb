"""Reading a parameter file, and saying what is wrong with one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import ValidationError, create_model
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from compass.errors import UserError, describe_yaml_error, did_you_mean
from compass.settings.pipeline import Settings
from compass.settings.section import Section


class SettingsError(UserError):
    """A parameter file that cannot be used; the message names file, key, value and what is allowed."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in a parameter file."""

    key: str
    """The parameter, dots between its parts; empty for the file as a whole."""

    message: str
    """What is wrong with it, what was found, and what is allowed."""

    hint: str = ""
    """What was probably meant; empty where nothing suggests it."""

    def line(self, path: Path) -> str:
        """The fault as a line of an error message."""
        return f"{path}: {self.key}: {self.message}" + (f"; {self.hint}" if self.hint else "")


IN_QUOTES = "YAML takes this for no text: write it in quotes"
"""What to do about a number, or another value, where a text belongs."""

_NO_BOOLEAN = {"yes": True, "on": True, "no": False, "off": False}
"""Words that YAML 1.1 took for a boolean."""


def load_settings(path: str | Path = "params.yaml") -> Settings:
    """Read and check a parameter file.

    Raises:
        SettingsError: the file is missing, not YAML, or holds an unknown key, a wrong type or an impossible combination.
    """
    path = Path(path)
    return check_values(read_values(path), path)


def check_values(values: Mapping[str, Any], path: str | Path = "params.yaml") -> Settings:
    """The settings that the sections of a parameter file make.

    Args:
        values: what the file holds.
        path: the file, as messages name it.

    Raises:
        SettingsError: an unknown key, a wrong type or an impossible combination.
    """
    settings = settings_or_faults(values)
    if isinstance(settings, Settings):
        return settings
    raise SettingsError("\n".join(fault.line(Path(path)) for fault in settings))


def settings_or_faults(values: Mapping[str, Any]) -> Settings | list[Fault]:
    """The settings that the sections of a parameter file make, or everything that is wrong with them."""
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        return _faults(error)


def known_keys(section: Sequence[str]) -> list[str] | None:
    """The keys that are allowed in a section (`["rl", "loss"]`); None where the user names them, as RL stages."""
    return _allowed(Settings, tuple(section)) or None


def parse_yaml(text: str) -> Any:
    """What the text of a parameter file, or one value of it, holds by YAML 1.2, as DVC reads `params.yaml`.

    YAML 1.1 silently takes `010` for 8, `1:30` for 90 and `no` for false, and `1e-6` for a text.

    Raises:
        YAMLError: of ruamel.yaml: the text is no YAML, or a key stands twice in its section.
    """
    return YAML(typ="safe", pure=True).load(text)


def read_values(path: Path, sections: Iterable[str] = tuple(Settings.model_fields)) -> dict[str, Any]:
    """The sections of a parameter file, or of another with such `sections`, unchecked.

    Raises:
        SettingsError: the file is missing, is not YAML, or holds no sections.
    """
    return parse_values(read_text(path), path, sections)


def read_text(path: Path) -> str:
    """The text of a parameter file.

    Raises:
        SettingsError: the file is missing, or no text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SettingsError(f"{path}: no such file; `compass profile use NAME` writes one") from None
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path}: {describe_yaml_error(error)}") from None


def parse_values(
    text: str, path: str | Path = "params.yaml", sections: Iterable[str] = tuple(Settings.model_fields)
) -> dict[str, Any]:
    """The sections of a parameter file's text, unchecked; errors as of `read_values`."""
    try:
        values = parse_yaml(text)
    except YAMLError as error:
        raise SettingsError(f"{path}: {describe_yaml_error(error)}") from None
    if not isinstance(values, dict):
        raise SettingsError(
            f"{path}: not readable as YAML with sections ({', '.join(sections)}): it holds {'nothing' if values is None else f'a {type(values).__name__}'}"
        )
    return values


def load_sections(path: str | Path, sections: Sequence[str]) -> dict[str, Section]:
    """Read some sections of a parameter file that need not hold the others; those it lacks have their defaults.

    Raises:
        SettingsError: as `load_settings`, of these sections and of unknown ones.
    """
    path = Path(path)
    values = read_values(path)
    if unknown := sorted(set(values) - set(Settings.model_fields)):
        raise SettingsError(f"{path}: {unknown[0]}: unknown section; there are {', '.join(Settings.model_fields)}")
    given = {name: values.get(name) or {} for name in sections}
    if "collect" in given and isinstance(given["collect"], dict):
        given["collect"] = {"sources": [], "benchmarks": [], **given["collect"]}
    kinds: Any = {name: (Settings.model_fields[name].annotation, ...) for name in sections}
    try:
        made = create_model("Sections", __base__=Section, **kinds).model_validate(given)
    except ValidationError as error:
        raise SettingsError("\n".join(fault.line(path) for fault in _faults(error))) from None
    return {name: getattr(made, name) for name in sections}


def _faults(error: ValidationError) -> list[Fault]:
    """One fault per problem. What is wrong in the shared recipe is told there, not once more under every RL stage."""
    problems = error.errors()
    told = {problem["loc"] for problem in problems}
    return [
        _fault(problem)
        for problem in problems
        if problem["loc"][:2] != ("rl", "stages") or ("rl", *problem["loc"][3:]) not in told
    ]


def _fault(problem: Any) -> Fault:
    location = problem["loc"]
    key = ".".join(str(part) for part in location) or "the file"
    message, hint = problem["msg"].removeprefix("Value error, "), ""
    if problem["type"] == "extra_forbidden":
        allowed = _allowed(Settings, location[:-1])
        message = f"unknown key; allowed here: {', '.join(allowed)}"
        hint = did_you_mean(str(location[-1]), allowed, "`{}`").rstrip()
    elif problem["type"] == "missing":
        message = "is missing"
    elif problem["type"] == "literal_error":
        expected = re.findall(r"'([^']*)'", str(problem["ctx"]["expected"]))
        if str(problem["input"]) in expected:
            hint = IN_QUOTES
        else:
            hint = did_you_mean(str(problem["input"]), expected, "`{}`").rstrip()
    elif problem["type"] == "string_type" and not isinstance(problem["input"], dict | list | None):
        hint = IN_QUOTES
    elif problem["type"] == "bool_type" and str(problem["input"]).lower() in _NO_BOOLEAN:
        hint = f"write {str(_NO_BOOLEAN[str(problem['input']).lower()]).lower()}"
    # Of a missing key and of sections that contradict each other the value would say nothing more.
    tells = problem["type"] not in ("missing", "value_error") or not isinstance(problem["input"], dict | Section)
    return Fault(key, message + (f", found {_short(problem['input'])}" if tells else ""), hint)


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
        return _allowed(inner[-1], location[1:]) if location else []  # its own keys are the user's
    return next((keys for kind in inner if (keys := _allowed(kind, location))), [])
