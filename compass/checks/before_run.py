"""What is checked before every run: every known fault of parameters, files, models and this machine, in under a second.

DVC removes a stage's outputs before it runs the stage, so a fault that only the stage finds costs what the last run made.
Stages keep their own checks: what needs minutes, a network or a loaded model is theirs alone.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from compass.checks.finding import Finding, format_findings
from compass.errors import UserError
from compass.settings import Settings, SettingsError
from compass.settings.load import parse_values, read_values, settings_or_faults
from stages._rl_entries import check_names


def check_before_run(root: str | Path = ".", settings: Settings | None = None, *, text: str | None = None) -> None:
    """Find what would stop the pipeline.

    Args:
        root: the repository's root.
        settings: what to check instead of `params.yaml` there.
        text: the same as the text of a parameter file.

    Raises:
        UserError: something would; the message lists all of it.
    """
    if found := find_problems(root, settings, text=text):
        raise UserError(format_findings(found))


def find_problems(
    root: str | Path = ".", settings: Settings | None = None, *, text: str | None = None
) -> list[Finding]:
    """What would stop the pipeline, as `check_before_run`; empty where nothing is known to."""
    from compass.checks.batches import find_batch_problems
    from compass.checks.data import find_data_problems
    from compass.checks.devices import find_machine_problems
    from compass.checks.models import find_model_problems

    root = Path(root)
    if settings is None:
        path = root / "params.yaml"
        try:
            read = settings_or_faults(read_values(path) if text is None else parse_values(text, path))
        except SettingsError as error:
            return [Finding("params.yaml", "problem", str(error).removeprefix(f"{path}: "), _MEND_FILE)]
        if not isinstance(read, Settings):
            return [Finding(fault.key, "problem", fault.message, fault.hint or _MEND_VALUE) for fault in read]
        settings = read
    found, rows = find_data_problems(settings, root)
    return [
        *find_graph_problems(settings, root),
        *found,
        *find_model_problems(settings, root),
        *find_reward_problems(settings, root),
        *find_batch_problems(settings, root, rows),
        *find_machine_problems(settings, root),
    ]


_MEND_FILE = "repair params.yaml, or write it again with `compass profile use NAME --force`"
_MEND_VALUE = "change it in params.yaml; profiles/ has complete examples"


def find_graph_problems(settings: Settings, root: Path) -> list[Finding]:
    """What is wrong with dvc.yaml for these settings."""
    path = root / "dvc.yaml"
    if not path.is_file():
        return [
            Finding("dvc.yaml", "problem", f"there is none in {root.resolve()}", "run this in the repository's root")
        ]
    if "-m stages." not in path.read_text(encoding="utf-8"):
        return []  # a graph of another making, whose stages are its own
    try:
        check_names(settings, path)
    except SettingsError as error:
        return [Finding("dvc.yaml", "problem", error.message.replace(str(path), path.name), error.remedy)]
    return []


def find_reward_problems(settings: Settings, root: Path) -> list[Finding]:
    """What is wrong with the functions that `rl.reward.function` names, shared or of a stage.

    Their modules are imported from the repository's root, as a stage imports them. What they pay is compared where the guard
    `reward_canary` would stop a stage.
    """
    functions: dict[str, tuple[str, bool]] = {}
    for name, stage in settings.rl.stages.items():
        if function := stage.reward.function:
            first, compare = functions.get(function, (name, False))
            functions[function] = first, compare or stage.guards.reward_canary.level == "stop"
    if not functions:
        return []
    from compass.rl.reward_canary import check_known
    from compass.rl.reward_function import RewardError

    found = []
    sys.path.insert(0, str(root.resolve()))
    importlib.invalidate_caches()
    try:
        for function, (name, compare) in functions.items():
            try:
                check_known(function, compare=compare)
            except RewardError as error:
                where = "rl" if settings.rl.reward.function == function else f"rl.stages.{name}"
                found.append(Finding(f"{where}.reward.function", "problem", error.message, error.remedy))
    finally:
        sys.path.remove(str(root.resolve()))
    return found
