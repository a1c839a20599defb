"""What runs in a repository now, what is stale and why, and what a run would do: from DVC's own account of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compass import environment
from compass.errors import UserError
from compass.locks import Holder, read_turn
from compass.runs.dvc_files import Graph, as_read
from compass.runs.progress import StageProgress, read_progress
from compass.runs.run_name import read_last_run
from compass.runs.values import compare, flatten
from compass.settings import load_settings
from flows.dvc_process import dvc_command
from stages._rl_entries import check_names

PARAMETERS = "params.yaml"
STATES = {"modified": "changed", "deleted": "is not there", "new": "is new", "not in cache": "is not in DVC's cache"}
"""DVC's words for what is wrong with a file, and ours."""

LONGEST_S = 30.0
"""Seconds that DVC may take to tell."""

HELD = ("Unable to acquire lock", "it is being blocked by")
"""What DVC says where another of its processes holds the repository or a file."""


@dataclass(frozen=True)
class Reason:
    """Why a stage is stale: `kind` is `setting`, `code`, `input`, `output` or `command`."""

    kind: str
    name: str
    """The setting's name or the file."""
    state: str
    """What is with it: `changed`, `is not there`, …; of a setting `8 → 16`."""

    def __str__(self) -> str:
        name = f"{self.name}:" if self.kind == "setting" else self.name
        return " ".join(part for part in (self.kind, name, self.state) if part)


@dataclass(frozen=True)
class Status:
    """Everything that `compass status` tells."""

    running: Holder | None
    progress: list[StageProgress]
    """The stages that are at work."""
    stale: dict[str, list[Reason]]
    """Stages that changed themselves, each with the reasons."""
    following: dict[str, list[str]]
    """Stages that run if what they read of stale ones turns out different, each with those."""
    last: dict[str, Any]
    """What the last run did (`compass.runs.run_name.read_last_run`); empty where there was none."""
    headline: dict[str, float] = field(default_factory=dict)
    fault: str = ""
    """Why it is not known what is stale; empty where it is."""


def read_status(root: Path) -> Status:
    """Look at a repository; nothing is changed, and a run that is going on is not disturbed."""
    stale, following, fault = {}, {}, ""
    try:
        check_names(load_settings(root / PARAMETERS), root / "dvc.yaml")
        graph = Graph(root)
        stale = _find_stale(graph)
        following = _find_following(graph, stale)
    except UserError as error:
        fault = str(error).replace(f"{root}/", "")
    return Status(
        running=read_turn(root),
        progress=[one for one in read_progress(root).values() if one.state == "running"],
        stale=stale,
        following=following,
        last={name: fact for name, fact in read_last_run(root).items() if name != "settings"},
        headline=_read_headline(root),
        fault=fault,
    )


def _find_stale(graph: Graph) -> dict[str, list[Reason]]:
    """The stages that DVC calls changed, in the order in which they run.

    Raises:
        UserError: DVC cannot tell now.
    """
    # Without `--wait-for-lock`: whoever asks wants to know now.
    command = [word for word in dvc_command("status", "--json") if word != "--wait-for-lock"]
    variables = {**environment.QUIET, **environment.dvc_variables(graph.folder), **os.environ}
    try:
        told = subprocess.run(
            command, cwd=graph.folder, env=variables, capture_output=True, text=True, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired:
        raise UserError(
            f"DVC did not say within {LONGEST_S:g} s what is stale, as when it hashes large files; `dvc status` waits for it"
        ) from None
    try:
        changed = json.loads(told.stdout)
    except ValueError:
        if any(words in told.stderr for words in HELD):
            found = "DVC cannot tell now what is stale, since it is at work; ask again in a few seconds"
            raise UserError(found) from None
        lines = told.stderr.strip().splitlines() or [f"it ended with status {told.returncode}"]
        first = next((line for line in lines if line.startswith("ERROR: ")), lines[0]).removeprefix("ERROR: ")
        raise UserError(f"DVC cannot tell what is stale: {first}; `dvc status` says all of it") from None
    return {stage: _find_reasons(graph, stage, changed[stage]) for stage in graph.stages if stage in changed}


def _find_following(graph: Graph, stale: Collection[str]) -> dict[str, list[str]]:
    """The stages below stale ones, each with those of them that it builds on."""
    below = {stage: [one for one in graph.ancestors(stage) if one in stale] for stage in graph.stages}
    return {stage: above for stage, above in below.items() if above and stage not in stale}


def _find_reasons(graph: Graph, stage: str, entries: list[Any]) -> list[Reason]:
    if stage not in graph.lock:
        return [Reason("output", "", "has not been made yet")]
    reasons: list[Reason] = []
    for entry in entries:
        if not isinstance(entry, dict):
            reasons.append(Reason("command", "", entry.removeprefix("changed ")))
            continue
        for path, state in entry.get("changed deps", {}).items():
            if isinstance(state, dict):
                reasons += [one for name in state for one in _find_changed_settings(graph, stage, name)]
            else:
                kind = "code" if path.startswith(("compass/", "stages/")) else "input"
                reasons.append(Reason(kind, path, STATES.get(state, state)))
        for path, state in entry.get("changed outs", {}).items():
            reasons.append(Reason("output", path, STATES.get(state, state)))
    return reasons


def _find_changed_settings(graph: Graph, stage: str, name: str) -> list[Reason]:
    """The settings below `name` that differ from those of the stage's last run."""
    before = graph.lock[stage].get("params", {}).get(PARAMETERS, {}).get(name)
    now: Any = graph.parameters
    for key in name.split("."):
        now = now.get(key) if isinstance(now, dict) else None
    found = compare(flatten({name: as_read(before)}), flatten({name: as_read(now)}), "default")
    return [Reason("setting", key, f"{old} → {new}") for key, (old, new) in found.items()]


def _read_headline(root: Path) -> dict[str, float]:
    try:
        return json.loads((root / "metrics" / "headline.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
