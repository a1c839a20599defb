"""The model card of an RL stage's model: what it was made of, how, and what was seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compass.settings import RlStage
from compass.settings.recipe_checks import without_effect

CARD = """---
library_name: transformers
pipeline_tag: text-generation
tags: [reinforcement-learning, math]
---
# {stage}

A policy trained by reinforcement learning on math problems whose answers can be checked: stage `{stage}` of the
Compass-Thinker pipeline (profile `{profile}`, seed {seed}), from the weights of `{init_from}`. The reward is +1 for an answer that
equals the published one by the pipeline's verifier, and -1 for any other.

- **Weights**: {dtype}, as `config.json` says. The tokenizer is that of `{init_from}`.
- **Iteration**: {step} of {steps}{choice}.
- **Problems**: {problems}, of the pipeline's curriculum for this stage.
- **Prompt**: the tokenizer's chat template{prompt}.
- **Responses**: up to {max_response_tokens} tokens, at temperature {temperature:g} and top-p {top_p:g} in training.

| | first iteration | last |
|---|---|---|
| mean reward | {reward_first:+.3f} | {reward_last:+.3f} |
| mean response length in tokens | {tokens_first:.1f} | {tokens_last:.1f} |

Scores on benchmarks are in the pipeline's report, not here: a reward on training problems says little about them.

## Recipe

{recipe}

## Licence and limits

The licence is that of the base model, with the terms of the problems' sources; each problem's record carries its own. The model is
trained to end with a right answer in the expected form, not to be a general assistant.
"""

NO_RECIPE = ("system_prompt", "prompt_suffix")
"""Settings that the card tells as the prompt."""


def model_card(
    stage: str,
    settings: RlStage,
    *,
    profile: str,
    seed: int,
    step: int,
    problems: int,
    metrics: list[Mapping[str, Any]],
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
    return CARD.format(
        stage=stage,
        profile=profile,
        seed=seed,
        init_from=settings.init_from,
        dtype=settings.resources.dtype,
        step=step,
        steps=settings.steps,
        choice="" if step == settings.steps else ", the best by validation",
        problems=f"{problems:,}",
        prompt=f", with {' and '.join(words)}" if words else "",
        max_response_tokens=settings.rollout.max_response_tokens,
        temperature=settings.rollout.temperature,
        top_p=settings.rollout.top_p,
        reward_first=first.get("critic/score/mean", float("nan")),
        reward_last=last.get("critic/score/mean", float("nan")),
        tokens_first=first.get("response_length/mean", float("nan")),
        tokens_last=last.get("response_length/mean", float("nan")),
        recipe=_recipe(settings),
    )


def _recipe(settings: RlStage) -> str:
    rows = ["| setting | value |", "|---|---|"]
    acting = settings.model_dump(mode="json", exclude=without_effect(settings))
    for group in ("data", "rollout", "reward", "advantage", "loss", "optimizer", "verl"):
        for name, value in acting[group].items():
            inner = {f"{name}.{key}": one for key, one in value.items()} if isinstance(value, dict) else {name: value}
            rows += [f"| `{group}.{key}` | {one} |" for key, one in inner.items() if key not in NO_RECIPE]
    return "\n".join(rows)
