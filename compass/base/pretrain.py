"""Pre-train the tiny policy: a Qwen2-architecture model of about 0.6 million parameters, in about a minute on two cores.

There are two phases. First it learns to work problems out. Then, on a mix of measure_guessing, sloppy and careful solutions
(`corpus`), it picks up habits that hide most of this skill. The result is a policy that seldom uses what it knows, so
that RL can improve it.

How much skill there is to find depends sharply on when the first phase stops, and a number of steps is a poor measure
of it. It therefore stops on skill itself: the probability of the right worked solution of a fresh problem, read off one
forward pass, is the chance that sampling at temperature 1 writes exactly that.

Differences from a usual recipe: Muon on the matrices (half the steps of AdamW here), a learning rate that falls with
rising skill in the first phase (there is no last step to decay towards; a constant rate takes a third more steps and
overshoots the stop), the loss on solutions alone (the problems are given, not learnt).
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from compass.base import corpus
from compass.base.tokenizer import train_tokenizer
from compass.errors import UserError
from compass.matrix_products import use_fast_products
from compass.prompts.prompt import chat_messages
from compass.settings import Pretrain
from compass.sources.tiny_problems import LEVELS, Problem, draw_problem, worked_solution

HEAD_SIZE = 32
"""The smallest head size of vLLM's CPU attention."""

VOCABULARY = 1024
"""Most tokens; the stories' words need fewer."""

MAX_POSITIONS = 512
CHECK_EVERY = 10
"""Steps between two measurements of skill."""

SETTLED_SKILL, SETTLED_RATE = 0.1, 0.3
"""From this skill on, the learning rate is this share of its first value."""

Pair = tuple[list[int], list[int]]
"""Token ids of a prompt and of its response, the end token included."""

Progress = Callable[[int, float, float, float], None]


class PretrainError(UserError):
    """The policy did not reach the skill asked for; the message names the settings."""


def pretrain(settings: Pretrain, *, seed: int, out: Path, progress: Progress | None = None) -> dict[str, float]:
    """Train the tiny policy and its tokenizer and save both to `out` as a transformers folder (fp32 safetensors).

    Args:
        settings: size, stopping point and habits.
        seed: the run's seed.
        out: the folder to write.
        progress: called after every step with (step, loss, skill, share of the work done, 0 to 1).

    Returns:
        parameters, vocabulary, steps, tokens, loss (nats per response token), skill (probability of the worked solution
        after the first phase), expected_accuracy (at temperature 1, a lower bound), seconds, tokens_per_second.

    Raises:
        PretrainError: `settings.steps` were not enough for `settings.skill`.
    """
    import torch
    from transformers.utils import logging

    started = time.monotonic()
    texts = [text for pair in islice(corpus.habits(settings, seed=seed), 1_000) for text in pair]
    tokenizer = train_tokenizer(texts, vocabulary=VOCABULARY, folder=out)
    torch.manual_seed(seed)
    use_fast_products()
    model = _new_model(settings, tokenizer)
    training = _Training(model, tokenizer, settings, progress)
    problems = _fresh_problems(seed, each_level=20)

    skill = training.learn_skill(corpus.worked(seed=seed), problems)
    training.learn_habits(corpus.habits(settings, seed=seed))
    accuracy = measure_skill(model, tokenizer, problems) + measure_guessing(model, tokenizer, problems)
    seconds = time.monotonic() - started
    logging.disable_progress_bar()  # there is one file to write
    model.save_pretrained(out)
    logging.enable_progress_bar()
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "vocabulary": len(tokenizer),
        "steps": training.steps,
        "tokens": training.tokens,
        "loss": training.loss,
        "skill": skill,
        "expected_accuracy": accuracy,
        "seconds": seconds,
        "tokens_per_second": training.tokens / seconds,
    }


