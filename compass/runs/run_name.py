"""What a run is called: its profile and the settings that differ from it, as `tiny seed=1 clip_high=0.3 +2`.

The settings that differ from the run before come first: they are what tells it from the others.
The same differences are the parameters of the pipeline's run in MLflow, so that a name and a page agree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compass.runs.values import compare, flatten
from compass.settings import Settings, SettingsError, load_settings

SHOWN = 2
"""Differing settings that a name spells out; it counts the others."""

LONGEST_VALUE = 24
"""Characters of a value in a name."""

ABSENT = "(absent)"
"""Stands for a setting that one side does not have."""


@dataclass(frozen=True)
class Change:
    """A setting that differs from the profile's: its name with dots, the profile's value and the run's, as text."""

    name: str
    before: str
    after: str


LAST_RUN = Path(".compass/last_run.json")
"""What the last run did, written when it ends, however it ends, unless it is killed."""

LAST_STAGE = "COMPASS_LAST_STAGE"
"""Variable with the stage that ends the run: until then others follow. Without it, as under a plain `dvc repro`, nothing says so."""


def run_name(
    settings: Settings,
    profiles_folder: str | Path = "profiles",
    newest: Sequence[str] = (),
    *,
    longest: int | None = None,
) -> str:
    """The name of a run with these settings.

    Args:
        settings: what is in force.
        profiles_folder: where the complete parameter sets are; a profile that is not there counts as unchanged.
        newest: the settings that differ from the run before, which come first; a value that is the profile's again is named too.
        longest: characters of the name; settings that make it longer are counted and not spelt out.
    """
    changes = changed_settings(settings, profiles_folder)
    if changes is None:
        return settings.profile
    known, values = {one.name: one for one in changes}, flatten(settings.model_dump(mode="json"))
    first = [known.get(name) or Change(name, values[name], values[name]) for name in newest if name in values]
    ordered = [*first, *(one for one in changes if one not in first)]
    for count in range(min(SHOWN, len(ordered)), -1, -1):
        words = [f"{own_name(one.name)}={_short(one.after)}" for one in ordered[:count]]
        others = len([one for one in changes if one not in ordered[:count]])
        name = " ".join([settings.profile, *words, *([f"+{others}"] if others else [])])
        if longest is None or len(name) <= longest:
            break
    return name


def own_name(name: str) -> str:
    """A setting's own name; of a setting of one RL stage with the stage's: `rl-2.steps`."""
    parts = name.split(".")
    return ".".join(parts[2:3] + parts[-1:]) if parts[:2] == ["rl", "stages"] and len(parts) > 3 else parts[-1]


def slug(name: str) -> str:
    """A run's name as a git ref and a file name: spaces and what neither takes become `-`."""
    text = re.sub(r"[^A-Za-z0-9._=+-]+", "-", name)
    text = re.sub(r"\.{2,}", ".", text).removesuffix(".lock")
    return re.sub(r"-{2,}", "-", text).strip("-.") or "run"


def changed_settings(settings: Settings, profiles_folder: str | Path = "profiles") -> list[Change] | None:
    """The settings that differ from those of the profile they name; None where that profile cannot be read.

    The seed comes first, what only the report shows last, the rest in the order of the pipeline. A value of the shared
    recipe that differs is told once, not again under every RL stage that takes it over.
    """
    try:
        profile = load_settings(Path(profiles_folder) / f"{settings.profile}.yaml")
    except SettingsError:
        return None
    return differences(profile.model_dump(mode="json"), settings.model_dump(mode="json"))


def read_last_run(root: Path) -> dict[str, Any]:
    """What the last run in a repository did; empty where nothing has run here, or the run was killed before its end.

    `command`, `run` (what its stages have in common), `state` (`finished`, `failed`, `stopped`), `began` (seconds since 1970), `seconds`,
    `ran` (the stages), and as far as there are any `settings`, `experiment`, and the `stage` that did not end well.
    """
    try:
        return json.loads((root / LAST_RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def list_changed(root: Path, settings: Settings) -> list[str]:
    """The settings whose values differ from those of the run before; none where no run of this profile came before."""
    before = read_last_run(root).get("settings") or {}
    if before.get("profile") != settings.profile:
        return []
    return [change.name for change in differences(before, settings.model_dump(mode="json"))]


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """The settings in which two complete parameter sets differ, as `changed_settings` orders them."""
    first, second = flatten(before), flatten(after)
    changed = [Change(name, *values) for name, values in compare(first, second, ABSENT).items()]
    # A setting that one side alone has, and has empty, says nothing.
    own = [
        one for one in changed if not _inherited(one.name, first, second) and {one.before, one.after} != {"", ABSENT}
    ]
    return sorted(own, key=lambda one: (one.name != "seed", one.name.startswith("report.")))


def _inherited(name: str, first: Mapping[str, str], second: Mapping[str, str]) -> bool:
    """Whether a stage's value is that of the shared recipe on each side that has the stage."""
    parts = name.split(".")
    if parts[:2] != ["rl", "stages"] or len(parts) < 4:
        return False
    shared = ".".join(["rl", *parts[3:]])
    return all(side[name] == side.get(shared) for side in (first, second) if name in side)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
