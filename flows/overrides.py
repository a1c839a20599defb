"""Values for one run, `evaluate.samples=16`, written into `params.yaml` with its comments and order kept.

DVC's own `exp run -S` writes the file anew: comments and order are lost, and a value that no stage can use stays in it.
Here every name and value is checked against the typed settings first, and only the lines concerned change.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.errors import UserError, describe_yaml_error, did_you_mean
from compass.settings.load import parse_yaml

FILE = "params.yaml"
REMOVE = object()
"""The value of a name that is taken out of the file, so that its default counts: `~evaluate.samples`."""

_NAME = re.compile(r"[A-Za-z_][\w-]*(\.[\w-]+)*")


@dataclass(frozen=True)
class Change:
    """One setting that a run changes; `before` and `after` are None where the file does not name it."""

    name: str
    before: Any
    after: Any

    def __str__(self) -> str:
        shown = ("default" if value is None else value for value in (self.before, self.after))
        return "{}: {} → {}".format(self.name, *shown)


def parse_parameters(words: Iterable[str]) -> dict[str, Any]:
    """`["evaluate.samples=4", "~seed"]` as `{"evaluate.samples": 4, "seed": REMOVE}`; values are YAML, as in params.yaml.

    DVC's notation is taken as well: `params.yaml:evaluate.samples=4`, `+evaluate.samples=4`.

    Raises:
        UserError: a word is not NAME=VALUE, or its value is not YAML.
    """
    from ruamel.yaml.error import YAMLError

    values: dict[str, Any] = {}
    for word in words:
        name, separator, text = word.removeprefix(f"{FILE}:").partition("=")
        if name.startswith("~") and not separator:
            values[_check_values(name.lstrip("~"))] = REMOVE
            continue
        if not separator:
            raise UserError(f"-S {word}: give a setting as NAME=VALUE, for example evaluate.samples=16")
        try:
            values[_check_values(name.lstrip("+"))] = parse_yaml(text)
        except YAMLError as error:
            raise UserError(f"-S {word}: the value is not YAML: {' '.join(str(error).split())}") from None
    return values


def format_parameters(values: Mapping[str, Any]) -> list[str]:
    """What `parse_parameters` reads as these values: `["evaluate.samples=4", "~seed"]`."""
    return [f"~{name}" if value is REMOVE else f"{name}={_format_value(value)}" for name, value in values.items()]


def change_text(text: str, values: Mapping[str, Any]) -> tuple[str, list[Change]]:
    """The text of a parameter file with these values, and what they change.

    Args:
        text: the content of `params.yaml`.
        values: dotted names to values; `REMOVE` takes a name out.

    Raises:
        UserError: a name that no setting has, with the most similar ones; a value that the settings refuse.
    """
    from ruamel.yaml.error import YAMLError

    from compass.settings import SettingsError, check_values, load_settings

    yaml = _format_yaml()
    try:
        tree = yaml.load(text)
    except YAMLError as error:
        raise SettingsError(f"{FILE}: {describe_yaml_error(error)}") from None
    if not isinstance(tree, dict):
        load_settings(FILE)  # says what the file must hold
        raise SettingsError(f"{FILE}: must hold sections")
    changes = [change for name, value in values.items() if (change := _set(tree, _check_values(name), value))]
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
    from compass.files import atomic_path

    path = root / FILE
    text, changes = change_text(read_text(root, profile), values)
    if text != read_text(root):
        with atomic_path(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return changes


def read_text(root: Path, profile: str | None = None) -> str:
    """The content of `params.yaml`, or of a profile.

    Raises:
        UserError: it cannot be read.
    """
    from compass.settings import SettingsError

    if profile is not None:
        known = {path.stem: path for path in sorted((root / "profiles").glob("*.yaml"))}
        if profile not in known:
            raise SettingsError(f"there is no profile {profile!r}; profiles: {', '.join(known) or 'none here'}")
    path = root / FILE if profile is None else known[profile]
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        if profile is not None:
            raise SettingsError(f"{path}: cannot be read ({error})") from None
        raise SettingsError(f"{FILE}: cannot be read ({error}); `compass profile use NAME` writes one") from None


def _check_values(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise UserError(f"{name!r} is not the name of a setting; give it as in {FILE}: evaluate.samples=16")
    return name


def _set(tree: Any, name: str, value: Any) -> Change | None:
    """Set or remove one value in the tree of the file; None where it has that value already."""
    section, keys = tree, name.split(".")
    for depth, key in enumerate(keys[:-1]):
        _check_name(name, keys[: depth + 1], section)
        inside = section[_find_index(section, key)] if _has(section, key) else None
        if inside is None:
            if value is REMOVE:
                return None
            inside = section[key] = {}
        if not isinstance(inside, dict | list):
            raise UserError(f"{name}: {'.'.join(keys[: depth + 1])} is the value {inside!r} and holds no settings")
        section = inside
    _check_name(name, keys, section)
    key, present = _find_index(section, keys[-1]), _has(section, keys[-1])
    before = section[key] if present else None
    if value is REMOVE:
        if not present:
            return None
        del section[key]
        return Change(name, before, None)
    from compass.settings import known_keys

    if isinstance(value, Mapping) and isinstance(before, Mapping) and known_keys(keys):
        some = next(iter(value), "NAME")
        raise UserError(f"{name} is a section: give each of its settings by itself, {name}.{some}=VALUE")
    if present and before == value and isinstance(before, bool) == isinstance(value, bool):
        return None
    section[key] = value
    return Change(name, before, value)


def _check_name(name: str, keys: list[str], section: Any) -> None:
    """Refuse a name that the settings do not know, with those that look like it."""
    from compass.settings import known_keys

    if _has(section, keys[-1]) or isinstance(section, list):
        return
    allowed = known_keys(keys[:-1])
    if allowed is None or keys[-1] in allowed:
        return
    above = ".".join(keys[:-1])
    place = f"in {above}" if above else f"in {FILE}"
    meant = did_you_mean(keys[-1], allowed, ".".join([*keys[:-1], "{}"]), most=3, cutoff=0.5)
    hint = meant.rstrip() or f"there are {', '.join(allowed)}"
    raise UserError(f"{name}: there is no setting {keys[-1]!r} {place}; {hint}")


def _format_value(value: Any) -> str:
    """A value as one types it after `-S NAME=`; a text that YAML takes for something else is quoted."""
    import json

    from ruamel.yaml.error import YAMLError

    if isinstance(value, str):
        try:
            if parse_yaml(value) == value:
                return value
        except YAMLError:
            pass  # `[1`, which only quotes make a text
    return json.dumps(value)


def _has(section: Any, key: str) -> bool:
    if isinstance(section, list):
        return key.isdigit() and int(key) < len(section)
    return isinstance(section, dict) and key in section


def _find_index(section: Any, key: str) -> Any:
    return int(key) if isinstance(section, list) and key.isdigit() else key


def _format_yaml() -> Any:
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 4096  # no line is broken that was not
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.representer.add_representer(
        type(None), lambda representer, _: representer.represent_scalar("tag:yaml.org,2002:null", "null")
    )
    yaml.representer.add_representer(
        float, lambda representer, value: representer.represent_scalar("tag:yaml.org,2002:float", _format_number(value))
    )
    return yaml


def _format_number(value: float) -> str:
    """A number as every reader of YAML takes it for one: 5.0e-05, which some take for a text without the `.0`."""
    import yaml

    return yaml.safe_dump(value).split()[0]
