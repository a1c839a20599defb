"""What counts as right for a record: its gold, the alternatives and the tolerance, as the verifier takes them."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING

from compass.verifier import Gold

if TYPE_CHECKING:
    import pyarrow as pa


def gold_of(
    answer: str | Real | None,
    alternatives: str | Iterable[str | Real] | None = None,
    tolerance: str | Real | None = None,
) -> str | Gold:
    """The gold in a record's columns: its text alone where it has neither alternatives nor a tolerance.

    Raises:
        TypeError: a column that holds something else than texts and numbers.
    """
    others = () if alternatives is None or (isinstance(alternatives, str) and not alternatives) else alternatives
    gold = Gold("" if answer is None else answer, others, None if tolerance == "" else tolerance)
    return gold if gold.alternatives or gold.tolerance else gold.answer


def golds(records: pa.Table) -> dict[str, str | Gold]:
    """The gold of each record by its id."""
    columns = (records.column(name).to_pylist() for name in ("id", "answer", "alternatives", "tolerance"))
    return {name: gold_of(*gold) for name, *gold in zip(*columns, strict=True)}
