"""What the curation tests share: the folder of real data beside the repository, and records from short texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from compass.records import record_id, table

SHARED = Path(__file__).parents[2] / ".." / "shared" / "data"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real sources and benchmarks; tests that need it are skipped where it is absent."""
    if not SHARED.exists():
        pytest.skip("needs the folder ../shared/data beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def records() -> Callable[..., pa.Table]:
    """`records((problem, answer, source), ...)` or `records((problem, answer, source, {column: value}), ...)`."""

    def build(*rows: tuple) -> pa.Table:
        made = []
        for number, (problem, answer, source, *more) in enumerate(rows):
            row = {
                "id": record_id(source, str(number)),
                "source": source,
                "source_id": str(number),
                "problem": problem,
                "answer": answer,
                "solution": "",
            }
            made.append({**row, **(more[0] if more else {})})
        return table(made)

    return build
