"""Responses to one prompt in one row that holds the prompt once, and logits for what was sampled alone.

A group's responses share their prompt, and padding to the longest sequence adds as much again: with short responses, most of what
a forward and backward pass computes is not needed. Here a row is a prompt with its responses after it; a mask lets a token see
its own prompt and what comes before it in its own response. Positions count as in separate sequences, so that each token's
log-probability is the same to rounding, and so are gradients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class SharedRows:
    """Sequences of a pass as G rows, one per prompt, padded to L tokens; N tokens were sampled.

    Attributes:
        tokens: (G, L), ids.
        positions: (G, L), each token's position in its own sequence.
        mask: (G, 1, L, L), true where a token (third axis) may see another (fourth); padding sees itself.
        predicts: (N,), places among the G * L tokens whose logits predict the sampled ones.
        sampled: (N,), ids of the sampled tokens, sequence by sequence.
        places: (N,), where verl looks for their log-probabilities among the tokens of all sequences one after the other: at the
            token before.
        sequences: (N,), the sequence that each belongs to.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    mask: torch.Tensor
    predicts: torch.Tensor
    sampled: torch.Tensor
    places: torch.Tensor
    sequences: torch.Tensor


def can_share(config: Any) -> bool:
    """Whether a mask alone keeps the responses in a row apart, in all layers of a model.

    A given mask would replace a sliding window, and layers without attention, such as convolutions, run from one response into the next.

    Args:
        config: transformers' configuration of the model.
    """
    kinds = getattr(config, "layer_types", None) or ()
    return getattr(config, "sliding_window", None) is None and all(kind == "full_attention" for kind in kinds)


def by_prompt(prompts: Sequence[torch.Tensor]) -> list[int]:
    """An order of sequences in which those with the same prompt are together, and groups of one size next to each other.

    Args:
        prompts: token ids of each sequence's prompt.
    """
    names = [tuple(prompt.tolist()) for prompt in prompts]
    sizes, first = Counter(names), {}
    for number, name in enumerate(names):
        first.setdefault(name, number)
    return sorted(range(len(names)), key=lambda number: (sizes[names[number]], first[names[number]], number))


def share_prompts(prompts: Sequence[torch.Tensor], responses: Sequence[torch.Tensor]) -> SharedRows:
    """Lay sequences into rows with each prompt once.

    Args:
        prompts: token ids of each sequence's prompt, at least one each.
        responses: token ids of each sequence's response, at least one each.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for number, prompt in enumerate(prompts):
        groups.setdefault(tuple(prompt.tolist()), []).append(number)
    rows = [torch.cat([prompts[group[0]], *(responses[number] for number in group)]) for group in groups.values()]
    tokens = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
    positions, owners = torch.zeros_like(tokens), torch.full_like(tokens, -2)  # -2: padding
    longest = tokens.shape[1]
    predicts = [torch.empty(0)] * len(prompts)
    for row, group in enumerate(groups.values()):
        start = len(prompts[group[0]])
        positions[row, :start], owners[row, :start] = torch.arange(start), -1  # -1: the prompt
        before = at = start
        for number in group:
            end = at + len(responses[number])
            positions[row, at:end], owners[row, at:end] = torch.arange(start, start + end - at), number
            # the first token of every response is predicted by the end of the prompt
            predicts[number] = row * longest + torch.cat([torch.tensor([before - 1]), torch.arange(at, end - 1)])
            at = end
    seen, seeing = owners[:, None, :], owners[:, :, None]
    mask = ((seen == -1) & (seeing != -2)) | (seen == seeing)
    mask &= positions[:, None, :] <= positions[:, :, None]
    mask |= torch.eye(longest, dtype=torch.bool)
    lengths = torch.tensor([len(response) for response in responses])
    starts = torch.tensor([len(prompt) for prompt in prompts])
    ends = (starts + lengths).cumsum(0)
    return SharedRows(
        tokens=tokens,
        positions=positions,
        mask=mask[:, None],
        predicts=torch.cat(predicts),
        sampled=torch.cat(list(responses)),
        places=torch.cat([torch.arange(end - length, end) - 1 for end, length in zip(ends, lengths, strict=True)]),
        sequences=torch.repeat_interleave(torch.arange(len(lengths)), lengths),
    )


@contextmanager
def logits_only_at(model: Any, places: torch.Tensor) -> Iterator[None]:
    """Have a model make logits for some tokens alone.

    Args:
        model: a causal language model of transformers; its `logits` are (1, N, vocabulary) inside.
        places: (N,), among the tokens of a pass, row after row.
    """

    def select(_: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor]:
        hidden = arguments[0]
        return (hidden.reshape(-1, hidden.shape[-1])[places][None],)

    hook = model.get_output_embeddings().register_forward_pre_hook(select)
    try:
        yield
    finally:
        hook.remove()
