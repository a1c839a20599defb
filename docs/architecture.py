"""Draw the packages and what imports what: `python docs/architecture.py` writes docs/images/packages.svg.

A package is above all that it imports. An arrow that others imply (a imports b, b imports c, a imports c) is left out. Packages
that import each other are in one row, with a double arrow. The drawing depends on the code alone; tests/test_architecture.py
compares it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SVG = ROOT / "docs" / "images" / "packages.svg"
TOPS = ("compass", "stages", "flows")
SMALL = "small modules"
"""The modules directly in `compass/` that import no package."""

WIDTH, BOX, GAP, ROW = 1000, 26, 14, 74
"""Pixels: of the drawing, a box's height, between boxes, from row to row."""


def module_name(path: Path) -> str:
    """`compass.runs.progress` for compass/runs/progress.py."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(path): path for top in TOPS for path in sorted((ROOT / top).rglob("*.py"))}


def find_imports(module: str) -> set[str]:
    """The project's modules that a module imports."""
    return {known for name in find_imported_names(module) if (known := _known_module(name)) and known != module}


def find_imported_names(module: str) -> set[str]:
    """Full names that a module imports, at its top or inside functions: modules, and members of modules.

    `if TYPE_CHECKING:` is left out: what is in it is never imported, so it ties no two modules together; it lets a signature
    name a type of a heavy or a higher module.
    """
    path = FILES[module]
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    names = set()
    for node in _import_statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names |= {f"{base}.{alias.name}" for alias in node.names}
    return names


def _import_statements(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        yield from _import_statements(node)


def _known_module(name: str) -> str | None:
    while name and name not in FILES:
        name = name.rpartition(".")[0]
    return name or None


def build_graph() -> dict[str, set[str]]:
    """Package to the packages that it imports. `compass.rl` is `rl`; a module of `compass/` that imports packages stands for itself."""
    imports = {module: find_imports(module) for module in FILES}

    def place(module: str) -> str:
        parts = module.split(".")
        if parts[0] != "compass":
            return f"{parts[0]}/"
        if len(parts) == 1:
            return SMALL
        if (ROOT / "compass" / parts[1]).is_dir():
            return parts[1]
        inside = {other.split(".")[1] for other in imports[module] if other.startswith("compass.")}
        return f"{parts[1]}.py" if any((ROOT / "compass" / name).is_dir() for name in inside) else SMALL

    graph: dict[str, set[str]] = {}
    for module, others in imports.items():
        mine = place(module)
        graph.setdefault(mine, set())
        graph[mine] |= {place(other) for other in others} - {mine}
    return graph


def find_reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """Every package that one imports, directly or through others."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for other in graph[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def find_layers(graph: dict[str, set[str]]) -> dict[str, int]:
    """Package to its row, 0 at the bottom: one above the highest that it imports, but for those that import it as well."""
    reach = {name: find_reachable(graph, name) for name in graph}
    layers: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in layers:
            circle = {other for other in reach[name] if name in reach[other]} | {name}
            below = set().union(*(graph[one] for one in circle)) - circle
            value = max((height(other) for other in below), default=-1) + 1
            layers.update(dict.fromkeys(circle, value))
        return layers[name]

    for name in sorted(graph):
        height(name)
    return layers


def find_arrows(graph: dict[str, set[str]]) -> list[tuple[str, str]]:
    """The imports that no others imply."""
    reach = {name: find_reachable(graph, name) for name in graph}
    return [
        (name, other)
        for name in sorted(graph)
        for other in sorted(graph[name])
        if not any(other in reach[between] and name not in reach[between] for between in graph[name] - {other})
        or name in reach[other]
    ]


def draw(graph: dict[str, set[str]]) -> str:
    """The drawing as SVG."""
    layers = find_layers(graph)
    top = max(layers.values())
    middle: dict[str, tuple[float, float]] = {}
    boxes = []
    for layer in range(top, -1, -1):
        names = sorted(name for name in graph if layers[name] == layer)
        sizes = [8 * len(name) + 20 for name in names]
        x = (WIDTH - sum(sizes) - GAP * (len(names) - 1)) / 2
        y = 20 + (top - layer) * ROW
        for name, size in zip(names, sizes, strict=True):
            middle[name] = x + size / 2, y + BOX / 2
            boxes.append(
                f'<rect x="{x:.0f}" y="{y}" width="{size}" height="{BOX}" rx="4"/>'
                f'<text x="{x + size / 2:.0f}" y="{y + 18}">{escape(name)}</text>'
            )
            x += size + GAP
    lines = []
    for name, other in find_arrows(graph):
        (x1, y1), (x2, y2) = middle[name], middle[other]
        if layers[name] == layers[other]:
            if name < other:  # the other direction is the same line
                lines.append(
                    f'<path d="M{x1:.0f} {y1 + 13:.0f} Q{(x1 + x2) / 2:.0f} {y1 + 45:.0f} {x2:.0f} {y2 + 13:.0f}"/>'
                )
            continue
        bend = (y2 - y1) / 2
        lines.append(
            f'<path d="M{x1:.0f} {y1 + 13:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} {y2 - bend:.0f} {x2:.0f} {y2 - 13:.0f}"/>'
        )
    height = 40 + top * ROW + BOX
    style = (
        "rect{fill:#eef3fb;stroke:#3b6ea5}text{font:13px system-ui,sans-serif;text-anchor:middle;fill:#1c2733}"
        "path{fill:none;stroke:#8a97a8;stroke-width:1}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>The packages; each is above all that it imports</title>",
            f"<style>{style}</style>",
            '<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    SVG.write_text(draw(build_graph()), encoding="utf-8")
