"""How much arithmetic one verdict may take."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from compass.verifier import budget
from compass.verifier.tree import OverBudget


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    budget.start()
    yield
    budget.start()


@pytest.mark.parametrize(
    ("spend", "most", "message"),
    [
        (budget.spend_exact, 4_000_000, "more exact arithmetic than the budget allows"),
        (budget.spend_numeric, 3_000_000, "more numeric work than the budget allows"),
    ],
)
def test_work_adds_up_to_the_budget_and_no_further(spend, most: int, message: str) -> None:
    spend(most - 1)
    spend(1)
    with pytest.raises(OverBudget, match=message):
        spend(1)
    budget.start()
    spend(most)


def test_exact_and_numeric_work_are_counted_apart() -> None:
    budget.spend_exact(budget.MAX_EXACT)
    budget.spend_numeric(budget.MAX_NUMERIC)


def test_each_thread_has_a_budget_of_its_own() -> None:
    budget.spend_exact(budget.MAX_EXACT)
    errors: list[Exception] = []

    def work() -> None:
        try:
            budget.spend_exact(budget.MAX_EXACT)
        except OverBudget as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == []
