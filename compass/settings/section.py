"""What every section of a parameter file shares, and the stages they belong to."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

STAGES = (
    "collect",
    "dedup",
    "denoise",
    "base",
    "grade",
    "verify",
    "curriculum",
    "rl-1",
    "rl-2",
    "rl-3",
    "evaluate",
    "report",
)
"""Every stage of the pipeline, in an order in which each one's inputs exist."""

RL_STAGES = ("rl-1", "rl-2", "rl-3")

Probability = Annotated[float, Field(ge=0, le=1)]
Positive = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]


class Section(BaseModel):
    """A section of `params.yaml`: no unknown key, no silent conversion, immutable once read."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)
