"""This folder: git, the parameters, DVC's cache and locks, and what older versions of MLflow left."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from compass.checks.finding import Finding, Place
from compass.runs.values import scrub
from compass.tracking.from_cache import cache_folder

HASH_BYTES = 1 << 20
"""Cached files up to this size are hashed; larger ones are compared by size."""

HASH_S = 0.7
"""Seconds that hashing may take."""


def check_git(place: Place) -> Iterator[Finding]:
    """Whether git works here, and what is not committed."""
    asked = subprocess.run(
        ["git", "-C", place.root, "status", "--porcelain"], capture_output=True, text=True, timeout=2.5
    )
    if asked.returncode:
        said = (asked.stderr.strip().splitlines() or ["no answer"])[0]
        remedy = "`git init && git add -A && git commit -m start`: DVC and the experiments need a repository"
        if "dubious ownership" in asked.stderr:
            remedy = f"`git config --global --add safe.directory {place.root}`"
        yield Finding("git", "problem", said, remedy)
        return
    lock = place.root / ".git/index.lock"
    if lock.exists() and not _open_somewhere(lock):
        yield Finding("git", "problem", ".git/index.lock is left of a git that was killed", "`rm .git/index.lock`")
    lines = asked.stdout.splitlines()
    changed = sum(not line.startswith("??") for line in lines)
    shown = f"{changed} changed and {len(lines) - changed} new files" if lines else "all is committed"
    yield Finding("git", "ok", shown)


def check_parameters(place: Place) -> Iterator[Finding]:
    """Parameters, variables, files, models and the room they need: what is checked before every run."""
    from compass.checks.before_run import find_problems

    found = find_problems(place.root)
    yield from found
    if not found:
        profile = place.settings.profile if place.settings else ""
        yield Finding("params.yaml", "ok", f"profile {profile}, ready to run")


def check_cache(place: Place) -> Iterator[Finding]:
    """Whether DVC's cache has the results that dvc.lock names, whole."""
    lock = place.root / "dvc.lock"
    objects = cache_folder(place.root)
    if not lock.exists():
        yield Finding("DVC cache", "ok", "no dvc.lock yet: nothing was run")
        return
    import yaml

    try:
        stages = (yaml.load(lock.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) or {}).get("stages", {})
        outs = {out["path"]: out for stage in stages.values() for out in stage.get("outs", [])}
    except (yaml.YAMLError, AttributeError, KeyError, TypeError):
        yield Finding("DVC cache", "problem", "dvc.lock cannot be read", "`git checkout dvc.lock`, or delete it")
        return
    deadline = time.monotonic() + HASH_S
    missing, damaged = [], []
    for path, out in outs.items():
        state = _find_damage(objects, out, deadline)
        if state == "missing":
            missing.append(path)
        elif state:
            damaged.append(state)
    if damaged:
        names = " ".join(str(one.relative_to(place.root) if one.is_relative_to(place.root) else one) for one in damaged)
        remedy = f"`rm -f {names}`, then `compass run` (or `dvc fetch`)"
        yield Finding("DVC cache", "problem", f"{len(damaged)} damaged file{'s' * (len(damaged) != 1)}", remedy)
    if missing:
        some = ", ".join(missing[:4]) + (" …" if len(missing) > 4 else "")
        here = [name for name, stage in stages.items() if _has_outputs(place.root, stage, missing)]
        keep = f"`dvc commit -f {' '.join(here)}` takes what still lies in this folder; " if here else ""
        remedy = f"{keep}`compass run` makes them again; `dvc pull` brings them where a remote has them"
        yield Finding("DVC cache", "warning", f"{len(missing)} of {len(outs)} results are missing: {some}", remedy)
    if not missing and not damaged:
        yield Finding("DVC cache", "ok", f"all {len(outs)} results of dvc.lock are in it")


