"""Settings of `dedup`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from compass.settings.section import NotNegative, Positive, Section


class SemanticDedup(Section):
    """Duplicates in other words, by a small embedding model; off without one."""

    model: str = ""
    """Folder of an embedding model that transformers loads, such as all-MiniLM-L6-v2; empty: off."""

    threshold: Annotated[float, Field(gt=0, le=1)] = 0.85
    """Cosine of two embeddings from which problems with the same numbers and signs and equal golds are one problem."""


class Dedup(Section):
    """Exact and near-duplicates (MinHash LSH), candidates confirmed by exact Jaccard similarity."""

    threshold: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Jaccard similarity of word n-gram sets from which two problems are near-duplicates."""

    ngram: Positive = 3
    """Words in an n-gram."""

    permutations: Positive = 128
    """MinHash permutations."""

    seed: NotNegative = 1
    """Seed of the MinHash permutations."""

    numbers_must_match: bool = True
    """Two near-duplicates whose numbers differ are different problems and both stay."""

    conflicts: Literal["majority", "preferred", "drop"] = "majority"
    """Duplicates that disagree on the answer. `majority`: keep the answer of more than half of the independent rows, else the only one to
    which a worked solution leads; drop all where neither decides. `preferred`: where neither decides, keep the answer of the preferred row.
    `drop`: drop all."""

    keep_all: bool = False
    """Find duplicates and keep them, as a study of what deduplication is worth needs it."""

    semantic: SemanticDedup = SemanticDedup()
    """Duplicates in other words, among the rows that are no duplicates by their words."""
