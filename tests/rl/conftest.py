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
    """`load("compass.rl.train")` imports a module anew, among the stand-ins, and forgets it after the test."""
    loaded: list[str] = []

    def import_anew(name: str) -> ModuleType:
        sys.modules.pop(name, None)
        loaded.append(name)
        return importlib.import_module(name)

    yield import_anew
    for name in loaded:
        sys.modules.pop(name, None)
