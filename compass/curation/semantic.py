"""Semantic near-duplicates: problems that say the same in other words, found by a small embedding model that the user gives.

Runs on what MinHash left, where `dedup.semantic.model` names a model's folder. A row is a duplicate if an earlier one in the order of
preference (`survivor.py`, rule 3) has the same numbers and signs in any order, an equal gold, and an embedding whose cosine reaches the
threshold. An embedding alone decides nothing: texts that differ in a number lie as close as rewordings do. Rows with fewer than two
numbers are left alone, and only those that share their numbers with another are embedded.

The model is a folder that transformers loads (such as all-MiniLM-L6-v2). A text's embedding is the mean over its tokens, as in
Sentence-BERT (arXiv 1908.10084), of length 1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from compass.curation.problem_words import numbers, tokens
from compass.curation.survivor import agree, preference
from compass.errors import UserError
from compass.ledger import Drop, Reason
from compass.progress import report
from compass.settings import SemanticDedup

BATCH = 64
"""Texts that the model reads at a time. It is fixed, so that a rerun computes the same sums."""

MOST_TOKENS = 256
"""Tokens of a text that are read; the models that this is for were trained on fewer."""

LEAST_NUMBERS = 2
"""A problem with fewer numbers shares them with too many others."""

Embed = Callable[[Sequence[str]], np.ndarray]


def group_by_numbers(problems: Iterable[tuple[int, str | None]]) -> list[list[int]]:
    """The rows, given with their problems, that hold the same numbers, two at least, and the same signs: groups of two or more."""
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row, problem in problems:
        said = numbers(tokens(problem))
        if sum(token[0].isdigit() for token in said) >= LEAST_NUMBERS:
            groups[tuple(sorted(token for token in said if token[0].isdigit() or token in "+-"))].append(row)
    return [group for group in groups.values() if len(group) > 1]


def find_reworded(
    groups: Sequence[Sequence[int]],
    rows: Mapping[int, dict[str, Any]],
    rank: dict[str, int],
    settings: SemanticDedup,
    embed: Embed | None = None,
) -> dict[int, tuple[int, Drop]]:
    """The rows that say what another row says in other words.

    Args:
        groups: the numbers of rows of which some may be one problem (`group_by_numbers`).
        rows: the records by row number, with the columns `id`, `source`, `problem`, `answer`, `alternatives`, `solution` and
            `solve_rate`, none of which duplicates another's words.
        rank: each source's place in the order of preference.
        settings: the section `dedup.semantic`.
        embed: texts to embeddings `(n, d)` of length 1; the settings' model where none is given.

    Returns:
        By the number of each such row the number of its twin, which is none of them, and the verdict.

    Raises:
        UserError: the model cannot be loaded.
    """
    wanted = [row for group in groups for row in group]
    if not wanted:
        return {}
    vectors = (embed or load_model(settings.model))([rows[row]["problem"] for row in wanted])
    place = {row: at for at, row in enumerate(wanted)}
    found: dict[int, tuple[int, Drop]] = {}
    for group in groups:
        order = sorted(group, key=lambda row: preference(rows[row], rank))
        ordered = vectors[[place[row] for row in order]]
        for at, twin, cosine in _join([rows[row] for row in order], ordered, settings.threshold):
            found[order[at]] = order[twin], _drop(rows[order[at]], rows[order[twin]], cosine)
    return found


def _join(rows: Sequence[dict[str, Any]], vectors: np.ndarray, threshold: float) -> Iterator[tuple[int, int, float]]:
    """Of rows in order of preference each that duplicates an earlier one that stays, the nearest such one, and the cosine."""
    heads: list[int] = []
    for number, row in enumerate(rows):
        cosines = vectors[heads] @ vectors[number] if heads else np.zeros(0)
        near = sorted(np.flatnonzero(cosines >= threshold).tolist(), key=lambda at: -cosines[at])
        twin = next((at for at in near if agree(row, rows[heads[at]])), None)
        if twin is None:
            heads.append(number)
        else:
            yield number, heads[twin], float(cosines[twin])


def _drop(row: dict[str, Any], twin: dict[str, Any], cosine: float) -> Drop:
    return Drop(
        Reason.SEMANTIC_DUPLICATE,
        {
            "twin": twin["id"],
            "twin_source": twin["source"],
            "similarity": round(cosine, 4),
            "answer": row["answer"],
            "twin_answer": twin["answer"],
        },
    )


def load_model(folder: str) -> Embed:
    """The function that embeds texts with the model in a folder: mean over tokens, length 1, 32-bit floats.

    Raises:
        UserError: there is no such folder, transformers is not installed, or it cannot load what is there.
    """
    if not Path(folder).is_dir():
        raise UserError(
            f"`dedup.semantic.model` {folder}: no such folder",
            "give one that transformers loads: config, tokenizer, weights",
        )
    try:
        import torch
        from transformers import AutoModel, AutoTokenizer
    except ImportError as error:
        raise UserError(
            f"`dedup.semantic.model`: {error.name} is not installed", "pip install 'compass-thinker[evaluate]'"
        ) from None
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModel.from_pretrained(folder, local_files_only=True, dtype=torch.float32).eval()
    except (OSError, ValueError) as error:
        raise UserError(f"`dedup.semantic.model` {folder}: transformers cannot load it: {error}") from None

    def embed(texts: Sequence[str]) -> np.ndarray:
        order = sorted(range(len(texts)), key=lambda number: (len(texts[number]), texts[number]))
        vectors = np.zeros((len(texts), model.config.hidden_size), dtype=np.float32)
        for low in range(0, len(order), BATCH):
            chosen = order[low : low + BATCH]
            batch = tokenizer(
                [texts[number] for number in chosen],
                padding=True,
                truncation=True,
                max_length=MOST_TOKENS,
                return_tensors="pt",
            )
            with torch.inference_mode():
                states = model(**batch).last_hidden_state
            mask = batch["attention_mask"].unsqueeze(-1)
            means = (states * mask).sum(1) / mask.sum(1)
            vectors[chosen] = torch.nn.functional.normalize(means).numpy()
            report(low + len(chosen), len(order), "rows", "embedding")
        return vectors

    return embed
