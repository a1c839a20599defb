"""How vLLM samples, for `grade` and `evaluate`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from compass.settings.prompting import Prompting
from compass.settings.section import Positive


class Sampling(Prompting):
    """How vLLM samples, for grading and evaluation."""

    temperature: Annotated[float, Field(ge=0)] = 1.0
    """Sampling temperature; 0 is greedy."""

    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Nucleus mass."""

    max_tokens: Positive = 64
    """Longest response, in tokens."""

    max_model_len: Positive = 192
    """Longest prompt and response together, in tokens; longer prompts are reported, not cut."""

    checkpoint_tokens: Positive = 128
    """What is sampled of a longer response is kept every so many tokens, and a stopped run goes on from there. On a CPU each such
    stretch has a seed of its own."""

    batch: Positive = 2048
    """Responses that an engine may have in hand at once; at most those that vLLM decodes at once (on a CPU 512)."""

    dtype: Literal["float32", "bfloat16", "auto"] = "auto"
    """Weights' type in the engine."""

    tensor_parallel: Positive = 1
    """GPUs a model is split over."""

    memory: Annotated[float, Field(gt=0, le=1)] = 0.85
    """Share of a GPU's memory the engine may take; ignored on CPU."""

    kv_cache_gib: Positive = 1
    """GiB of memory for the key-value cache on CPU; ignored on a GPU."""

    def with_prompt(self, name: str) -> Sampling:
        """The same with another named prompt.

        Raises:
            ValueError: `chat_template_kwargs` and the prompt exclude each other.
        """
        values = self.model_dump() | {"prompt": name, "system_prompt": "", "prompt_suffix": ""}
        return Sampling.model_validate(values)

    def check_samples(self, name: str, count: int) -> None:
        """Check that several samples of one problem can differ.

        Args:
            name: the setting that says how many are sampled.
            count: its value.

        Raises:
            ValueError: they are greedy, and so are one response several times.
        """
        if self.temperature == 0 and count > 1:
            raise ValueError(
                f"`{name}` ({count}) must be 1 with `sampling.temperature: 0`, which gives the same response every time"
            )

    @model_validator(mode="after")
    def _room_for_a_prompt(self) -> Sampling:
        if self.max_tokens >= self.max_model_len:
            raise ValueError(
                f"`max_model_len` ({self.max_model_len}) must exceed `max_tokens` ({self.max_tokens}): a prompt has to fit too"
            )
        return self
