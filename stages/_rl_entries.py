"""The RL stages in dvc.yaml: written from `rl.stages` of params.yaml by `compass run` and `make deps`, compared with it by every stage;
and what `base`, `grade` and the data stages read because a parameter names it.

An entry takes the files that parameters name from there (`models/${rl.stages.NAME.init_from}`, `${collect.sources.0.path}`), so that
DVC follows a change of them by itself. A hub id is pinned by its revision, which is a parameter; a URL and a path with a variable
(`$NAME`) or `~` are not followed. Names it cannot follow: stages that read what RL stages write, and plots, list them one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from compass.settings import Settings, SettingsError
from compass.settings.curation import Curation
from compass.settings.rl import GROUPS, RlStage
from compass.yaml_files import read_yaml

COMMAND = "python -m stages.rl "
"""What the entry of an RL stage runs, before its name."""

OUTPUTS = ("models/{}", "data/{}", "metrics/{}.json")
"""What an RL stage writes, by its name."""

WARM_START_DATA = "data/denoise"
"""What the stage `base` reads where the parameters ask for a warm start, and only there: no other base waits for data."""

MARKED = ("collect", "dedup", "denoise", "verify")
"""Stages that a person's marks overrule: they read `curation`, and the file that its `labels` names."""

CURATION = "curation"
"""The section that the `MARKED` stages read where params.yaml sets it; most parameter files have none, and DVC refuses to
follow what is not there."""


def rl_names(graph: Mapping[str, Any]) -> list[str]:
    """The RL stages among the stages of a dvc.yaml, in its order."""
    return [name for name, entry in graph.items() if str(entry.get("cmd", "")).startswith(COMMAND)]


def is_of_the_pipeline(graph: Mapping[str, Any]) -> bool:
    """Whether the stages of a dvc.yaml hold one of this pipeline; else it is the user's own."""
    return any("-m stages." in str(entry.get("cmd")) for entry in graph.values())


_WRITE_GRAPH = "run `make deps`, which writes dvc.yaml from params.yaml, as `compass run` and `compass profile use` do by themselves"


def check_names(settings: Settings, path: Path = Path("dvc.yaml")) -> None:
    """Compare what dvc.yaml, where there is one, takes from the parameters with the settings: the RL stages, the files that they name, and what
    `base` and the data stages read.

    Raises:
        SettingsError: they are not the same.
    """
    if not path.exists():
        return
    graph = read_yaml(path).get("stages") or {}
    if not is_of_the_pipeline(graph):
        return
    listed = rl_names(graph)
    if sorted(listed) != sorted(settings.rl.stages):
        raise SettingsError(
            f"{path} has the RL stages {', '.join(listed) or 'none'}, `rl.stages` in params.yaml has "
            f"{', '.join(settings.rl.stages)}",
            _WRITE_GRAPH,
        )
    for name, named in named_deps(settings, path.parent).items():
        found = [dep for dep in graph.get(name, {}).get("deps", []) if "${" in dep]
        lacking, more = [dep for dep in named if dep not in found], [dep for dep in found if dep not in named]
        if lacking:
            raise SettingsError(
                f"{path} does not say that {name} depends on {named[lacking[0]]}, which `{_key(lacking[0])}` names",
                _WRITE_GRAPH,
            )
        if more:
            raise SettingsError(
                f"{path} says that {name} depends on {more[0]}, and `{_key(more[0])}` in params.yaml names no file that DVC follows",
                _WRITE_GRAPH,
            )
    functions = {name: {reward} - {""} for name, reward in reward_deps(settings, path.parent).items()}
    for name, files in {**functions, "denoise": set(filter_deps(settings, path.parent))}.items():
        deps = graph.get(name, {}).get("deps", [])
        listed_files = {dep for dep in deps if dep.endswith(".py") and not is_code(dep)}
        setting = "denoise.filters" if name == "denoise" else "rl.reward.function"
        if lacking := sorted(one for one in files - listed_files if not _is_within(one, deps)):
            raise SettingsError(
                f"{path} does not say that {name} depends on {lacking[0]}, which `{setting}` names", _WRITE_GRAPH
            )
        if more := sorted(listed_files - files):
            raise SettingsError(
                f"{path} says that {name} depends on {more[0]}, which `{setting}` does not name", _WRITE_GRAPH
            )
    for name in (name for name in MARKED if name in graph):
        listed_there = CURATION in graph[name].get("params", [])
        if listed_there != is_curation_set(settings):
            raise SettingsError(
                f"{path} says that {name} {'reads' if listed_there else 'does not read'} `{CURATION}`, and params.yaml "
                f"{'leaves it at its defaults' if listed_there else 'sets it'}",
                _WRITE_GRAPH,
            )
    reads = WARM_START_DATA in graph.get("base", {}).get("deps", [])
    if reads != (settings.base.warm_start is not None):
        raise SettingsError(
            f"{path} says that `base` {'reads' if reads else 'does not read'} {WARM_START_DATA}, and `base.warm_start` in params.yaml "
            f"is {'null' if reads else 'given'}",
            _WRITE_GRAPH,
        )


def _is_within(path: str, deps: Sequence[str]) -> bool:
    return any(path == dep or path.startswith(f"{dep}/") for dep in deps)


def is_code(dep: str) -> bool:
    """Whether a dependency is part of the library, not an output of a stage."""
    return dep.startswith(("compass/", "stages/"))


def is_curation_set(settings: Settings) -> bool:
    """Whether params.yaml sets something in `curation`."""
    return settings.curation != Curation()


