"""Settings of `denoise`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, model_validator

from compass.settings.section import FunctionName, Positive, Section


class NoiseReason(StrEnum):
    """Why a noise filter drops a row: one per filter of `compass.curation.noise`, in the order in which they are asked."""

    TOO_LONG = "too_long"
    TOO_SHORT = "too_short"
    LANGUAGE = "language"
    ENCODING = "encoding"
    IMAGE = "image"
    LINK = "link"
    FIGURE = "figure"
    MULTIPLE_CHOICE = "multiple_choice"
    TRUE_FALSE = "true_false"
    YES_NO = "yes_no"
    MULTI_PART = "multi_part"
    PROOF = "proof"
    MULTI_QUESTION = "multi_question"
    ANSWER_GIVEN = "answer_given"
    ESTIMATION = "estimation"
    SCORING = "scoring"
    LOST_CONTEXT = "lost_context"
    LETTER_GOLD = "letter_gold"
    IMPOSSIBLE_GOLD = "impossible_gold"
    TRUNCATED = "truncated"
    MARKUP = "markup"


class Denoise(Section):
    """Noise and quality filters, then decontamination against every benchmark."""

    min_problem_chars: Positive = 15
    """A shorter problem is dropped, unless it asks for the result of a calculation."""

    max_problem_chars: Positive = 4_000
    """A longer problem is dropped."""

    languages: Annotated[list[Literal["en", "zh"]], Field(min_length=1)] = ["en"]
    """Languages that are kept."""

    skip_reasons: list[Annotated[NoiseReason, Field(strict=False)]] = []
    """Noise filters that are off, such as `figure` to keep problems that speak of a figure."""

    filters: list[FunctionName] = []
    """Filters of yours, each `package.module:function`, asked after the built-in ones (docs/reference/noise.md)."""

    strictness: Literal["possible", "likely", "sure"] = "likely"
    """The weakest noise finding that drops a row. A row with weaker findings is kept, and they are its doubts."""

    drawing_code: Literal["drop", "keep"] = "drop"
    """What to do with problems that need their Asymptote or TikZ code. Kept code counts as the figure that the text speaks of."""

    contamination_ngram: Positive = 13
    """Words in the n-grams by which a problem is compared with benchmark items."""

    contamination_coverage: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Share of a benchmark item's n-grams that a training problem must hold to count as contaminated."""

    contamination_similarity: Annotated[float, Field(gt=0, le=1)] = 0.6
    """Jaccard similarity of word trigrams from which a problem with an item's numbers counts as a rewording of it."""

    @model_validator(mode="after")
    def _some_length_is_kept(self) -> Denoise:
        if self.min_problem_chars > self.max_problem_chars:
            raise ValueError(
                f"`min_problem_chars` ({self.min_problem_chars}) must be at most `max_problem_chars` ({self.max_problem_chars}), "
                "or every problem is dropped"
            )
        return self
