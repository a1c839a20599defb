"""Pre-train the tiny policy: a Qwen2-architecture model of about half a million parameters, in about a minute on two cores.

Where to stop decides how much room is left for RL, and a number of steps is a poor measure of it: skill rises steeply.
Training therefore stops on skill itself. For a fresh problem the chance that sampling at temperature 1 gives the right
answer is at least the probability of its worked solution plus that of the bare right answer, and both are read off one
forward pass (`expected_accuracy`). Pre-training ends when their mean over fresh problems reaches the target.

Differences from a usual recipe: Muon on the matrices (half the steps of AdamW here), a constant learning rate (there is
no last step to decay towards), the loss on solutions alone (the problems are given, not learnt).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from compass.base import corpus
from compass.base.tokenizer import train_tokenizer
from compass.prompts import chat_messages
from compass.settings import Pretrain
from compass.sources.tiny_problems import LEVELS, Problem, draw_problem, worked_solution

HEAD_SIZE = 32
"""The smallest head size of vLLM's CPU attention."""

VOCABULARY = 1024
"""Most tokens; the stories' words need fewer."""

MAX_POSITIONS = 512
CHECK_EVERY = 5
"""Steps between two measurements of skill."""

Pair = tuple[list[int], list[int]]
"""Token ids of a prompt and of its response, the end token included."""


class PretrainError(RuntimeError):
    """The policy did not reach the skill asked for; the message names the settings."""


def pretrain(
    settings: Pretrain, *, seed: int, out: Path, progress: Callable[[int, float, float], None] | None = None
) -> dict[str, float]:
    """Train the tiny policy and its tokenizer and save both to `out` as a transformers folder (fp32 safetensors).

    Args:
        settings: size, habits and stopping point.
        seed: the run's seed.
        out: the folder to write.
        progress: called after every step with (step, loss, share of the target skill reached, 0 to 1).

    Returns:
        parameters, vocabulary, steps, tokens, loss (nats a response token), expected_accuracy, seconds, tokens_per_second.

    Raises:
        PretrainError: `settings.steps` were not enough for `settings.target_accuracy`.
    """
    import torch
    from torch.nn.utils import clip_grad_norm_

    started = time.monotonic()
    pairs = corpus.solutions(settings, seed=seed)
    sample = list(islice(corpus.solutions(settings, seed=seed), 1_000))
    tokenizer = train_tokenizer([text for pair in sample for text in pair], vocabulary=VOCABULARY, folder=out)
    torch.manual_seed(seed)
    model = _new_model(settings, tokenizer)
    optimizers = _optimizers(model, settings.learning_rate)
    fresh = _fresh_problems(seed, each_level=20)

    tokens, smoothed, skill = 0, None, 0.0
    for step in range(1, settings.steps + 1):
        batch = [encode(tokenizer, problem, solution) for problem, solution in islice(pairs, settings.batch_size)]
        loss = _train_step(model, tokenizer, batch)
        clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad()
        tokens += sum(len(prompt) + len(response) for prompt, response in batch)
        smoothed = loss if smoothed is None else 0.9 * smoothed + 0.1 * loss
        if step % CHECK_EVERY == 0:
            skill = expected_accuracy(model, tokenizer, fresh)
        if progress:
            progress(step, smoothed, min(1.0, skill / settings.target_accuracy))
        if skill >= settings.target_accuracy:
            break
    else:
        raise PretrainError(
            f"base.pretrain.steps: expected accuracy is {skill:.3f} after {settings.steps} steps, "
            f"base.pretrain.target_accuracy is {settings.target_accuracy}; allow more steps or lower the target"
        )
    seconds = time.monotonic() - started
    model.save_pretrained(out, safe_serialization=True)
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "vocabulary": len(tokenizer),
        "steps": step,
        "tokens": tokens,
        "loss": smoothed,
        "expected_accuracy": skill,
        "seconds": seconds,
        "tokens_per_second": tokens / seconds,
    }


