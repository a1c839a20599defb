"""Completed runs as DVC experiments: named as in MLflow, comparable without a commit of `dvc.lock`."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from compass.environment import dvc_variables
from flows.repro import raw_dvc

_REF = re.compile(r"refs/exps/[0-9a-f]{2}/[0-9a-f]{38}/(.+)")
LONGEST_NAME = 36
"""Characters of a planned name."""

LATEST = Path(".compass/last_experiment")
"""Holds the name of the experiment that the workspace's results were saved as."""


def experiments(root: Path) -> list[str]:
    """Names of the experiments of a repository, the newest first; empty without git."""
    listed = _git(root, "for-each-ref", "--sort=-creatordate", "--format=%(refname)", "refs/exps")
    return [match[1] for line in listed.splitlines() if (match := _REF.fullmatch(line))]


def planned_name(root: Path) -> str | None:
    """The name of the experiment for the parameters in force, which no other has; None where there is no commit yet.

    MLflow's name for the run in short: `tiny-samples=16` for `tiny evaluate.samples=16`, since `dvc exp show` cuts no name
    and has 120 columns for all it shows.
    """
    from compass.runs.run_name import SHOWN, changed_settings, slug
    from compass.settings import load_settings

    if not _git(root, "rev-parse", "--verify", "-q", "HEAD"):
        return None
    settings = load_settings(root / "params.yaml")
    changes = changed_settings(settings, root / "profiles") or []
    shown = [f"{_last(change.name)}={change.after}" for change in changes[:SHOWN]]
    more = [f"+{len(changes) - SHOWN}"] if len(changes) > SHOWN else []
    return unused(slug(" ".join([settings.profile, *shown, *more])[:LONGEST_NAME]), experiments(root))


def _last(name: str) -> str:
    """A setting's own name; of a setting of one RL stage with the stage's: `rl-2.steps`."""
    parts = name.split(".")
    return ".".join(parts[2:3] + parts[-1:]) if parts[:2] == ["rl", "stages"] and len(parts) > 3 else parts[-1]


def unused(name: str, taken: Sequence[str]) -> str:
    """The name, or the first of `name-2`, `name-3`, … that is not taken."""
    number = 1
    while (wanted := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return wanted


def save_experiment(
    root: Path, name: str, stages: Sequence[str], *, message: str | None = None, env: Mapping[str, str] | None = None
) -> str | None:
    """Save the results in the workspace as an experiment.

    Only the stages that ran are handed to DVC: without names it would enter the outputs of every stage into `dvc.lock`,
    also of those that are stale, and so call them up to date.

    Args:
        root: the repository's root.
        name: the experiment's.
        stages: those that ran just now; nothing is saved where there are none.
        message: of its commit.
        env: variables besides those of this process.

    Returns:
        The name; None where nothing ran or DVC could not save it, which costs no result.
    """
    if not stages:
        return None
    words = ["exp", "save", "--name", name, *(["--message", message] if message else []), *stages]
    if not _ended_well(raw_dvc(*words), root, {**dvc_variables(root), **os.environ, **_author(root), **(env or {})}):
        return None
    (root / LATEST).parent.mkdir(parents=True, exist_ok=True)
    (root / LATEST).write_text(name + "\n", encoding="utf-8")
    return name


def _author(root: Path) -> dict[str, str]:
    """Who the experiment's commit is by, where git does not know its user: it takes no commit without."""
    if os.environ.get("GIT_AUTHOR_EMAIL") or _git(root, "config", "user.email"):
        return {}
    names = {f"GIT_{role}_NAME": "compass" for role in ("AUTHOR", "COMMITTER")}
    return {**names, **{f"GIT_{role}_EMAIL": "compass@localhost" for role in ("AUTHOR", "COMMITTER")}}


def _ended_well(command: list[str], root: Path, env: Mapping[str, str]) -> bool:
    """Run a command to its end: an interruption must not stop it between its commit and the return to the branch."""
    null = subprocess.DEVNULL
    process = subprocess.Popen(command, cwd=root, env=env, stdin=null, stdout=null, stderr=null, start_new_session=True)
    interrupted: BaseException | None = None
    while process.returncode is None:
        try:
            process.wait()
        except BaseException as error:
            interrupted = error
    if interrupted:
        raise interrupted
    return process.returncode == 0


def _git(root: Path, *words: str) -> str:
    try:
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True).stdout.strip()
    except FileNotFoundError:
        return ""
