"""The `deps` of every stage in dvc.yaml, from what its module imports: `python -m stages._deps` writes them.

It also writes what follows from params.yaml (`stages/_rl_entries.py`): the entries of the RL stages, the files that parameters name
(sources, benchmarks, models, a person's marks, the user's filters), what `base` reads for a warm start, and who reads `curation`.

A stage depends on each file of the library that it imports, directly or through others, and on no other: an edit then
re-runs what it changes. A module that a string names is imported too: verl, vLLM and Ray load parts of the library by
their names. Folders are named where a stage uses all of them, or where they act as one (`WHOLE`). Other dependencies, as those
on data, models and metrics, are written by hand and stay.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from compass.errors import UserError
from compass.files import write_text
from compass.runs.repository import ask_git
from compass.settings import Settings, SettingsError, load_settings
from stages._rl_entries import (
    CURATION,
    MARKED,
    WARM_START_DATA,
    check_names,
    filter_deps,
    is_code,
    is_curation_set,
    is_of_the_pipeline,
    named_deps,
    reward_deps,
    start_deps,
    write_entries,
)

EVERYWHERE = frozenset(
    {
        "compass/__init__.py",
        "compass/environment.py",
        "compass/errors.py",
        "compass/extras.py",
        "compass/locks.py",
        "compass/machine.py",
        "compass/model_cards.py",
        "compass/process_tree.py",
        "compass/processes.py",
        "compass/progress.py",
        "compass/rl/failure.py",
        "compass/rl/trainer_watch.py",
        "compass/runs",
        "compass/sampling/cluster.py",
        "compass/sampling/pool.py",
        "compass/settings",
        "compass/tracking",
        "stages/__init__.py",
        "stages/_rl_entries.py",
        "stages/_stage.py",
    }
)
"""Left out on purpose: they carry parameters, describe a model in its card, say where a stage runs, or how a run goes and ends; none
changes a result."""

WHOLE = ("compass/curation/noise", "compass/verifier")
"""Folders that are named whole: the verifier and the filters act as one."""

_CURATED = f" # with {CURATION}"
"""Ends the command of a stage that reads `curation`. DVC does not see that an entry lost a dependency or parameter, as where a person's
marks are taken back; it does see that the command is another."""

_NAMED = re.compile(r"(?:pkg://)?((?:compass|stages)(?:\.\w+)+)")


def graph(root: Path) -> dict[str, Any]:
    """The stages of `dvc.yaml`."""
    return yaml.safe_load((root / "dvc.yaml").read_text(encoding="utf-8"))["stages"]


def code_deps(stage: str, root: Path, named: Sequence[str] = ()) -> list[str]:
    """The files and folders of the library that `stage` depends on, sorted.

    Args:
        stage: its name in `dvc.yaml`.
        root: the repository.
        named: files that the parameters name for it; what they import of the library counts as well.
    """
    script = f"stages/{stage}.py"
    needed = _used(script if (root / script).exists() else "stages/rl.py", root)
    needed |= {file for path in named for file in _used(path, root)}
    deps = set()
    for path in needed:
        folder = Path(path).parent
        whole = [name for name in WHOLE if path.startswith(f"{name}/")]
        if whole:
            deps.add(whole[0])
        elif is_code(path) and len(folder.parts) > 1 and _list_code(folder, root) <= needed:
            deps.add(str(folder))
        else:
            deps.add(path)
    return sorted(path for path in deps if not any(str(above) in deps for above in Path(path).parents))


def _list_code(folder: Path, root: Path) -> set[str]:
    """The Python files with content below a folder, as paths from the root."""
    return {str(file.relative_to(root)) for file in (root / folder).rglob("*.py") if file.stat().st_size}


def _everywhere(path: str) -> bool:
    return path in EVERYWHERE or any(str(folder) in EVERYWHERE for folder in Path(path).parents)


def _used(script: str, root: Path) -> set[str]:
    """Every file with content that a script can import, directly or through others, as paths from the root."""
    files: set[str] = set()
    waiting = {script}
    while waiting:
        path = waiting.pop()
        if path not in files and not _everywhere(path) and (root / path).stat().st_size:
            files.add(path)
            waiting |= _imported(path, root)
            whole = [name for name in WHOLE if path.startswith(f"{name}/")]
            waiting |= {str(file.relative_to(root)) for name in whole for file in (root / name).rglob("*.py")}
    return files


def _imported(path: str, root: Path) -> set[str]:
    """The project's files that a file imports, at its top, inside functions, or by a name in a string."""
    names = _list_named_modules((root / path).read_text(encoding="utf-8"), Path(path).parent)
    places = {Path(*name.split(".")) for name in names if name.split(".")[0] in ("compass", "stages")}
    # Importing a module imports the packages that it is in.
    modules = {module for place in places for module in (place, *place.parents) if module.name}
    candidates = (file for module in modules for file in (module.with_suffix(".py"), module / "__init__.py"))
    return {str(file) for file in candidates if (root / file).is_file()}


