"""What runs with GPUs (responses packed into one row, torch's attention, verl's fused output layer) gives on this CPU the
probabilities and gradients that each response has alone."""

import pytest
import torch

LENGTHS = (5, 9, 2)


def make_model(attention: str, hidden: int = 32) -> torch.nn.Module:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=97,
        hidden_size=hidden,
        intermediate_size=48,
        num_attention_heads=4,
        num_key_value_heads=2,
        num_hidden_layers=2,
        attn_implementation=attention,
        initializer_range=0.5,
    )
    return Qwen2ForCausalLM(config).train()


@pytest.fixture(scope="module")
def model() -> torch.nn.Module:
    return make_model("sdpa")


@pytest.fixture(scope="module")
def sequences() -> list[torch.Tensor]:
    torch.manual_seed(1)
    return [torch.randint(97, (length,)) for length in LENGTHS]


def packed(model: torch.nn.Module, sequences: list[torch.Tensor], positions: torch.Tensor, temperature: float):
    """verl's forward of a packed row: log-probability of each next token, and entropy."""
    from verl.models.transformers.dense_common import forward_with_torch_backend

    row = torch.cat(sequences)
    output = forward_with_torch_backend(
        model,
        input_ids=row.unsqueeze(0),
        attention_mask=None,
        position_ids=positions.unsqueeze(0),
        use_cache=False,
        temperature=temperature,
        shift_labels=torch.roll(row, shifts=-1).unsqueeze(0),
        return_dict=True,
    )
    return output.log_probs.squeeze(0), output.entropy.squeeze(0)


def alone(model: torch.nn.Module, sequences: list[torch.Tensor], temperature: float):
    """The same from whole logits, one sequence at a time, without the last position of each."""
    log_probs, entropies = [], []
    for tokens in sequences:
        logits = model(input_ids=tokens.unsqueeze(0), use_cache=False).logits[0, :-1] / temperature
        each = logits.log_softmax(-1)
        log_probs.append(each.gather(-1, tokens[1:, None]).squeeze(-1))
        entropies.append(-(each.exp() * each).sum(-1))
    return torch.cat(log_probs), torch.cat(entropies)


def gradients(model: torch.nn.Module, value: torch.Tensor) -> list[torch.Tensor]:
    return list(torch.autograd.grad(value, list(model.parameters())))


INSIDE = torch.cat([torch.tensor([True] * (length - 1) + [False]) for length in LENGTHS])
RESTARTING = torch.cat([torch.arange(length) for length in LENGTHS])


@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_packed_responses_have_the_probabilities_that_they_have_alone(
    model: torch.nn.Module, sequences: list[torch.Tensor], temperature: float
) -> None:
    log_probs, entropies = packed(model, sequences, RESTARTING, temperature)
    expected, expected_entropies = alone(model, sequences, temperature)
    torch.testing.assert_close(log_probs[INSIDE], expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(entropies[INSIDE], expected_entropies, rtol=1e-4, atol=1e-4)


def test_an_attention_that_rl_verl_may_name_keeps_packed_responses_apart_too(sequences: list[torch.Tensor]) -> None:
    """torch has its gradients on GPUs alone."""
    with torch.no_grad():
        log_probs, _ = packed(make_model("flex_attention", 128), sequences, RESTARTING, 1.0)
        expected, _ = alone(make_model("sdpa", 128), sequences, 1.0)
    torch.testing.assert_close(log_probs[INSIDE], expected, rtol=1e-3, atol=1e-3)


def test_packed_responses_have_the_gradients_that_they_have_alone(
    model: torch.nn.Module, sequences: list[torch.Tensor]
) -> None:
    weights = torch.linspace(-1, 2, int(INSIDE.sum()))
    log_probs, entropies = packed(model, sequences, RESTARTING, 1.0)
    ours = gradients(model, (weights * log_probs[INSIDE]).sum() + 0.1 * entropies[INSIDE].sum())
    log_probs, entropies = alone(model, sequences, 1.0)
    theirs = gradients(model, (weights * log_probs).sum() + 0.1 * entropies.sum())
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)


def test_it_is_the_positions_that_keep_responses_apart(model: torch.nn.Module, sequences: list[torch.Tensor]) -> None:
    log_probs, _ = packed(model, sequences, torch.arange(sum(LENGTHS)), 1.0)
    expected, _ = alone(model, sequences, 1.0)
    assert (log_probs[INSIDE] - expected).abs().max() > 0.1