def _has_outputs(root: Path, stage: dict, missing: list[str]) -> bool:
    """Whether the cache lacks outputs of a stage, and all of its outputs are in the folder."""
    paths = [out["path"] for out in stage.get("outs", [])]
    return any(path in missing for path in paths) and all((root / path).exists() for path in paths)


def _find_damage(objects: Path, out: dict, deadline: float) -> str | Path:
    """`missing`, the damaged file, or an empty text where an output is whole."""
    digest = out.get("md5", "")
    if not digest or out.get("cache") is False:
        return ""
    path = objects / digest[:2] / digest[2:]
    if not path.exists():
        return "missing"
    if not digest.endswith(".dir"):
        return path if _is_damaged(path, digest, out.get("size"), deadline) else ""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return path
    for entry in entries:
        member = objects / entry["md5"][:2] / entry["md5"][2:]
        if not member.exists():
            return "missing"
        if _is_damaged(member, entry["md5"], None, deadline):
            return member
    return ""


def _is_damaged(path: Path, digest: str, size: int | None, deadline: float) -> bool:
    found = path.stat().st_size
    if size is not None and found != size:
        return True
    if found > HASH_BYTES or time.monotonic() > deadline:
        return False
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest() != digest


def check_locks(place: Place) -> Iterator[Finding]:
    """Who works on the results, and locks of processes that are gone."""
    from compass.locks import read_turn

    if holder := read_turn(place.root):
        yield Finding("runs", "ok", f"in progress: {holder}")
        return
    dead = _find_dead_entries(place.root / ".dvc/tmp/rwlock")
    if dead is None:
        yield Finding(
            "locks", "problem", ".dvc/tmp/rwlock cannot be read: DVC will refuse to run", "`rm .dvc/tmp/rwlock`"
        )
    elif dead:
        who = ", ".join(map(str, sorted(dead)))
        found = f".dvc/tmp/rwlock names processes that have ended ({who})"
        yield Finding("locks", "warning", found, "`compass run` clears it; for `dvc` alone: `rm .dvc/tmp/rwlock`")
    else:
        yield Finding("locks", "ok", "no run is in progress, and none left a lock")


def _find_dead_entries(path: Path) -> set[int] | None:
    """Process ids in DVC's rwlock that no longer run; None where the file is torn."""
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        readers = [one for several in entries.get("read", {}).values() for one in several]
        pids = {int(one["pid"]) for one in [*readers, *entries.get("write", {}).values()]}
    except FileNotFoundError:
        return set()
    except (ValueError, AttributeError, KeyError, TypeError):
        return None
    return {pid for pid in pids if not psutil.pid_exists(pid)}


def check_mlflow_files(place: Place) -> Iterator[Finding]:
    """The file store `mlruns/`, which MLflow refuses since 3.14, and settings that point to one."""
    from compass.services.state import FOLDER

    uri = os.environ.get("MLFLOW_TRACKING_URI", "")
    if uri and urlsplit(uri).scheme in ("", "file"):
        remedy = "`unset MLFLOW_TRACKING_URI`: runs then go to the database in .compass"
        yield Finding("MLflow", "problem", f"MLFLOW_TRACKING_URI names a folder ({uri}), which MLflow refuses", remedy)
        return
    store = place.root / "mlruns"
    if store.is_dir() and any(store.glob("*/meta.yaml")):
        remedy = (
            f"`mlflow migrate-filestore --source mlruns --target sqlite:///{FOLDER}/mlflow-old.db`, or `rm -r mlruns`"
        )
        yield Finding(
            "MLflow", "warning", "mlruns/ holds records of a file store, which MLflow no longer reads", remedy
        )
    else:
        yield Finding("MLflow", "ok", f"records go to {scrub(uri) or f'{FOLDER}/mlflow.db'}")


def _open_somewhere(path: Path) -> bool:
    for process in psutil.process_iter():
        try:
            if process.name() == "git" and Path(process.cwd()).is_relative_to(path.parents[1]):
                return True
        except psutil.Error:
            continue
    return False