@cache  # most stages share most files
def _list_named_modules(code: str, package: Path) -> set[str]:
    """The dotted names of what a module in a package may import, and of what it imports them from."""
    names = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.parts[: len(package.parts) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (match := _NAMED.fullmatch(node.value)):
            names.add(match[1])
    return names


def write_deps(text: str, root: Path, settings: Settings) -> str:
    """A dvc.yaml with what every stage depends on in the library and by the parameters, as it is now; all else stays.

    Args:
        text: the content of a dvc.yaml that has the RL stages of the settings.
        root: the repository.
        settings: those of params.yaml.
    """
    named, filters, curated = named_deps(settings, root), filter_deps(settings, root), is_curation_set(settings)
    stages = yaml.safe_load(text)["stages"]
    wanted = {}
    for stage, entry in stages.items():
        ours = named.get(stage, {})
        others = [
            dep
            for dep in entry.get("deps", [])
            if not is_code(dep)
            and "${" not in dep
            and dep not in ours.values()
            and not (stage == "denoise" and dep.endswith(".py"))
            and not (stage == "base" and dep == WARM_START_DATA)
        ]
        if stage == "base" and settings.base.warm_start is not None:
            others.append(WARM_START_DATA)
        wanted[stage] = sorted({*code_deps(stage, root, filters if stage == "denoise" else ()), *others, *ours})
    lines, stage, inside = [], "", False
    for line in text.splitlines():
        if (name := line.strip().removesuffix(":")) in wanted and line == f"  {name}:":
            stage = name
        inside = inside and line.startswith("      - ")
        if inside:
            continue
        if stage in MARKED and (CURATION in stages[stage].get("params", [])) != curated:
            if line.startswith("    cmd: "):
                command = stages[stage]["cmd"].removesuffix(_CURATED)
                line = f'    cmd: "{command}{_CURATED}"' if curated else f"    cmd: {command}"
            elif line.startswith("    params:"):
                inside = line == "    params:"
                params = [name for name in stages[stage]["params"] if name != CURATION]
                line = f"    params: [{', '.join([*params, *([CURATION] if curated else [])])}]"
        lines.append(line)
        if line == "    deps:":
            inside = True
            lines += [f"      - {dep}" for dep in wanted[stage]]
    return "\n".join(lines) + "\n"


FITTED = "dvc.yaml now says which RL stages and files these parameters name"
"""What whoever started it reads after `fit_graph` has written."""


def fit_graph(root: Path = Path()) -> bool:
    """Have dvc.yaml say what the parameters in force name, RL stages and files, where it does not yet.

    Returns:
        Whether it was written. A dvc.yaml without a stage of this pipeline is the user's own and stays.

    Raises:
        SettingsError: params.yaml cannot be used.
    """
    settings = load_settings(root / "params.yaml")
    try:
        check_names(settings, root / "dvc.yaml")
    except SettingsError:
        return _write_graph(root, settings)
    return False


def main(root: Path = Path()) -> None:
    """Write the RL stages of params.yaml and what every stage depends on into dvc.yaml.

    Raises:
        SettingsError: params.yaml cannot be used.
    """
    written = _write_graph(root, load_settings(root / "params.yaml"))
    print(f"{root / 'dvc.yaml'}: {'written; `git diff dvc.yaml` shows what changed' if written else 'as it was'}")


def is_committed(root: Path, settings: Settings) -> bool:
    """Whether dvc.yaml is the committed one, or what that one becomes for these parameters."""
    committed = ask_git(root, "show", "HEAD:./dvc.yaml") or ""
    text = (root / "dvc.yaml").read_text(encoding="utf-8").strip()
    if committed == text:
        return True
    graph = (yaml.safe_load(committed) or {}).get("stages") or {}
    return is_of_the_pipeline(graph) and _fit_text(committed + "\n", root, settings).strip() == text


def _fit_text(text: str, root: Path, settings: Settings) -> str:
    text = write_entries(text, start_deps(settings), reward_deps(settings, root))
    return write_deps(text, root, settings)


def _write_graph(root: Path, settings: Settings) -> bool:
    path = root / "dvc.yaml"
    before = path.read_text(encoding="utf-8")
    text = _fit_text(before, root, settings)
    if text == before:
        return False
    write_text(path, text)
    try:
        check_names(settings, path)
    except UserError as error:
        write_text(path, before)
        raise SettingsError(
            f"{path} is not laid out as this pipeline writes it, and stays as it was: {error.message}",
            "take it from git (`git checkout dvc.yaml`), then run this again",
        ) from None
    return True


if __name__ == "__main__":
    try:
        main()
    except SettingsError as error:
        sys.exit(f"make deps: {error}")
