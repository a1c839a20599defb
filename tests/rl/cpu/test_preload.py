"""What is imported before processes are forked."""

import gc
import importlib
import importlib.util

import pytest

from compass.rl.cpu.preload import MODULES, preload


def test_every_module_is_imported_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    collecting: set[bool] = set()

    def note(name: str) -> None:
        imported.append(name)
        collecting.add(gc.isenabled())

    monkeypatch.setattr(importlib, "import_module", note)
    preload()
    assert imported == list(MODULES)
    assert collecting == {False}
    assert gc.isenabled()


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("compass.")])
def test_the_modules_of_our_own_exist(name: str) -> None:
    assert importlib.util.find_spec(name) is not None
