"""The model card of a warm-started model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compass.settings import WarmStart

CARD = """---
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


def warm_start_card(settings: WarmStart, counts: Mapping[str, int], losses: Sequence[float], *, model: str) -> str:
    """The card, in Markdown.

    Args:
        settings: the warm start's.
        counts: what `write_examples` returned.
        losses: of each step.
        model: `base.model`, as the settings have it.
    """
    return CARD.format(
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
