"""`compass profile`: complete parameter sets under `profiles/`, of which `params.yaml` is the one in use.

compass profile list
compass profile use small
compass profile diff tiny small
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

ABSENT = "(default)"
"""Shown for a key that a profile leaves to its default."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands `use`, `diff` and `list`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    use = actions.add_parser("use", help="make a profile the parameters in use (params.yaml)")
    use.add_argument("name", help="a file of profiles/, without .yaml")
    use.add_argument("--force", action="store_true", help="overwrite params.yaml even where it was edited by hand")
    diff = actions.add_parser("diff", help="the parameters in which two profiles differ")
    diff.add_argument("a", help="a profile's name, or a parameter file")
    diff.add_argument("b", help="a profile's name, or a parameter file")
    actions.add_parser("list", help="all profiles, with a mark at the one in use")


def run(args: argparse.Namespace) -> int:
    """Carry out one subcommand from the repository's root.

    Raises:
        SettingsError: there is no such profile, or it cannot be used.
    """
    if args.action == "use":
        use(args.name, force=args.force)
    elif args.action == "diff":
        for key, a, b in diff(_file(args.a), _file(args.b)):
            print(f"{key}\t{a}\t{b}")
    else:
        current = _parameters(Path("params.yaml")) if Path("params.yaml").exists() else None
        for path in _profiles():
            print(("* " if _parameters(path) == current else "  ") + path.stem)
    return 0


def use(name: str, *, force: bool) -> None:
    """Copy `profiles/NAME.yaml` to `params.yaml`, after checking it, and fit dvc.yaml to its RL stages.

    Raises:
        SettingsError: there is no such profile, it is invalid, or `params.yaml` holds edits that no profile has.
    """
    from compass.settings import SettingsError, load_settings

    source, target = _file(name), Path("params.yaml")
    settings = load_settings(source)
    if target.exists() and not force:
        nearest = min(_profiles(), key=lambda path: len(diff(path, target)))
        if edits := diff(nearest, target):
            shown = "\n".join(f"  {key}: {b} (profile {nearest.stem}: {a})" for key, a, b in edits[:10])
            more = f"\n  and {len(edits) - 10} more" if len(edits) > 10 else ""
            raise SettingsError(
                f"params.yaml was edited and would be lost:\n{shown}{more}\n"
                f"Save it as profiles/NAME.yaml, or overwrite it with `compass profile use {name} --force`."
            )
    target.write_bytes(source.read_bytes())
    _fit_graph(settings)
    print(f"params.yaml is now the profile {name}; `make pipeline` runs it")


def _fit_graph(settings: Any) -> None:
    """Have dvc.yaml, where there is one, list the RL stages of the parameters in force."""
    from compass.settings import SettingsError
    from stages import _deps, _rl_entries

    try:
        _rl_entries.check_names(settings)
    except SettingsError:
        _deps.main()
        print(f"dvc.yaml now has the RL stages {', '.join(settings.rl.stages)}")


def diff(a: Path, b: Path) -> list[tuple[str, str, str]]:
    """The parameters in which two files differ: key, value in `a`, value in `b`, sorted by key."""
    from compass.tracking.values import flatten

    first, second = flatten(_parameters(a)), flatten(_parameters(b))
    keys = sorted(first.keys() | second.keys())
    rows = [(key, first.get(key, ABSENT), second.get(key, ABSENT)) for key in keys]
    return [row for row in rows if row[1] != row[2]]


def _profiles() -> list[Path]:
    return sorted(Path("profiles").glob("*.yaml"))


def _file(name: str) -> Path:
    """The parameter file that `name` means: a file's path, or a profile."""
    from compass.settings import SettingsError

    path = Path(name) if name.endswith((".yaml", ".yml")) else Path("profiles") / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(profile.stem for profile in _profiles()) or "none here: run it from the repository's root"
        raise SettingsError(f"there is no profile {name!r} ({path}); profiles: {known}")
    return path


def _parameters(path: Path) -> dict[str, Any]:
    import yaml

    from compass.settings import SettingsError

    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not readable as YAML: {error}") from None
    return values if isinstance(values, dict) else {}
