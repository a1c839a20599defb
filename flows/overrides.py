"""Values for one run, `evaluate.samples=16`, or a whole profile, written into `params.yaml` with its comments and order kept.

DVC's own `exp run -S` leaves a value in the file that no stage can use. Here the whole file is checked against the typed settings first, and only
the lines concerned change.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml as pyyaml
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from compass.errors import UserError
from compass.files import write_text
from compass.runs.values import compare, flatten
from compass.settings import SettingsError, check_values, known_keys
from compass.settings.load import parse_values, parse_yaml, read_text, read_values

FILE = "params.yaml"

ABSENT = "(default)"
"""Stands for a key that a file leaves to its default."""

_NAME = re.compile(r"[A-Za-z_][\w-]*(\.[\w-]+)*")


@dataclass(frozen=True)
class Change:
    """One setting that a run changes; `before` is None where the file does not name it."""

    name: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.name}: {'default' if self.before is None else self.before} → {self.after}"


def parse_parameters(words: Iterable[str]) -> dict[str, Any]:
    """`["evaluate.samples=4"]` as `{"evaluate.samples": 4}`; values are YAML, as in params.yaml.

    Raises:
        UserError: a word is not NAME=VALUE, or its value is not YAML.
    """
    values: dict[str, Any] = {}
    for word in words:
        name, separator, text = word.partition("=")
        if not separator:
            raise UserError(f"-S {word}: give a setting as NAME=VALUE, for example evaluate.samples=16")
        try:
            values[_check_name(name)] = parse_yaml(text)
        except YAMLError as error:
            raise UserError(f"-S {word}: the value is not YAML: {' '.join(str(error).split())}") from None
    return values


def format_parameters(values: Mapping[str, Any]) -> list[str]:
    """What `parse_parameters` reads as these values: `["evaluate.samples=4"]`."""
    return [f"{name}={_format_value(value)}" for name, value in values.items()]


def change_text(text: str, values: Mapping[str, Any]) -> tuple[str, list[Change]]:
    """The text of a parameter file with these values, and what they change.

    Args:
        text: the content of `params.yaml`.
        values: dotted names to values.

    Raises:
        UserError: a name that no setting has, with the most similar ones; a value that the settings refuse.
    """
    parse_values(text, FILE)  # an error that names the file
    yaml = _format_yaml()
    tree = yaml.load(text)
    changes = [change for name, value in values.items() if (change := _set(tree, _check_name(name), value))]
    buffer = io.StringIO()
    yaml.dump(tree, buffer)
    check_values(parse_yaml(buffer.getvalue()), FILE)
    return (buffer.getvalue() if changes else text), changes


def write_overrides(root: Path, values: Mapping[str, Any], profile: str | None = None) -> list[Change]:
    """Write values into `params.yaml` of the repository at `root`, whole or not at all; returns what changed.

    Args:
        root: the repository's root.
        values: as of `change_text`.
        profile: change this profile's text instead of the file's own.

    Raises:
        UserError: as `change_text`; the file is then as it was.
    """
    path = root / FILE
    text, changes = change_text(read_text(find_parameters(root, profile)), values)
    if text != read_text(path):
        write_text(path, text)
    return changes


def find_parameters(root: Path, profile: str | None = None) -> Path:
    """`params.yaml`, or the file of a profile, or what is given as a path that ends in `.yaml`.

    Raises:
        SettingsError: there is no such profile or file.
    """
    if profile is None:
        return root / FILE
    path = Path(profile if profile.endswith((".yaml", ".yml")) else f"profiles/{profile}.yaml")
    if not (root / path).is_file():
        known = ", ".join(one.stem for one in list_profiles(root)) or "none here: run it from the repository's root"
        raise SettingsError(f"there is no profile {profile!r} ({path}); profiles: {known}")
    return root / path


def list_profiles(root: Path = Path()) -> list[Path]:
    """The files of `profiles/`, by name."""
    return sorted((root / "profiles").glob("*.yaml"))


def compare_files(a: Path, b: Path) -> list[tuple[str, str, str]]:
    """The parameters in which two files differ: key, value in `a`, value in `b`, sorted by key.

    What a list names (sources, benchmarks) is compared by its name, and the order of the names by itself.
    """
    found = compare(flatten(read_values(a)), flatten(read_values(b)), ABSENT)
    return sorted((key, *values) for key, values in found.items())


def check_edits(profile: str, root: Path = Path()) -> None:
    """Refuse to put a profile in force where `params.yaml` would lose edits.

    Raises:
        SettingsError: no profile has the same values; the message shows how it differs from the nearest, whichever of the two was edited.
    """
    target = root / FILE
    nearest = min(list_profiles(root), key=lambda path: len(compare_files(path, target)))
    if edits := compare_files(nearest, target):
        path = nearest.relative_to(root)
        shown = "\n".join(f"  {key}: {b} in {FILE}, {a} in {path}" for key, a, b in edits[:10])
        more = f"\n  and {len(edits) - 10} more" if len(edits) > 10 else ""
        raise SettingsError(
            f"{FILE}, the parameters in force, would be lost: no profile has the same values. It differs from {path} in\n{shown}{more}\n"
            f"To keep it, copy it over that profile or to profiles/NAME.yaml; to overwrite it, `compass profile use {profile} --force`."
        )


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is not the name of a setting; give it as in {FILE}: evaluate.samples=16")
    if name == "profile":
        raise UserError(
            "profile: it is only the name of where the settings came from; `compass profile use NAME` changes them"
        )
    return name


def _set(tree: Any, name: str, value: Any) -> Change | None:
    """Set one value in the tree of the file; None where it has that value already."""
    section, keys = tree, name.split(".")
    for depth, word in enumerate(keys[:-1], 1):
        key = _find_key(section, word, name)
        inside = section[key] if isinstance(section, list) else section.get(key)
        if inside is None:
            inside = section[key] = {}
        if not isinstance(inside, dict | list):
            raise UserError(f"{name}: {'.'.join(keys[:depth])} is the value {inside!r} and holds no settings")
        section = inside
    key = _find_key(section, keys[-1], name)
    present = isinstance(section, list) or key in section
    before = section[key] if present else None
    if isinstance(value, Mapping) and isinstance(before, Mapping) and known_keys(keys):
        some = next(iter(value), "NAME")
        raise UserError(f"{name} is a section: give each of its settings by itself, {name}.{some}=VALUE")
    if present and before == value and isinstance(before, bool) == isinstance(value, bool):
        return None
    section[key] = value
    return Change(name, before, value)


def _find_key(section: Any, word: str, name: str) -> Any:
    """The key of a section, or of a list the index."""
    if not isinstance(section, list):
        return word
    if not word.isdigit() or int(word) >= len(section):
        raise UserError(f"{name}: {word!r} is no entry of a list of {len(section)}; give a number from 0")
    return int(word)


def _format_value(value: Any) -> str:
    """A value as one types it after `-S NAME=`; a text that YAML takes for something else is quoted."""
    if isinstance(value, str):
        try:
            if parse_yaml(value) == value:
                return value
        except YAMLError:
            pass  # `[1`, which only quotes make a text
    return json.dumps(value)


def _format_yaml() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096  # no line is broken that was not
    yaml.indent(mapping=2, sequence=4, offset=2)

    def add(kind: type, name: str, write: Any) -> None:
        tag = f"tag:yaml.org,2002:{name}"
        yaml.representer.add_representer(
            kind, lambda representer, value: representer.represent_scalar(tag, write(value))
        )

    add(type(None), "null", lambda _: "null")
    # 5.0e-05, which every reader of YAML takes for a number: some take 5e-05 for a text.
    add(float, "float", lambda value: pyyaml.safe_dump(value).split()[0])
    return yaml
