"""How the parts of the repository may know each other: DESIGN's rules, held against the code itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LONGEST_FILE = 700
REASON = "longer than 700 lines because"
"""Stands in the docstring of a module that is longer, before the reason."""

PRESENTATION = ("compass.commands", "compass.live", "compass.page", "compass.report", "compass.cli")
"""What only shows results: nothing that decides one imports it."""

HEAVY = {"matplotlib", "mlflow", "numba", "pandas", "ray", "sympy", "torch", "transformers", "verl", "vllm"}
"""Libraries that take long to import: a command that does not use them starts without them."""


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for top in ("compass", "stages", "flows") for path in (ROOT / top).rglob("*.py")}


def statements(tree: ast.AST) -> Iterator[ast.stmt]:
    """Every import that can run, at the top or inside functions.

    `if TYPE_CHECKING:` is left out: what stands there is never imported, so it ties no two modules together; it lets a
    signature name a type of a heavy or a higher module.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        yield from statements(node)


def imported_names(module: str) -> set[str]:
    """Full names that a module imports: modules, and members of modules."""
    path = FILES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    names = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return names


def known_module(name: str) -> str | None:
    """The project's module that a full name is, or is a member of."""
    while name and name not in FILES:
        name = name.rpartition(".")[0]
    return name or None


NAMES = {module: imported_names(module) for module in FILES}
GRAPH = {
    module: {known for name in names if (known := known_module(name)) and known != module}
    for module, names in NAMES.items()
}


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
    assert "compass.report.data_card" in GRAPH["compass.commands.curate"]  # inside a function
    assert "compass.report.outputs" in GRAPH["compass.commands.curate"]
    assert "stages._stage" in GRAPH["compass.commands.curate"]


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles(GRAPH) == []


def test_a_long_file_says_why_it_is_long() -> None:
    silent = []
    for path in FILES.values():
        text = path.read_text(encoding="utf-8")
        docstring = " ".join((ast.get_docstring(ast.parse(text)) or "").split())
        if len(text.splitlines()) > LONGEST_FILE and REASON not in docstring:
            silent.append(path.relative_to(ROOT).as_posix())
    assert silent == []


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
    """But for commands: `compass curate` runs the data stages, `compass profile` fits dvc.yaml, others start runs.

    They do so inside functions, so that a command starts without DVC and Prefect. And but for the check before a run, which
    compares dvc.yaml with the parameters.
    """
    for package, others in (("stages", ("compass.checks.before_run",)), ("flows", ())):
        assert [module for module in importers(package) if not inside(module, ("compass.commands", *others))] == []


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
