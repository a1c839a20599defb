"""A finished run's folder, put together again from DVC's cache: links to every output that its MLflow run names by hash."""

from __future__ import annotations

import configparser
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from compass.files import write_json
from compass.runs.repository import repository_root
from compass.tracking.mlflow_client import STATE

LEFT_OUT = ("models", "reports")
"""Outputs that no comparison reads."""

_HASH = re.compile(r"[0-9a-f]{32}(\.dir)?")


def cache_folder(root: Path) -> Path:
    """Where DVC keeps file contents: `.dvc/cache`, unless its configuration names another folder."""
    place = root / ".dvc" / "cache"
    for name in ("config", "config.local"):
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read(root / ".dvc" / name)
        if given := parser.get("cache", "dir", fallback="").strip():
            place = root / ".dvc" / given
    return place / "files" / "md5"


def run_folder(
    name: str,
    outputs: Mapping[str, Mapping[str, str]],
    settings: Mapping[str, Any] | None,
    times: Mapping[str, Mapping[str, Any]],
    folder: str | Path = ".",
) -> tuple[Path, list[str]]:
    """A folder as the run left it.

    What is known of the run comes from a tracking server that others may write to: a path that leads out of the folder, and a
    hash that is none, count as missing.

    Args:
        name: its name below `.compass/runs`.
        outputs: stage to its outputs' paths and DVC's hashes.
        settings: the run's parameters.
        times: stage to `compass.runs.stage_times`.
        folder: the repository.

    Returns:
        The folder, and the paths of outputs that DVC's cache does not hold.
    """
    root = repository_root(folder)
    place, cache = root / STATE / "runs" / name, cache_folder(root)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    missing = [
        path
        for outs in outputs.values()
        for path, md5 in outs.items()
        if path.partition("/")[0] not in LEFT_OUT and not (_is_inside(path) and _link(cache, md5, place / path))
    ]
    if settings:
        (place / "params.yaml").write_text(yaml.safe_dump(dict(settings), sort_keys=False), encoding="utf-8")
    if (root / "profiles").is_dir():
        (place / "profiles").symlink_to(root / "profiles")
    for stage, facts in times.items():
        if _is_inside(stage):
            write_json(place / "work" / "times" / f"{stage}.json", facts)
    return place, missing


def _link(cache: Path, md5: str, target: Path) -> bool:
    """Link a file, or every file of a folder, to DVC's copy; False where it has none."""
    stored = cache / md5[:2] / md5[2:]
    if not _HASH.fullmatch(md5) or not stored.exists():
        return False
    if not md5.endswith(".dir"):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(stored.resolve())
        return True
    entries = json.loads(stored.read_text(encoding="utf-8"))
    linked = [
        _is_inside(entry["relpath"]) and _link(cache, entry["md5"], target / entry["relpath"]) for entry in entries
    ]
    return all(linked)


def _is_inside(path: str) -> bool:
    return not Path(path).is_absolute() and ".." not in Path(path).parts
