"""Ways to write a number that are rewritten before they are read."""

from __future__ import annotations

import pytest

from compass.verifier.reading.notation import rewrite_numbers

RESTATED = [
    ("5.2x10^3", r"5.2\times 10^3"),
    ("5.2 X 10^3", r"5.2\times 10^3"),
    ("4.2 E5", "4.2e5"),
    (r".\overline{09}", r"0.\overline{09}"),
    ("frac{1}{2}", r"\frac{1}{2}"),
    (r"\frac{1}{2}", r"\frac{1}{2}"),
    ("32 base 8", "32_{8}"),
    (r"32\text{ (base eight)}", "32_{8}"),
    ("11_{two}", "11_{2}"),
    ("the base", "the base"),
    ("1a_{16}", r"\based{1A}{16}"),
    ("2a_{12}+1", "2a_{12}+1"),
    ("x_{16}", "x_{16}"),
    ("(1,2) U (3,4)", r"(1,2)\cup (3,4)"),
    ("x is greater than 3", "x>3"),
    ("x is less than or equal to 3", "x<=3"),
    (r"x\text{ is greater than }3", "x>3"),
    ("3 less than 10", "3 less than 10"),
    ("greater than 3", "greater than 3"),
]


@pytest.mark.parametrize(("text", "latex"), RESTATED)
def test_what_is_known_is_rewritten(text: str, latex: str) -> None:
    assert rewrite_numbers(text) == latex