def encode(tokenizer: Any, problem: str, solution: str) -> Pair:
    """Token ids of the prompt, as every stage asks it, and of the solution with the end token."""
    prompt = tokenizer.apply_chat_template(chat_messages(problem), add_generation_prompt=True, return_dict=True)
    return prompt["input_ids"], [*tokenizer(solution)["input_ids"], tokenizer.eos_token_id]


def expected_accuracy(model: Any, tokenizer: Any, problems: Sequence[Problem]) -> float:
    """A lower bound on accuracy at temperature 1: the mean probability of the worked solution or the bare right answer."""
    import torch

    pairs = [encode(tokenizer, p.text, p.solution) for p in problems]
    pairs += [encode(tokenizer, p.text, worked_solution((), p.answer)) for p in problems]
    model.eval()
    with torch.no_grad():
        total = sum(_log_probs(model, tokenizer, part).sum(dim=1).exp().sum().item() for part in _by_length(pairs, 64))
    model.train()
    return total / len(problems)


def _new_model(settings: Pretrain, tokenizer: Any) -> Any:
    import torch
    from transformers import GenerationConfig, Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        # Rollout engines pad a vocabulary that differs from the tokenizer's, and probabilities then disagree.
        vocab_size=len(tokenizer),
        hidden_size=settings.hidden_size,
        intermediate_size=2 * settings.hidden_size,
        num_hidden_layers=settings.layers,
        num_attention_heads=settings.hidden_size // HEAD_SIZE,
        num_key_value_heads=settings.hidden_size // HEAD_SIZE,
        max_position_embeddings=MAX_POSITIONS,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        dtype=torch.float32,
    )
    model = Qwen2ForCausalLM(config)
    model.generation_config = GenerationConfig(eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    return model


def _optimizers(model: Any, learning_rate: float) -> list[Any]:
    import torch

    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    rest = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, lr=10 * learning_rate, momentum=0.95, weight_decay=0.0),
        torch.optim.AdamW(rest, lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def _train_step(model: Any, tokenizer: Any, batch: list[Pair]) -> float:
    """Accumulate the gradient of the mean loss a response token; return that loss."""
    count = sum(len(response) for _, response in batch)
    total = 0.0
    for part in _by_length(batch, (len(batch) + 1) // 2):
        loss = -_log_probs(model, tokenizer, part).sum() / count
        loss.backward()
        total += loss.item()
    return total


def _by_length(pairs: list[Pair], size: int) -> list[list[Pair]]:
    """Parts of at most `size` pairs of similar length, so that little is padded."""
    ordered = sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1]))
    return [ordered[start : start + size] for start in range(0, len(ordered), size)]


def _log_probs(model: Any, tokenizer: Any, pairs: list[Pair]) -> Any:
    """Log-probabilities of response tokens, (pairs, longest - 1), zero elsewhere."""
    import torch

    longest = max(len(prompt) + len(response) for prompt, response in pairs)
    ids = torch.full((len(pairs), longest), tokenizer.pad_token_id)
    wanted = torch.zeros((len(pairs), longest), dtype=torch.bool)
    for row, (prompt, response) in enumerate(pairs):
        end = len(prompt) + len(response)
        ids[row, :end] = torch.tensor(prompt + response)
        wanted[row, len(prompt) : end] = True
    wanted = wanted[:, 1:]
    # Padding stands on the right: causal attention hides it without a mask, and its logits are never computed.
    hidden = model.model(input_ids=ids).last_hidden_state[:, :-1]
    logits = model.lm_head(hidden[wanted])
    found = -torch.nn.functional.cross_entropy(logits, ids[:, 1:][wanted], reduction="none")
    return torch.zeros(wanted.shape).masked_scatter(wanted, found)


def _fresh_problems(seed: int, *, each_level: int) -> list[Problem]:
    """Problems to measure skill on, drawn apart from the corpus; never a benchmark's chain."""
    rng = random.Random(f"tiny-skill/{seed}")
    return [draw_problem(rng, level, held_out=False) for level in LEVELS for _ in range(each_level)]
