"""Matching braces in LaTeX."""

import pytest

from compass.braces import closing_brace


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("{a}", 0, 3),
        ("{a}b", 0, 3),
        ("x{a{b}c}d", 1, 8),
        ("x{a{b}c}d", 3, 6),
        ("{}", 0, 2),
        ("{", 0, None),
        ("{{}", 0, None),
        (r"{\}", 0, None),
        (r"{\}}", 0, 4),
        (r"{\{}", 0, 4),
        (r"{\\}", 0, 4),
        ("{\\\n}", 0, 4),
        ("{\\", 0, None),
    ],
)
def test_a_brace_closes_where_the_depth_is_zero_again(text: str, start: int, end: int | None) -> None:
    assert closing_brace(text, start) == end


def test_nothing_is_looked_at_beyond_the_end() -> None:
    assert closing_brace("{abc}", 0, 5) == 5
    assert closing_brace("{abc}", 0, 4) is None
