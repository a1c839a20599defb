"""Prompts shared within a pass: the same log-probabilities and gradients as from separate sequences."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM, Lfm2Config, LlamaConfig, MistralConfig, Qwen2Config, Qwen3Config

from compass.rl.cpu.patches import log_probabilities
from compass.rl.cpu.shared_prompts import can_share, logits_only_at, share_prompts

SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 97}


@pytest.fixture(params=[LlamaConfig, Qwen2Config, Qwen3Config], ids=lambda config: config.model_type)
def model(request):
    torch.manual_seed(0)
    config = request.param(**SIZES, num_key_value_heads=2, head_dim=8, attn_implementation="sdpa")
    return AutoModelForCausalLM.from_config(config).float()


def tokens(*lengths: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(sum(lengths))
    return [torch.randint(0, 97, (length,), generator=generator) for length in lengths]


LONG, SHORT, ONE = tokens(11, 4, 1)
CASES = {
    "groups of three": ([LONG] * 3 + [SHORT] * 3, tokens(5, 1, 9, 2, 7, 3)),
    "mixed up": ([LONG, SHORT, LONG, ONE, SHORT, LONG], tokens(5, 1, 9, 2, 7, 3)),
    "all different": ([LONG, SHORT, ONE], tokens(4, 4, 4)),
    "one": ([ONE], tokens(1)),
}


def separate(model, prompts, responses):
    """Log-probabilities of every response's tokens, one sequence at a time."""
    parts = []
    for prompt, response in zip(prompts, responses, strict=True):
        logits = model(input_ids=torch.cat([prompt, response])[None]).logits[0]
        parts.append(logits[len(prompt) - 1 : -1].log_softmax(-1).gather(-1, response[:, None])[:, 0])
    return torch.cat(parts)


def shared(model, prompts, responses):
    rows = share_prompts(prompts, responses)
    with logits_only_at(model, rows.predicts):
        logits = model(input_ids=rows.tokens, attention_mask=rows.mask, position_ids=rows.positions).logits[0]
    return log_probabilities(logits, rows.sampled)


@pytest.mark.parametrize("case", CASES)
def test_log_probabilities_and_gradients_are_those_of_separate_sequences(model, case):
    prompts, responses = CASES[case]
    weights = torch.linspace(-1, 1, sum(map(len, responses)))
    found = []
    for way in (separate, shared):
        model.zero_grad()
        values = way(model, prompts, responses)
        (values * weights).sum().backward()
        found.append((values.detach(), {name: part.grad.clone() for name, part in model.named_parameters()}))
    (values, gradients), (our_values, our_gradients) = found
    torch.testing.assert_close(our_values, values, atol=1e-5, rtol=0)
    for name, gradient in gradients.items():
        torch.testing.assert_close(our_gradients[name], gradient, atol=1e-5, rtol=1e-4)


def test_places_are_where_verl_looks():
    prompts, responses = CASES["mixed up"]
    rows, whole, expected = share_prompts(prompts, responses), 0, []
    for prompt, response in zip(prompts, responses, strict=True):
        whole += len(prompt) + len(response)
        expected += range(whole - len(response) - 1, whole - 1)  # verl.workers.utils.padding.no_padding_2_padding
    assert rows.places.tolist() == expected
    assert rows.sequences.tolist() == [number for number, part in enumerate(responses) for _ in part]


def test_a_model_gives_all_logits_again_afterwards(model):
    with logits_only_at(model, torch.tensor([2])):
        assert model(input_ids=LONG[None]).logits.shape == (1, 1, 97)
    assert model(input_ids=LONG[None]).logits.shape == (1, 11, 97)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (Qwen2Config(), True),
        (LlamaConfig(), True),
        (MistralConfig(sliding_window=4), False),
        (Lfm2Config(layer_types=["conv", "full_attention"], num_hidden_layers=2), False),
    ],
    ids=lambda value: getattr(value, "model_type", None),
)
def test_only_models_whose_layers_all_keep_to_the_mask_share_prompts(config, expected):
    assert can_share(config) is expected
