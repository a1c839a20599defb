"""vLLM's worker on the CPU: what it changes inside vLLM, before it loads a model. verl and vLLM are stand-ins; torch is real."""

from typing import Any

import pytest
import torch

DRAWS = 200_000


class Extension:
    def __new__(cls, **arguments: Any) -> Any:
        assert arguments == {"vllm_config": "config"}
        return super().__new__(cls)


@pytest.fixture
def rollout(library: Any, load: Any) -> Any:
    library("verl.workers.rollout.vllm_rollout.utils", vLLMColocateWorkerExtension=Extension)
    return load("compass.rl.cpu.rollout")


def test_linear_layers_read_their_live_parameter(library: Any, rollout: Any) -> None:
    layers = library("vllm.model_executor.layers.utils", dispatch_cpu_unquantized_gemm="packs and drops the weight")
    rollout.keep_plain_weights()
    layer = torch.nn.Linear(3, 2)
    layers.dispatch_cpu_unquantized_gemm(layer, remove_weight=True)
    x = torch.ones(1, 3)
    with torch.no_grad():
        torch.testing.assert_close(layer.cpu_linear(x, layer.weight, layer.bias), layer(x))
        layer.weight.fill_(2.0)
        layer.bias.fill_(1.0)
        assert layer.cpu_linear(x, layer.weight, layer.bias).tolist() == [[7.0, 7.0]]


class Sampler:
    def forward_cpu(self, logits: Any, generators: dict, k: Any, p: Any) -> tuple[Any, ...]:
        return "all at once", logits, generators, k, p

    def forward_native(self, logits: Any, generators: dict, k: Any, p: Any) -> tuple[Any, ...]:
        return "row by row", logits, generators, k, p


def test_vllm_draws_a_response_from_its_seed_where_another_has_none(
    library: Any, rollout: Any, monkeypatch: Any
) -> None:
    library("vllm.v1.sample.ops.topk_topp_sampler", TopKTopPSampler=Sampler)
    monkeypatch.setattr(Sampler, "forward_cpu", Sampler.forward_cpu)  # to be as before after the test
    rollout.draw_from_each_seed()
    for way, generators in (("row by row", {1: "generator"}), ("all at once", {})):
        assert Sampler().forward_cpu("logits", generators, 5, 0.9) == (way, "logits", generators, 5, 0.9)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tokens_are_drawn_with_their_probability(rollout: Any, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    logits = torch.tensor([2.0, 0.0, -1.0, 1.0, -4.0], dtype=dtype)
    counts = torch.bincount(rollout.sample_tokens(logits.expand(DRAWS, 5)), minlength=5)
    probabilities = logits.float().softmax(-1)
    deviation = (DRAWS * probabilities * (1 - probabilities)).sqrt()
    assert ((counts - DRAWS * probabilities).abs() < 4 * deviation).all()


def test_a_masked_token_is_never_drawn_rows_are_drawn_apart_and_logits_stay(rollout: Any) -> None:
    torch.manual_seed(0)
    logits = torch.tensor([0.0, -torch.inf, 0.0]).expand(10_000, 3)
    assert set(rollout.sample_tokens(logits).tolist()) == {0, 2}
    logits = torch.full((4, 4), -1e4).fill_diagonal_(0)
    before = logits.clone()
    assert rollout.sample_tokens(logits).tolist() == [0, 1, 2, 3]
    assert torch.equal(logits, before)
