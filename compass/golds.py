"""What counts as right for a record: its gold, the alternatives and the tolerance, as the verifier takes them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from compass.verifier import Gold

if TYPE_CHECKING:
    import pyarrow as pa


def gold_of(answer: str | None, alternatives: Iterable[str] | None = None, tolerance: str | None = None) -> str | Gold:
    """The gold in a record's columns: its text alone where it has neither alternatives nor a tolerance."""
    others = () if alternatives is None else tuple(alternatives)
    return Gold(answer or "", others, tolerance or None) if others or tolerance else answer or ""


def golds(records: pa.Table) -> dict[str, str | Gold]:
    """The gold of each record by its id."""
    columns = (records.column(name).to_pylist() for name in ("id", "answer", "alternatives", "tolerance"))
    return {name: gold_of(*gold) for name, *gold in zip(*columns, strict=True)}
