"""Whether dvc.yaml is there and fits the parameters: the RL stages, and what `base` reads."""

from __future__ import annotations

from pathlib import Path

from compass.preflight.problem import Problem
from compass.settings import Settings, SettingsError
from stages._rl_entries import check_names


def graph_problems(settings: Settings, root: Path) -> list[Problem]:
    """What is wrong with dvc.yaml for these settings."""
    path = root / "dvc.yaml"
    if not path.is_file():
        return [Problem("dvc.yaml", f"there is none in {root.resolve()}", "run this in the repository's root")]
    if "-m stages." not in path.read_text(encoding="utf-8"):
        return []  # a graph of another making, whose stages are its own
    try:
        check_names(settings, path)
    except SettingsError as error:
        found, _, remedy = str(error).replace(str(path), path.name).rpartition("; ")
        return [Problem("dvc.yaml", found, remedy)]
    return []
