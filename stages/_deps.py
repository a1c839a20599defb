"""The `deps` of every stage in dvc.yaml, from what its module imports: `python -m stages._deps` writes them.

It also writes the entries of the RL stages, from `rl.stages` of params.yaml (`stages/_rl_entries.py`), and what `base` reads for
a warm start, which files `denoise` reads for the user's filters, and the file of a person's marks.

A stage depends on each file of the library that it imports, directly or through others, and on no other: an edit then
re-runs what it changes. A module that a string names is imported too: verl, vLLM and Ray load parts of the library by
their names. Folders are named where a stage uses all of them, or where they act as one (`WHOLE`). Dependencies on data,
models and metrics are written by hand and stay.
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

from compass.files import write_text
from compass.settings import SettingsError, load_settings
from stages._rl_entries import MARKED, WARM_START_DATA, filter_deps, reward_deps, start_deps, write_entries

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
        inside = {str(file.relative_to(root)) for file in (root / folder).rglob("*.py") if file.stat().st_size}
        if whole:
            deps.add(whole[0])
        elif is_code(path) and len(folder.parts) > 1 and inside <= needed:
            deps.add(str(folder))
        else:
            deps.add(path)
    return sorted(path for path in deps if not any(str(above) in deps for above in Path(path).parents))


def is_code(dep: str) -> bool:
    """Whether a dependency is part of the library, not an output of a stage."""
    return dep.startswith(("compass/", "stages/"))


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
    imported = set()
    for name in (name for name in names if name.split(".")[0] in ("compass", "stages")):
        place = Path(*name.split("."))
        for module in (place, *place.parents):  # importing a module imports the packages it is in
            candidates = (module.with_suffix(".py"), module / "__init__.py") if module.name else ()
            imported |= {str(file) for file in candidates if (root / file).is_file()}
    return imported


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


def write_deps(
    text: str, root: Path, *, warm_start: bool = False, filters: Sequence[str] = (), labels: str = ""
) -> str:
    """A dvc.yaml with the code that every stage depends on, as it is now; all else stays.

    Args:
        text: the content of a dvc.yaml.
        root: the repository.
        warm_start: whether `base` reads curated problems.
        filters: files of the user's filters, which `denoise` reads; it depends on no other Python file outside the library.
        labels: the file of a person's marks, which the `MARKED` stages read; they depend on no other file of JSON lines.
    """
    wanted = {}
    for stage, entry in yaml.safe_load(text)["stages"].items():
        own = filters if stage == "denoise" else ()
        marks = [labels] if labels and stage in MARKED else []
        others = (dep for dep in entry["deps"] if not is_code(dep) and not (stage == "denoise" and dep.endswith(".py")))
        others = (dep for dep in others if not (stage in MARKED and dep.endswith(".jsonl")))
        wanted[stage] = sorted({*code_deps(stage, root, own), *others, *marks})
    if "base" in wanted:
        wanted["base"] = [dep for dep in wanted["base"] if dep != WARM_START_DATA]
        wanted["base"] += [WARM_START_DATA] if warm_start else []
        wanted["base"].sort()
    lines, stage, inside = [], "", False
    for line in text.splitlines():
        if (name := line.strip().removesuffix(":")) in wanted and line == f"  {name}:":
            stage = name
        inside = inside and line.startswith("      - ")
        if inside:
            continue
        lines.append(line)
        if line == "    deps:":
            inside = True
            lines += [f"      - {dep}" for dep in wanted[stage]]
    return "\n".join(lines) + "\n"


def main(root: Path = Path()) -> None:
    """Write the RL stages of params.yaml and the deps of every stage into dvc.yaml.

    Raises:
        SettingsError: params.yaml cannot be used.
    """
    path = root / "dvc.yaml"
    settings = load_settings(root / "params.yaml")
    before = path.read_text(encoding="utf-8")
    text = write_entries(before, start_deps(settings), reward_deps(settings, root))
    text = write_deps(
        text,
        root,
        warm_start=settings.base.warm_start is not None,
        filters=filter_deps(settings, root),
        labels=settings.curation.labels,
    )
    write_text(path, text)
    print(f"{path}: {'as it was' if text == before else 'written; `git diff dvc.yaml` shows what changed'}")


if __name__ == "__main__":
    try:
        main()
    except SettingsError as error:
        sys.exit(f"make deps: {error}")
