"""`compass profile`: complete parameter sets under `profiles/`, of which `params.yaml` is the one in use."""

from __future__ import annotations

import json as json_lines
import os
from pathlib import Path

from cyclopts import App

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
    from compass.files import atomic_path
    from compass.settings import load_settings
    from flows.overrides import check_edits, find_parameters
    from stages._deps import FITTED, fit_graph

    source, target = find_parameters(Path(), name), Path("params.yaml")
    load_settings(source)  # checked before it replaces the other
    if target.exists() and not force:
        check_edits(name)
    with atomic_path(target) as temporary:
        temporary.write_bytes(source.read_bytes())
    if fit_graph():
        print(FITTED)
    print(f"params.yaml is now the profile {name}; `compass run` runs it")
    if "$COMPASS_DATA" in source.read_text(encoding="utf-8").partition("\ncollect:")[2] and not os.environ.get(
        "COMPASS_DATA"
    ):
        print(
            f"it reads files from $COMPASS_DATA, which is not set: `compass data get {name} --out FOLDER` downloads them"
        )
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
    from flows.overrides import compare_files, find_parameters

    rows = compare_files(find_parameters(Path(), a), find_parameters(Path(), b))
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
    from flows.overrides import list_profiles

    current = read_values(Path("params.yaml")) if Path("params.yaml").exists() else None
    found = [{"name": path.stem, "in_use": read_values(path) == current} for path in list_profiles()]
    if json:
        print(json_lines.dumps(found, indent=2))
        return 0
    for profile in found:
        print(f"{'*' if profile['in_use'] else ' '} {profile['name']}")
    return 0