def named_deps(settings: Settings, root: Path = Path()) -> dict[str, dict[str, str]]:
    """The local files and folders that parameters name, by the stage that reads them: each as dvc.yaml says it, with its path.

    Stages that read none have an empty entry. Of sources that may be missing (`collect.skip_unreadable`) those count that are there:
    DVC runs no stage that lacks a dependency.
    """
    collect, models = settings.collect, {Path("models", name) for name in ("base", *settings.rl.stages)}
    marks = {"curation.labels": settings.curation.labels}
    read = {
        "collect": {
            **{
                f"collect.sources.{at}.path": one.path
                for at, one in enumerate(collect.sources)
                if not collect.skip_unreadable or (root / one.path).exists()
            },
            **{f"collect.benchmarks.{at}.path": one.path for at, one in enumerate(collect.benchmarks)},
            **marks,
        },
        "dedup": {"dedup.semantic.model": settings.dedup.semantic.model, **marks},
        "denoise": marks,
        "verify": marks,
        "base": {} if settings.base.revision else {"base.model": settings.base.model},
        "grade": {} if settings.grade.revision else {"grade.model": settings.grade.model},
    }
    if Path(settings.grade.model) in models:
        read["grade"] = {}
    named = {
        stage: {f"${{{key}}}": path for key, path in paths.items() if path and _is_followed(path)}
        for stage, paths in read.items()
    }
    starts = {
        name: {start: start.replace(f"${{{_key(start)}}}", settings.rl.stages[name].init_from)} if start else {}
        for name, start in start_deps(settings).items()
    }
    return {**named, **starts}


def _key(dep: str) -> str:
    """The parameter that a dependency takes its path from."""
    return dep.partition("${")[2].partition("}")[0]


def _is_followed(path: str) -> bool:
    return "$" not in path and "://" not in path and not path.startswith("~")


def reward_deps(settings: Settings, root: Path = Path()) -> dict[str, str]:
    """The file of each RL stage's own reward function, as a path from the repository's root; empty where it is not in the repository."""
    return {name: _module_file(stage.reward.function, root) for name, stage in settings.rl.stages.items()}


def filter_deps(settings: Settings, root: Path = Path()) -> list[str]:
    """The files of the user's noise filters that are in the repository, as paths from its root."""
    return sorted({path for name in settings.denoise.filters if (path := _module_file(name, root))})


def _module_file(function: str, root: Path) -> str:
    """The file of a function `package.module:name`, as a path from the repository's root; empty where it is not in the repository."""
    place = root / Path(*function.partition(":")[0].split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py") if function else ():
        if path.is_file():
            return str(path.relative_to(root))
    return ""


def start_deps(settings: Settings) -> dict[str, str]:
    """What each RL stage depends on for its starting model, as dvc.yaml says it; empty for a hub id and for a path with a variable."""
    return {name: _start_dep(name, stage) for name, stage in settings.rl.stages.items()}


def _start_dep(name: str, stage: RlStage) -> str:
    if not stage.from_elsewhere:
        return f"models/${{rl.stages.{name}.init_from}}"
    return f"${{rl.stages.{name}.init_from}}" if not stage.revision and _is_followed(stage.init_from) else ""


def write_entries(text: str, starts: Mapping[str, str], rewards: Mapping[str, str] | None = None) -> str:
    """A dvc.yaml with an entry for each of these RL stages in place of those that it has.

    Other stages and plots that read what RL stages write then read it of all of these.

    Args:
        text: the content of a dvc.yaml with at least one RL stage.
        starts: the RL stages, in the order of training, each with what it depends on for its starting model.
        rewards: the file of the reward function of those that have one of their own.
    """
    names = list(starts)
    before = rl_names(yaml.safe_load(text)["stages"])
    lines: list[str] = []
    written = False
    for head, block in _blocks(text):
        if head not in before:
            lines += _followed(block, before, names)
        elif not written:
            written = True
            lines += [
                line for name, start in starts.items() for line in _entry(name, start, (rewards or {}).get(name, ""))
            ]
    return "\n".join(lines) + "\n"


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """The file's lines in parts, a new one at every stage (with its name) and at every section (with "")."""
    head, block = "", []
    for line in text.splitlines():
        if match := re.match(r"(?:  )?([\w-]+):$", line):
            yield head, block
            head, block = match[1] if line.startswith(" ") else "", []
        block.append(line)
    yield head, block


def _entry(name: str, start: str, reward: str) -> list[str]:
    models, data, metrics = (pattern.format(name) for pattern in OUTPUTS)
    return [
        f"  {name}:",
        f"    cmd: {COMMAND}{name}",
        "    deps:",
        "      - data/curriculum",
        *(f"      - {dep}" for dep in (start, reward) if dep),
        "    params:",
        *(f"      - {key}" for key in ("seed", *(f"rl.{group}" for group in GROUPS), f"rl.stages.{name}")),
        f"    outs: [{models}, {data}, {metrics}]",
        "",
    ]


def _followed(lines: Sequence[str], before: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """The lines, where those of one list that name an output of an RL stage give way to the same output of each name."""
    repeated: set[tuple[str, str]] = set()
    for line in lines:
        match = re.match(r"( +(?:- )?(?:models|data|metrics)/)([\w-]+)((?:\.json|/\S+: .+)?)$", line)
        if not match or match[2] not in before:
            if line.endswith(":"):
                repeated.clear()  # another list
            yield line
        elif (output := (match[1], match[3])) not in repeated:
            repeated.add(output)
            yield from (f"{match[1]}{name}{match[3]}" for name in names)
