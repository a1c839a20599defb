"""What a stage read and wrote, by DVC's hashes.

DVC's own files are read as data (`dvc.yaml` for what a stage depends on, `dvc.lock` for what its outputs were);
hashes are computed by DVC's rules, so that they compare with those in `dvc.lock`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compass.yaml_files import read_yaml

IGNORED = ("__pycache__",)
"""Folder names that `.dvcignore` keeps out of every hash."""


class Graph:
    """`dvc.yaml` and `dvc.lock` of a folder, as far as tracking needs them."""

    def __init__(self, folder: str | Path = ".") -> None:
        self.folder = Path(folder)
        self.stages: dict[str, Any] = read_yaml(self.folder / "dvc.yaml").get("stages") or {}
        self.lock: dict[str, Any] = read_yaml(self.folder / "dvc.lock").get("stages") or {}
        self.parameters: Any = read_yaml(self.folder / "params.yaml")

    def deps(self, stage: str) -> list[str]:
        """Paths that a stage depends on, as `dvc.yaml` lists them; `${...}` is filled in from `params.yaml`."""
        return [
            re.sub(r"\$\{(.+?)\}", lambda key: str(self._parameter(key[1])), str(path))
            for path in self.stages.get(stage, {}).get("deps", [])
        ]

    def _parameter(self, key: str) -> Any:
        value = self.parameters
        for name in key.split("."):
            value = value[int(name) if isinstance(value, list) else name]
        return value

    def outs(self, stage: str) -> list[str]:
        """Paths that a stage writes: outs, metrics and plots."""
        entry = self.stages.get(stage, {})
        listed = [out for kind in ("outs", "metrics", "plots") for out in entry.get(kind, [])]
        return [next(iter(out)) if isinstance(out, dict) else str(out) for out in listed]

    def ancestors(self, stage: str) -> list[str]:
        """Stages whose outputs `stage` needs, directly or through others, in `dvc.yaml`'s order."""
        downstream: set[str] = set()
        waiting = [stage]
        while waiting:
            deps = self.deps(waiting.pop())
            for other in self.stages:
                needed = any(_within(dep, out) or _within(out, dep) for dep in deps for out in self.outs(other))
                if needed and other not in downstream:
                    downstream.add(other)
                    waiting.append(other)
        return [other for other in self.stages if other in downstream and other != stage]

    def dep_hashes(self, stage: str) -> dict[str, str]:
        """DVC's hash of each dependency that exists; hashes of other stages' outputs come from the lock."""
        locked = {out["path"]: out["md5"] for entry in self.lock.values() for out in entry.get("outs", [])}
        paths = [dep for dep in self.deps(stage) if (self.folder / dep).exists()]
        return {dep: locked.get(dep) or dvc_md5(self.folder / dep) for dep in paths}

    def out_hashes(self, stage: str) -> dict[str, str]:
        """DVC's hash of each output of a stage that exists on disk now."""
        return {out: dvc_md5(self.folder / out) for out in self.outs(stage) if (self.folder / out).exists()}

    def changed_since(self, stage: str) -> list[str]:
        """Stages that ran again, or whose settings are others in `params.yaml`, since `stage` last ran on what they wrote."""
        made = {out["path"]: (name, out["md5"]) for name, entry in self.lock.items() for out in entry.get("outs", [])}
        again = {
            made[dep["path"]][0]
            for dep in self.lock.get(stage, {}).get("deps", [])
            if dep["path"] in made and made[dep["path"]][1] != dep["md5"]
        }
        try:
            before = [*self.ancestors(stage), stage] if stage in self.lock else []
        except (LookupError, TypeError):  # `params.yaml` lacks what a path in `dvc.yaml` is filled in from
            before = []
        return [name for name in before if name in again or self._has_other_settings(name)]

    def _has_other_settings(self, stage: str) -> bool:
        settings = self.lock.get(stage, {}).get("params", {}).get("params.yaml", {})
        try:
            return any(as_read(self._parameter(key)) != as_read(value) for key, value in settings.items())
        except (LookupError, TypeError):
            return True

    def locked_outs(self, stage: str) -> dict[str, str]:
        """DVC's hash of each output as it was when the stage last ran."""
        return {out["path"]: out["md5"] for out in self.lock.get(stage, {}).get("outs", [])}


def digest(hashes: dict[str, str]) -> str:
    """One digest over `{path: hash}`."""
    return hashlib.md5(json.dumps(hashes, sort_keys=True).encode(), usedforsecurity=False).hexdigest()


def dvc_md5(path: str | Path) -> str:
    """DVC's hash of a file (md5 of its bytes) or a folder (md5 of its sorted listing, ending in `.dir`)."""
    path = Path(path)
    if path.is_file():
        with open(path, "rb") as content:
            return hashlib.file_digest(content, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
    listing = [{"md5": dvc_md5(file), "relpath": file.relative_to(path).as_posix()} for file in _files(path)]
    listing.sort(key=lambda entry: entry["relpath"])
    return hashlib.md5(json.dumps(listing, sort_keys=True).encode(), usedforsecurity=False).hexdigest() + ".dir"


def _files(folder: Path) -> Iterator[Path]:
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in IGNORED:
                yield from _files(entry)
        else:
            yield entry


def as_read(value: Any) -> Any:
    """A parameter's value with its texts that are numbers as numbers: YAML 1.1 reads `3e-3` as text, DVC and the settings as a number."""
    if isinstance(value, dict):
        return {key: as_read(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_read(one) for one in value]
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _within(path: str, folder: str) -> bool:
    return Path(path) == Path(folder) or Path(folder) in Path(path).parents
