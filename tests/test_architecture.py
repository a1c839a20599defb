"""How the parts of the repository may know each other: DESIGN's rules, held against the code itself."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCREEN = 72
"""Lines of a function besides its docstring: it fits a screen."""

PRESENTATION = ("compass.commands", "compass.library", "compass.live", "compass.page", "compass.report", "compass.cli")
"""What only shows results: nothing that decides one imports it."""

HEAVY = {"matplotlib", "mlflow", "numba", "pandas", "ray", "sympy", "torch", "transformers", "verl", "vllm"}
"""Libraries that take long to import: a command that does not use them starts without them."""


def load_architecture() -> ModuleType:
    """docs/architecture.py, which reads the imports and draws them."""
    spec = importlib.util.spec_from_file_location("architecture", ROOT / "docs" / "architecture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ARCHITECTURE = load_architecture()
FILES: dict[str, Path] = ARCHITECTURE.FILES
NAMES: dict[str, set[str]] = {module: ARCHITECTURE.find_imported_names(module) for module in FILES}
GRAPH: dict[str, set[str]] = {module: ARCHITECTURE.find_imports(module) for module in FILES}


def inside(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def importers(library: str, *, of: str = "compass") -> list[str]:
    """Modules of a package that import a library."""
    return sorted(
        module for module in FILES if inside(module, (of,)) if any(inside(name, (library,)) for name in NAMES[module])
    )


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others (Tarjan's strongly connected components)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for other in sorted(graph[module]):
            if other not in order:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], order[other])
        if lowest[module] == order[module]:
            group = [stack.pop()]
            while group[-1] != module:
                group.append(stack.pop())
            if len(group) > 1:
                groups.append(sorted(group))

    for module in sorted(graph):
        if module not in order:
            visit(module)
    return groups


def test_a_circle_is_seen() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}
    assert circles(graph) == [["b", "c"]]
    assert circles({"a": {"b"}, "b": {"c"}, "c": set()}) == []


def test_imports_are_read_as_they_run() -> None:
    assert "compass.errors" in GRAPH["compass.cli"]
    assert "compass.report.data_card" in GRAPH["compass.library.curate_stages"]  # inside a function
    assert "compass.report.outputs" in GRAPH["compass.library.curate_stages"]
    assert "stages._stage" in GRAPH["compass.library.curate_stages"]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(GRAPH) == []


def test_a_function_fits_a_screen() -> None:
    long = []
    for path in FILES.values():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) else 0
                if node.end_lineno - node.lineno + 1 - docstring > SCREEN:
                    long.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert long == []


def test_the_drawing_of_the_packages_is_that_of_the_imports() -> None:
    drawn = ARCHITECTURE.draw(ARCHITECTURE.build_graph())
    assert ARCHITECTURE.SVG.read_text(encoding="utf-8") == drawn, "`python docs/architecture.py` draws it anew"


def test_every_file_of_a_walk_is_tied_to_one_before_it() -> None:
    """By an import, or by a name in a string, as verl and Ray load modules."""

    def names(path: str, other: str) -> bool:
        module = other.removesuffix(".py").replace("/", ".")
        source = (ROOT / path).read_text(encoding="utf-8")
        package = module.rpartition(".")[0]
        return module in source or f"from {package} import" in source

    text = (ROOT / "docs/reference/architecture.md").read_text(encoding="utf-8")
    walks = [re.findall(r"^\d+\. `([\w/]+\.py)`", part, re.MULTILINE) for part in text.split("\n## ")[1:]]
    assert [len(walk) for walk in walks] == [3, 5, 4, 3]
    for walk in walks:
        for number, path in enumerate(walk[1:], 1):
            tied = any(names(before, path) or names(path, before) for before in walk[:number])
            assert tied, f"{path} has nothing to do with the files before it"


def test_settings_know_nothing_of_the_librarys_logic() -> None:
    knowing = {module: sorted(GRAPH[module]) for module in FILES if inside(module, ("compass.settings",))}
    allowed = ("compass.settings", "compass.errors")
    assert {module: known for module, known in knowing.items() if not all(inside(one, allowed) for one in known)} == {}


@pytest.mark.parametrize("library", ["prefect", "dvc"])
def test_the_library_knows_neither_prefect_nor_dvc(library: str) -> None:
    assert importers(library) == []


def test_mlflow_is_imported_in_modules_that_say_so() -> None:
    assert all(module.startswith("compass.tracking.mlflow_") for module in importers("mlflow"))
    assert importers("mlflow", of="stages") == []
    assert importers("mlflow", of="flows") == []


def test_what_decides_a_result_imports_nothing_that_only_shows_it() -> None:
    allowed = (*PRESENTATION, "stages.report", "flows")
    knowing = {
        module: sorted(other for other in GRAPH[module] if inside(other, PRESENTATION))
        for module in FILES
        if not inside(module, allowed)
    }
    assert {module: known for module, known in knowing.items() if known} == {}


def test_the_library_does_not_import_its_stages_and_flows() -> None:
    """But for commands and what they share with `import compass`: `compass curate` runs the data stages, `compass profile` fits dvc.yaml, others start runs.

    They do so inside functions, so that a command starts without DVC and Prefect. And but for the check before a run, which
    compares dvc.yaml with the parameters.
    """
    for package, others in (("stages", ("compass.checks.before_run",)), ("flows", ())):
        assert [
            module
            for module in importers(package)
            if not inside(module, ("compass.commands", "compass.library", *others))
        ] == []


def test_commands_and_the_verifier_start_without_heavy_libraries() -> None:
    modules = [module for module in FILES if inside(module, ("compass.commands",))]
    code = (
        "import importlib, sys\n"
        f"for name in {['compass.cli', 'compass.verifier', *modules]!r}:\n"
        "    importlib.import_module(name)\n"
        f"print(sorted(set({sorted(HEAVY | {'dvc', 'flows', 'prefect', 'pyarrow', 'pydantic', 'stages'})!r}) & set(sys.modules)))"
    )
    started = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert started.stdout == "[]\n"
