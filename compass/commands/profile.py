"""`compass profile`: complete parameter sets under `profiles/`, of which `params.yaml` is the one in use."""

from __future__ import annotations

import json as json_lines
import os
from pathlib import Path
from typing import Any

from cyclopts import App

ABSENT = "(default)"
"""Shown for a key that a profile leaves to its default."""

app = App(name="profile")


@app.command
def use(name: str, /, *, force: bool = False) -> int:
    """Make a profile the parameters in use (params.yaml).

    Args:
        name: a file of profiles/, without .yaml.
        force: overwrite params.yaml even where it was edited by hand.

    Raises:
        SettingsError: there is no such profile, it is invalid, or params.yaml holds edits that no profile has.

    Examples:
        compass profile use small             params.yaml becomes a copy of profiles/small.yaml
        compass profile use tiny --force      also where params.yaml holds edits that would be lost
    """
    put_in_force(name, force=force)
    return 0


@app.command
def diff(a: str, b: str, /, *, json: bool = False) -> int:
    """Show the settings in which two profiles differ.

    Exit status: 0 whether they differ or not; 1 if one of them cannot be read.

    Args:
        a: a profile's name, or a parameter file.
        b: a profile's name, or a parameter file.
        json: print a list of objects with `setting`, `a` and `b`.

    Raises:
        SettingsError: there is no such profile or file, or it is not YAML.

    Examples:
        compass profile diff tiny small              two profiles
        compass profile diff tiny params.yaml        what you changed
    """
    rows = differences(_file(a), _file(b))
    if json:
        print(json_lines.dumps([dict(zip(("setting", "a", "b"), row, strict=True)) for row in rows], indent=2))
    elif not rows:
        print(f"{a} and {b} have the same settings")
    else:
        table = [("setting", a, b), *rows]
        widths = [max(len(row[column]) for row in table) for column in (0, 1)]
        for key, first, second in table:
            print(f"{key:{widths[0]}}  {first:{widths[1]}}  {second}")
    return 0


@app.command(name="list")
def list_(*, json: bool = False) -> int:
    """List all profiles, with a mark at the one in use.

    Args:
        json: print a list of objects with `name` and `in_use`.

    Examples:
        compass profile list
    """
    from compass.settings.load import read_values

    current = read_values(Path("params.yaml")) if Path("params.yaml").exists() else None
    found = [{"name": path.stem, "in_use": read_values(path) == current} for path in _profiles()]
    if json:
        print(json_lines.dumps(found, indent=2))
        return 0
    for profile in found:
        print(f"{'*' if profile['in_use'] else ' '} {profile['name']}")
    return 0


def put_in_force(name: str, *, force: bool) -> None:
    """Copy `profiles/NAME.yaml` to `params.yaml`, after checking it, and fit dvc.yaml to its RL stages.

    Raises:
        SettingsError: there is no such profile, it is invalid, or `params.yaml` holds edits that no profile has.
    """
    from compass.files import atomic_path
    from compass.settings import load_settings

    source, target = _file(name), Path("params.yaml")
    settings = load_settings(source)
    if target.exists() and not force:
        check_edits(name)
    with atomic_path(target) as temporary:
        temporary.write_bytes(source.read_bytes())
    _fit_graph(settings)
    print(f"params.yaml is now the profile {name}; `compass run` runs it")
    if "$COMPASS_DATA" in source.read_text(encoding="utf-8").partition("\ncollect:")[2] and not os.environ.get(
        "COMPASS_DATA"
    ):
        print(
            f"it reads files from $COMPASS_DATA, which is not set: `compass data get {name} --out FOLDER` downloads them"
        )


def check_edits(name: str, root: Path = Path()) -> None:
    """Refuse to put the profile `name` in force where `params.yaml` would lose edits.

    Raises:
        SettingsError: it holds edits that no profile has; the message shows them.
    """
    from compass.settings import SettingsError

    target = root / "params.yaml"
    nearest = min(_profiles(root), key=lambda path: len(differences(path, target)))
    if edits := differences(nearest, target):
        shown = "\n".join(f"  {key}: {b} (profile {nearest.stem}: {a})" for key, a, b in edits[:10])
        more = f"\n  and {len(edits) - 10} more" if len(edits) > 10 else ""
        raise SettingsError(
            f"params.yaml was edited and would be lost:\n{shown}{more}\n"
            f"Save it as profiles/NAME.yaml, or overwrite it with `compass profile use {name} --force`."
        )


def _fit_graph(settings: Any) -> None:
    """Have dvc.yaml, where there is one, list the RL stages of the parameters in force."""
    from compass.settings import SettingsError
    from stages import _deps, _rl_entries

    try:
        _rl_entries.check_names(settings)
    except SettingsError:
        _deps.main()
        print(f"dvc.yaml now fits these parameters: RL stages {', '.join(settings.rl.stages)}")


def differences(a: Path, b: Path) -> list[tuple[str, str, str]]:
    """The parameters in which two files differ: key, value in `a`, value in `b`, sorted by key.

    What a list names (sources, benchmarks) is compared by its name, and the order of the names by itself.
    """
    from compass.runs.values import flatten
    from compass.settings.load import read_values

    first, second = flatten(read_values(a)), flatten(read_values(b))
    keys = sorted(first.keys() | second.keys())
    rows = [(key, first.get(key, ABSENT), second.get(key, ABSENT)) for key in keys]
    return [row for row in rows if row[1] != row[2]]


def _profiles(root: Path = Path()) -> list[Path]:
    return sorted((root / "profiles").glob("*.yaml"))


def _file(name: str) -> Path:
    """The parameter file that `name` means: a file's path, or a profile."""
    from compass.settings import SettingsError

    path = Path(name) if name.endswith((".yaml", ".yml")) else Path("profiles") / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(profile.stem for profile in _profiles()) or "none here: run it from the repository's root"
        raise SettingsError(f"there is no profile {name!r} ({path}); profiles: {known}")
    return path
