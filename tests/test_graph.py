"""dvc.yaml says what each stage uses: no import of the library is missing from its deps, and none is listed in vain."""

import ast
from pathlib import Path

import pytest
import yaml

from compass.settings import RL_STAGES, STAGES, Settings

ROOT = Path(__file__).resolve().parents[1]
GRAPH = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]

EVERYWHERE = {
    "compass/__init__.py",
    "compass/environment.py",
    "compass/flatten.py",
    "compass/pipeline_run.py",
    "compass/provenance.py",
    "compass/settings.py",
    "compass/tracking.py",
    "stages/__init__.py",
    "stages/_stage.py",
}
"""Imported by every stage and left out of deps on purpose: they carry parameters and records, not results."""


def script(stage: str) -> str:
    """The module of a stage."""
    return "stages/rl.py" if stage in RL_STAGES else f"stages/{stage}.py"


def imported(path: str) -> set[str]:
    """The project's files that a file imports, wherever in it, as paths from the root."""
    package = Path(path).parent
    names = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.parts[: len(package.parts) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    found = set()
    for name in names:
        if name.split(".")[0] not in ("compass", "stages"):
            continue
        place = Path(*name.split("."))
        for parent in (place, *place.parents):  # importing a module imports the packages it is in
            candidates = (parent.with_suffix(".py"), parent / "__init__.py") if parent.name else ()
            found |= {str(file) for file in candidates if (ROOT / file).is_file()}
    return found


def used(stage: str) -> set[str]:
    """Every file of the project that a stage can import, directly or through others."""
    found: set[str] = set()
    waiting = {script(stage)}
    while waiting:
        path = waiting.pop()
        if path not in found and path not in EVERYWHERE:
            found.add(path)
            waiting |= imported(path)
    return found


def covers(dep: str, path: str) -> bool:
    """Whether a dep, a file or a folder, holds a path."""
    return path == dep or path.startswith(f"{dep}/")


def test_the_graph_has_every_stage_and_no_other() -> None:
    assert set(GRAPH) == set(STAGES)


@pytest.mark.parametrize("stage", STAGES)
def test_deps_name_what_a_stage_imports(stage: str) -> None:
    deps = GRAPH[stage]["deps"]
    # A package's own empty marker is no use of what else is in it.
    needed = {path for path in used(stage) if (ROOT / path).stat().st_size}
    missing = sorted(path for path in needed if not any(covers(dep, path) for dep in deps))
    assert not missing, f"add to the deps of {stage} in dvc.yaml: {missing}"
    code = [dep for dep in deps if dep.startswith(("compass/", "stages/"))]
    unused = [dep for dep in code if not any(covers(dep, path) for path in needed)]
    assert not unused, f"remove from the deps of {stage} in dvc.yaml: {unused}"
    assert all((ROOT / dep).exists() for dep in code)


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_its_settings_and_writes_its_metrics(stage: str) -> None:
    entry = GRAPH[stage]
    assert f"metrics/{stage}.json" in entry["metrics"]
    assert stage in entry["params"]
    sections = {field.alias or name for name, field in Settings.model_fields.items()}
    assert {name.split(".")[0] for name in entry["params"]} <= sections


def test_every_input_is_some_stages_output() -> None:
    outs = {out for entry in GRAPH.values() for kind in ("outs", "metrics") for out in entry.get(kind, [])}
    deps = {dep for entry in GRAPH.values() for dep in entry["deps"]}
    data = {dep for dep in deps if dep.startswith(("data/", "models/", "metrics/"))}
    assert data <= outs


def test_a_setting_of_evaluate_reruns_evaluate_and_report_alone() -> None:
    assert [stage for stage in STAGES if "evaluate" in GRAPH[stage]["params"]] == ["evaluate"]
    downstream = [stage for stage in STAGES if {"data/evaluate", "metrics/evaluate.json"} & set(GRAPH[stage]["deps"])]
    assert downstream == ["report"]
