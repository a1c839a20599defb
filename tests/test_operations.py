"""Operations are counted in equations between numbers, and nowhere else."""

from __future__ import annotations

import pytest

from compass.operations import count_operations


@pytest.mark.parametrize(
    ("text", "operations"),
    [
        ("3*4=12. 12-5=7", 2),
        ("3*4-5=7", 2),
        ("42+32=74\n74-35=39\n\\boxed{39}", 2),
        ("(2+3)*4=20", 2),
        ("12 + (3 * 4) = 24", 2),
        ("2 x 3 = 6 and 2 \\times 3 = 6", 2),
        ("She has 5 - 2 = 3 and $3 + $4 = $7", 2),
        ("-3 + 5 = 2", 1),
        ("1,000/2 = 500", 1),
        ("2+3=5=5", 1),
        ("He ran 48/2 = <<48/2=24>>24 miles", 1),
        ("the answer is 7", 0),
        ("3-5 apples cost 7", 0),
        ("on 3/4/2020 it was = 5", 0),
        ("", 0),
    ],
)
def test_operations_of_a_text(text: str, operations: int) -> None:
    assert count_operations(text) == operations


def test_long_sums_and_numbers_are_counted_without_trying_their_parts() -> None:
    """Trying every part of them would take minutes."""
    numbers = " + ".join(["1"] * 5_000)
    assert count_operations(f"{numbers} and so on") == 0
    assert count_operations(f"{numbers} = 5000") == 4_999
    assert [count_operations(text * 50_000) for text in ("1", "1,", "1.", "(", "1 ")] == [0] * 5
