"""What is checked before every run: every known fault of parameters, files, models and this machine, in under a second.

DVC removes a stage's outputs before it runs the stage, so a fault that only the stage finds costs what the last run made.
Stages keep their own checks: what needs minutes, a network or a loaded model is theirs alone.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from compass.checks.data import find_data_problems
from compass.checks.finding import Finding, format_findings, merge_stages
from compass.checks.machine import find_machine_problems
from compass.checks.models import find_model_problems
from compass.errors import UserError
from compass.settings import Settings, SettingsError
from compass.settings.load import parse_values, read_values, settings_or_faults
from compass.yaml_files import read_yaml

_MEND_FILE = "repair params.yaml, or write it again with `compass profile use NAME --force`"
_MEND_VALUE = "change it in params.yaml; profiles/ has complete examples"


def check_before_run(root: str | Path = ".", text: str | None = None) -> None:
    """Find what would stop the pipeline with the parameters in `root`, or in the text of a parameter file.

    Raises:
        UserError: something would; the message lists all of it.
    """
    if found := find_problems(root, text=text):
        raise UserError(format_findings(found))


def find_problems(
    root: str | Path = ".",
    settings: Settings | None = None,
    *,
    text: str | None = None,
    paid: dict[str, list[float]] | None = None,
) -> list[Finding]:
    """What would stop the pipeline; empty where nothing is known to.

    Args:
        root: the repository's root.
        settings: what to check instead of `params.yaml` there.
        text: the same as the text of a parameter file.
        paid: filled with what reward functions of the user's pay, as `find_reward_problems` does.
    """
    root = Path(root)
    if settings is None:
        path = root / "params.yaml"
        try:
            read = settings_or_faults(read_values(path) if text is None else parse_values(text, path))
        except SettingsError as error:
            return [Finding("params.yaml", str(error).removeprefix(f"{path}: "), _MEND_FILE)]
        if not isinstance(read, Settings):
            return [Finding(fault.key, fault.message, fault.hint or _MEND_VALUE) for fault in read]
        settings = read
    found, rows = find_data_problems(settings, root)
    return [
        *find_graph_problems(root),
        *found,
        *find_model_problems(settings, root),
        *find_filter_problems(settings, root),
        *find_reward_problems(settings, root, paid),
        *find_batch_problems(settings, rows),
        *find_machine_problems(settings, root),
    ]


def find_graph_problems(root: Path) -> list[Finding]:
    """Why dvc.yaml cannot be read. Whether it fits the parameters is not checked: the run that starts writes what they need."""
    path = root / "dvc.yaml"
    if not path.is_file():
        return [Finding("dvc.yaml", f"there is none in {root.resolve()}", "run this in the repository's root")]
    try:
        read_yaml(path)
    except UserError as error:
        found = error.message.replace(f"{path}: ", "").replace(str(path), path.name)
        return [Finding("dvc.yaml", found, error.remedy or "repair it, or take it from git: `git checkout dvc.yaml`")]
    return []


def find_filter_problems(settings: Settings, root: Path) -> list[Finding]:
    """What is wrong with the filters that `denoise.filters` names, as far as importing them shows it."""
    if not settings.denoise.filters:
        return []
    from compass.curation.noise.own_filter import FilterError, load_filter

    found = []
    with _importing_from(root):
        for name in settings.denoise.filters:
            try:
                load_filter(name)
            except FilterError as error:
                found.append(Finding("denoise.filters", error.message, error.remedy))
    return found


def find_reward_problems(settings: Settings, root: Path, paid: dict[str, list[float]] | None = None) -> list[Finding]:
    """What is wrong with the functions that `rl.reward.function` names, shared or of a stage.

    Their modules are imported from the repository's root, as a stage imports them. What they pay is compared where the guard
    `reward_canary` would stop a stage.

    Args:
        settings: what names them.
        root: the repository's root.
        paid: filled with what each function that has no problem pays for known answers.
    """
    functions: dict[str, tuple[str, bool]] = {}
    for name, stage in settings.rl.stages.items():
        if function := stage.reward.function:
            first, compare = functions.get(function, (name, False))
            functions[function] = first, compare or stage.guards.reward_canary.level == "stop"
    if not functions:
        return []
    from compass.rl.reward_function import RewardError

    found = []
    for function, (name, compare) in functions.items():
        try:
            rewards = check_reward(function, root, compare=compare)
        except RewardError as error:
            where = "rl" if settings.rl.reward.function == function else f"rl.stages.{name}"
            found.append(Finding(f"{where}.reward.function", error.message, error.remedy))
        else:
            if paid is not None:
                paid[function] = rewards
    return found


def check_reward(function: str, root: Path, *, compare: bool = False) -> list[float]:
    """`compass.rl.reward_canary.check_known`, its module looked for in the repository's root first."""
    from compass.rl.reward_canary import check_known

    with _importing_from(root):
        return check_known(function, compare=compare)


@contextmanager
def _importing_from(root: Path) -> Iterator[None]:
    """Look for modules in the repository's root first, as a stage does."""
    sys.path.insert(0, str(root.resolve()))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(root.resolve()))


def find_batch_problems(settings: Settings, rows: int | None) -> list[Finding]:
    """RL stages that cannot fill a batch, as far as the settings and the number of rows show it.

    Args:
        settings: what to check.
        rows: the rows of all sources together; None where that is not known.
    """
    bounds = []
    if rows is not None:
        bounds.append((rows, "all sources together hold"))
    sources, generator = settings.collect.sources, settings.collect.generate
    if generator and all(source.path.startswith("$GENERATED") for source in sources):
        bounds.append((5 * generator.problems_per_level, "`collect.generate.problems_per_level` gives"))
    if settings.grade.max_problems and not settings.curriculum.use_source_level:
        bounds.append((settings.grade.max_problems, "`grade.max_problems` leaves it"))
    if not bounds:
        return []
    count, why = min(bounds)
    found = []
    for name, stage in settings.rl.stages.items():
        held, batch = stage.checkpoint.validation_problems, stage.data.batch_size
        if count - held >= batch:
            continue
        validation = f", {held} of them held out (`checkpoint.validation_problems`)" if held else ""
        problems = f"{count} problem{'s' * (count != 1)}{validation}, fewer than a batch of {batch}"
        remedy = (
            f"set `rl.data.batch_size` and `rl.optimizer.mini_batch_size` to {max(1, count - held)} or less, or give it "
            "more problems: sources, `curriculum.mixes`, `curriculum.solve_rate`"
        )
        found.append(Finding(f"rl.stages.{name}.data.batch_size", f"{why} {problems}", remedy))
    return merge_stages(found, list(settings.rl.stages))
