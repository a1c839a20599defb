"""What a model may lose by training on mathematics alone: a small set of general questions, and problems that no stage trained on.

`general.jsonl` holds 60 questions written for this project: knowledge, language, reading, common sense and following instructions, with answers of one word or
letter. 29 have four choices, so a guess is right once in four. Sixty questions with eight samples show a loss of 8 to 13 points at
best (by how alike the two models are): a sign that something broke, no measure of general ability.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pyarrow as pa

from compass.ledger import Reason
from compass.seeded_draw import draw

NEVER_TRAINED = (Reason.NOT_SELECTED, Reason.SOLVE_RATE)
"""Why the curriculum leaves out problems that are otherwise fit to be trained on."""


def general_items() -> list[dict[str, Any]]:
    """The general questions: `id`, `area`, `problem`, `answer`."""
    text = (files(__name__) / "general.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def untrained_items(dropped: pa.Table, count: int, seed: int) -> list[dict[str, Any]]:
    """Problems that passed every filter and that no stage trains on, drawn by a seeded hash.

    Args:
        dropped: `LEDGER` rows of the stage `curriculum`.
        count: at most so many; 0 takes all.
        seed: of the draw.

    Returns:
        `id`, `problem`, `answer`, `alternatives` and `tolerance` as the record has them, `level` (1-5, or null), and `why` (the reason: a solve
        rate outside of the mix, or not selected).
    """
    columns = ["id", "problem", "answer", "alternatives", "tolerance", "level", "reason"]
    rows = [row for row in dropped.select(columns).to_pylist() if row["reason"] in NEVER_TRAINED]
    chosen = set(draw((row["id"] for row in rows), count, f"{seed}\0untrained"))
    kept = [row for row in rows if row["id"] in chosen]
    return [{("why" if name == "reason" else name): value for name, value in row.items()} for row in kept]
