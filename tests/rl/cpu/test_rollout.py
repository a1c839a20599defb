"""vLLM's worker has plain weights, and draws that need no compiler, before it loads a model. verl's extension is a stand-in."""

from typing import Any

import pytest

from compass.rl.cpu import patches

PATCHES = ["keep_plain_weights", "draw_by_gumbel_noise", "draw_from_each_seed"]


class Extension:
    def __new__(cls, **arguments: Any) -> Any:
        assert arguments == {"vllm_config": "config"}
        return super().__new__(cls)


def test_making_the_worker_patches_vllm_and_importing_it_does_not(
    monkeypatch: pytest.MonkeyPatch, library: Any, load: Any
) -> None:
    patched = []
    for name in PATCHES:
        monkeypatch.setattr(patches, name, lambda name=name: patched.append(name))
    library("verl.workers.rollout.vllm_rollout.utils", vLLMColocateWorkerExtension=Extension)
    rollout = load("compass.rl.cpu.rollout")
    assert patched == []

    class Worker(rollout.CpuRolloutWorker):  # as vLLM adds the extension to its worker's bases
        def __init__(self, vllm_config: str) -> None:
            assert patched == PATCHES

    assert isinstance(Worker(vllm_config="config"), Extension)
