"""Relations between two ways to write an answer, held against the verifier: equal stays equal, different stays different.

`relations/` draws the pairs. A few of each relation run by default, always the same; for many, drawn anew:

    COMPASS_METAMORPHIC_EXAMPLES=2000 python -m pytest tests/verifier/test_metamorphic.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis.errors import NoSuchExample

from compass.verifier import Outcome, verify
from compass.verifier.verdict import Leniency

sys.path.insert(0, str(Path(__file__).parent))
from relations.different_numbers import DIFFERENT_NUMBERS
from relations.different_structures import DIFFERENT_STRUCTURES
from relations.drawing import Pair, Relation
from relations.same_expressions import SAME_EXPRESSIONS
from relations.same_numbers import SAME_NUMBERS
from relations.same_structures import SAME_STRUCTURES

SAME = SAME_NUMBERS | SAME_STRUCTURES | SAME_EXPRESSIONS
DIFFERENT = DIFFERENT_NUMBERS | DIFFERENT_STRUCTURES
MANY = os.environ.get("COMPASS_METAMORPHIC_EXAMPLES")
EXAMPLES = settings(
    max_examples=int(MANY or 20),
    deadline=None,
    derandomize=MANY is None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
SEARCH = settings(EXAMPLES, max_examples=max(EXAMPLES.max_examples, 100), phases=[Phase.generate])
KNOWN: dict[str, str] = {}
"""Relations that the verifier breaks, and what it does: take a line out when a change makes it right."""


def is_equal(pair: Pair) -> bool:
    return verify(gold=pair[0], answer=pair[1]).outcome is Outcome.EQUAL


def is_lopsided(pair: Pair) -> bool:
    """Whether the outcome depends on which side is the gold, other than by rounding."""
    there, back = verify(gold=pair[0], answer=pair[1]), verify(gold=pair[1], answer=pair[0])
    return there.equal != back.equal and Leniency.ROUNDING not in (*there.leniencies, *back.leniencies)


def run(relation: Relation, holds: object) -> None:
    """Raise AssertionError with the simplest pair for which `holds` fails."""

    @EXAMPLES
    @given(relation)
    def check(pair: Pair) -> None:
        assert holds(pair), f"{pair}: {verify(gold=pair[0], answer=pair[1])}"  # type: ignore[operator]

    check()


@pytest.mark.parametrize("name", sorted(SAME.keys() - KNOWN.keys()))
def test_equal_stays_equal(name: str) -> None:
    run(SAME[name], is_equal)


@pytest.mark.parametrize("name", sorted(DIFFERENT.keys() - KNOWN.keys()))
def test_different_stays_different(name: str) -> None:
    run(DIFFERENT[name], lambda pair: not is_equal(pair))


@pytest.mark.parametrize("name", sorted((SAME | DIFFERENT).keys() - KNOWN.keys()))
def test_swapping_gold_and_answer_changes_nothing(name: str) -> None:
    run((SAME | DIFFERENT)[name], lambda pair: not is_lopsided(pair))


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_known_errors_are_still_errors(name: str) -> None:
    try:
        if name in SAME:
            find(SAME[name], lambda pair: not is_equal(pair), settings=SEARCH)
        else:
            find(DIFFERENT[name], is_equal, settings=SEARCH)
    except NoSuchExample:
        pytest.fail(f"{name} holds now: take it out of KNOWN")


def test_there_are_many_relations() -> None:
    assert len(SAME) >= 30
    assert len(DIFFERENT) >= 30