class _Training:
    """The two phases over one model and its optimisers."""

    def __init__(self, model: Any, tokenizer: Any, settings: Pretrain, progress: Progress | None) -> None:
        self.model, self.tokenizer, self.settings, self.progress = model, tokenizer, settings, progress
        self.optimizers = _optimizers(model, settings.learning_rate)
        self.rates = [group["lr"] for optimizer in self.optimizers for group in optimizer.param_groups]
        self.steps, self.tokens, self.loss, self.skill = 0, 0, float("nan"), 0.0

    def learn_skill(self, pairs: Iterator[tuple[str, str]], problems: Sequence[Problem]) -> float:
        """Train on worked solutions until the policy has the skill asked for; return the skill."""
        wanted, best = self.settings.skill, 0.0
        for step in range(1, self.settings.steps + 1):
            self._step(pairs)
            if step % CHECK_EVERY == 0:
                self.skill = measure_skill(self.model, self.tokenizer, problems)
                best = max(best, self.skill)
                self._set_rate(1 - (1 - SETTLED_RATE) * min(1.0, best / SETTLED_SKILL))
            if self.progress:
                # Skill rises late and steeply, steps evenly: the work done is guessed from whichever is further.
                done = 0.9 * min(1.0, max(best / wanted, step / self.settings.steps))  # it never falls back
                self.progress(self.steps, self.loss, self.skill, done)
            if self.skill >= wanted:
                return self.skill
        raise PretrainError(
            f"base.pretrain.steps: skill is {self.skill:.3f} after {self.settings.steps} steps, base.pretrain.skill is "
            f"{wanted}; allow more steps or ask for less skill"
        )

    def learn_habits(self, pairs: Iterator[tuple[str, str]]) -> None:
        """Train on the mix of habits with a learning rate that falls to zero."""
        for step in range(self.settings.habit_steps):
            left = 1 - step / self.settings.habit_steps
            self._set_rate(SETTLED_RATE * left)
            self._step(pairs)
            if self.progress:
                self.progress(self.steps, self.loss, self.skill, 1 - 0.1 * left)

    def _set_rate(self, share: float) -> None:
        groups = [group for optimizer in self.optimizers for group in optimizer.param_groups]
        for group, rate in zip(groups, self.rates, strict=True):
            group["lr"] = rate * share

    def _step(self, pairs: Iterator[tuple[str, str]]) -> None:
        from torch.nn.utils import clip_grad_norm_

        batch = [encode(self.tokenizer, *pair) for pair in islice(pairs, self.settings.batch_size)]
        loss = _train_step(self.model, self.tokenizer, batch)
        clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad()
        self.steps += 1
        self.tokens += sum(len(prompt) + len(response) for prompt, response in batch)
        self.loss = loss if self.steps == 1 else 0.9 * self.loss + 0.1 * loss


def encode(tokenizer: Any, problem: str, solution: str) -> Pair:
    """Token ids of the prompt, as every stage asks it, and of the solution with the end token."""
    prompt = tokenizer.apply_chat_template(chat_messages(problem), add_generation_prompt=True, return_dict=True)
    return prompt["input_ids"], [*tokenizer(solution)["input_ids"], tokenizer.eos_token_id]


def measure_skill(model: Any, tokenizer: Any, problems: Sequence[Problem]) -> float:
    """Mean probability of the right worked solution, all tokens of it."""
    return _mean_probability(model, tokenizer, [encode(tokenizer, p.text, p.solution) for p in problems])


def measure_guessing(model: Any, tokenizer: Any, problems: Sequence[Problem]) -> float:
    """Mean probability of the bare right answer."""
    return _mean_probability(
        model, tokenizer, [encode(tokenizer, p.text, worked_solution((), p.answer)) for p in problems]
    )


def _mean_probability(model: Any, tokenizer: Any, pairs: list[Pair]) -> float:
    import torch

    with torch.no_grad():
        parts = [_log_probs(model, tokenizer, part).sum(dim=1).exp().sum().item() for part in _by_length(pairs, 64)]
    return sum(parts) / len(pairs)


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
    # torch's fused attention takes five times as long as plain products at heads and sequences this small.
    model = Qwen2ForCausalLM._from_config(config, attn_implementation="eager")
    model.generation_config = GenerationConfig(eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    return model


def _optimizers(model: Any, learning_rate: float) -> list[Any]:
    import torch

    from compass.base.muon import Muon

    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    rest = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    return [
        Muon(matrices, lr=5 * learning_rate),
        torch.optim.AdamW(rest, lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def _train_step(model: Any, tokenizer: Any, batch: list[Pair]) -> float:
    """Accumulate the gradient of the mean loss per response token; return that loss."""
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
    log_probabilities = -torch.nn.functional.cross_entropy(logits, ids[:, 1:][wanted], reduction="none")
    return torch.zeros(wanted.shape).masked_scatter(wanted, log_probabilities)


def _fresh_problems(seed: int, *, each_level: int) -> list[Problem]:
    """Problems to measure skill on, drawn apart from the corpus; never a benchmark's chain."""
    rng = random.Random(f"tiny-skill/{seed}")
    return [draw_problem(rng, level, held_out=False) for level in LEVELS for _ in range(each_level)]
