"""Stand-ins for the libraries whose import alone takes ten seconds: verl, vLLM, Ray. The slow tests train with the real ones."""

import importlib
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """`library("verl.utils", name=value)` is what `import verl.utils` gives for the length of a test."""
    made: dict[str, ModuleType] = {}

    def install(name: str, **contents: Any) -> ModuleType:
        parts = name.split(".")
        parent: ModuleType | None = None
        for length in range(1, len(parts) + 1):
            path = ".".join(parts[:length])
            if parts[0] == "compass" and path != name:  # our own packages stay what they are
                parent = importlib.import_module(path)
                continue
            if path not in made:
                made[path] = ModuleType(path)
                made[path].__path__ = []
                monkeypatch.setitem(sys.modules, path, made[path])
                if parent is not None:
                    monkeypatch.setattr(parent, parts[length - 1], made[path], raising=False)
            parent = made[path]
        vars(made[name]).update(contents)
        return made[name]

    return install


@pytest.fixture
def load() -> Iterator[Callable[[str], ModuleType]]:
    """`load("compass.rl.train")` imports a module anew, among the stand-ins; after the test the earlier one is back."""
    earlier: dict[str, ModuleType | None] = {}

    def import_anew(name: str) -> ModuleType:
        earlier.setdefault(name, sys.modules.pop(name, None))
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    yield import_anew
    for name, module in earlier.items():
        sys.modules.pop(name, None)
        package, _, last = name.rpartition(".")
        if module is not None:
            sys.modules[name] = module
            setattr(sys.modules[package], last, module)
