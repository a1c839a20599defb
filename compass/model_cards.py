"""The cards that stages write with the models they train: what a model was made of, how, and what was seen.

A card changes no weights, so no stage depends on this file (`stages/_deps.py`). `compass/report/scored_cards.py` adds the scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compass.rl.metrics import SAMPLED_LENGTH, SAMPLED_REWARD
from compass.settings import RlStage, WarmStart
from compass.settings.recipe import PAID
from compass.settings.recipe_checks import without_effect

RL_CARD = """---
library_name: transformers
pipeline_tag: text-generation
tags: [reinforcement-learning, math]
---
# {stage}

A policy trained by reinforcement learning on math problems whose answers can be checked: stage `{stage}` of the
Compass-Thinker pipeline (profile `{profile}`, seed {seed}), from the weights of `{init_from}`. {reward}

- **Weights**: {dtype}, as `config.json` says. The tokenizer is that of `{init_from}`.
- **Iteration**: {step} of {steps}{choice}.
- **Problems**: {problems}, of the pipeline's curriculum for this stage.
- **Prompt**: the tokenizer's chat template{prompt}.
- **Responses**: up to {max_response_tokens} tokens, at temperature {temperature:g} and top-p {top_p:g} in training.

| | first iteration | last |
|---|---|---|
| mean reward | {reward_first:+.3f} | {reward_last:+.3f} |
| mean response length in tokens | {tokens_first:.1f} | {tokens_last:.1f} |

A reward on training problems says little about scores on benchmarks, which the report's copy of this card has below.

## Recipe

{recipe}

## Licence and limits

The licence is that of the base model, with the terms of the problems' sources; each problem's record carries its own. The model is
trained to end with a right answer in the expected form, not to be a general assistant.
"""

WARM_START_CARD = """---
library_name: transformers
pipeline_tag: text-generation
tags: [math, supervised]
---
# base

`{model}`, trained for {steps} steps of {batch} worked solutions from {sources}, so that it has a chance to solve problems in the
form that is rewarded. Stage `base` of the Compass-Thinker pipeline: the model that RL starts from.

- **Examples**: {examples}; left out: {without} without a solution, {unpaid} whose solution the verifier does not pay for, {long}
  longer than {max_tokens} tokens. {bare:.0%} are the boxed answer alone.
- **Loss** (nats per response token): {first:.3f} in the first step, {last:.3f} in the last.
- **Weights**: float32.
"""

NO_RECIPE = ("system_prompt", "prompt_suffix")
"""Settings that the card names as the prompt."""


def rl_card(
    stage: str,
    settings: RlStage,
    *,
    profile: str,
    seed: int,
    step: int,
    problems: int,
    metrics: Sequence[Mapping[str, Any]],
) -> str:
    """The card, in Markdown with the front matter that model hubs read.

    Args:
        stage: the stage's name.
        settings: its settings.
        profile: the profile's name.
        seed: the run's seed.
        step: the iteration whose weights were exported.
        problems: how many problems it was trained on.
        metrics: verl's metrics of every iteration, in order.
    """
    first, last = metrics[0], metrics[-1]
    words = [f"the prompt `{settings.data.prompt}`"] if settings.data.prompt != "default" else []
    words += [f"system prompt “{settings.data.system_prompt}”"] if settings.data.system_prompt else []
    words += [f"“{settings.data.prompt_suffix}” after the problem"] if settings.data.prompt_suffix else []
    return RL_CARD.format(
        stage=stage,
        profile=profile,
        seed=seed,
        init_from=settings.init_from,
        reward=_describe_reward(settings),
        dtype=settings.resources.dtype,
        step=step,
        steps=settings.steps,
        choice="" if step == settings.steps else ", the best by validation",
        problems=f"{problems:,}",
        prompt=f", with {' and '.join(words)}" if words else "",
        max_response_tokens=settings.rollout.max_response_tokens,
        temperature=settings.rollout.temperature,
        top_p=settings.rollout.top_p,
        reward_first=first.get(SAMPLED_REWARD, float("nan")),
        reward_last=last.get(SAMPLED_REWARD, float("nan")),
        tokens_first=first.get(SAMPLED_LENGTH, float("nan")),
        tokens_last=last.get(SAMPLED_LENGTH, float("nan")),
        recipe=_recipe(settings),
    )


def _describe_reward(settings: RlStage) -> str:
    """What was paid, in sentences."""
    ours, longest = settings.reward, settings.rollout.max_response_tokens
    said = [f"The reward is {f'what the function `{ours.function}` pays' if ours.function else PAID}."]
    if ours.overlong_buffer:
        said.append(
            f"Beyond {longest - ours.overlong_buffer} tokens a penalty grows evenly, to {ours.overlong_penalty:g} at {longest}."
        )
    if ours.kl_coef:
        said.append(f"A KL term to the starting weights is taken off, with the coefficient {ours.kl_coef:g}.")
    return " ".join(said)


def warm_start_card(settings: WarmStart, counts: Mapping[str, int], losses: Sequence[float], *, model: str) -> str:
    """The card of a warm-started model, in Markdown.

    Args:
        settings: the warm start's.
        counts: what `write_examples` returned.
        losses: of each step.
        model: `base.model`, as the settings have it.
    """
    return WARM_START_CARD.format(
        model=model,
        steps=settings.steps,
        batch=settings.batch_size,
        sources=", ".join(settings.sources),
        examples=counts["examples"],
        without=counts["without_solution"],
        unpaid=counts["unpaid"],
        long=counts["too_long"],
        max_tokens=settings.max_tokens,
        bare=settings.answer_only,
        first=losses[0],
        last=losses[-1],
    )


def _recipe(settings: RlStage) -> str:
    rows = ["| setting | value |", "|---|---|"]
    acting = settings.model_dump(mode="json", exclude=without_effect(settings))
    for group in ("data", "rollout", "reward", "advantage", "loss", "optimizer", "lora", "verl"):
        for name, value in acting.get(group, {}).items():
            inner = {f"{name}.{key}": one for key, one in value.items()} if isinstance(value, dict) else {name: value}
            rows += [f"| `{group}.{key}` | {one} |" for key, one in inner.items() if key not in NO_RECIPE]
    return "\n".join(rows)
