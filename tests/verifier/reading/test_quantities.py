"""Units after a value."""

from __future__ import annotations

from collections.abc import Callable

import pytest

UNITS = [
    (r"5\text{ cm}", "unit(5, cm)"),
    ("5 cm", "unit(5, cm)"),
    ("5cm", "unit(5, cm)"),
    ("5 square feet", "unit(5, ft^2)"),
    (r"5\text{ cm}^2", "unit(5, cm^2)"),
    ("5 miles per hour", "unit(5, mi/h)"),
    (r"5\text{ m/s}", "unit(5, m/s)"),
    (r"5\text{ m}\cdot\text{s}", "unit(5, m s)"),
    (r"5\text{ ft}.", "unit(5, ft)"),
    (r"5\text{ m}^x", "Unreadable: a unit with an unknown power"),
    ("5 times more", "Unreadable: cannot read 'times more' after a value"),
    ("5 min", "unit(5, min)"),
    (r"5 \text{min}", "unit(5, min)"),
    ("5 min(1,2)", "mul([5, call(min, [1, 2])])"),
    (r"x\text{ cm}", "unit(x, cm)"),
    (r"2x\text{ cm}", "unit(mul([2, x]), cm)"),
    (r"5\mathrm{m}", "unit(5, m)"),
    (r"\$5", "unit(5, dollar)"),
    (r"5\euro", "unit(5, euro)"),
    ("5 cookies", "unit(5, cookie)"),
    ("5 and 6 cm", "seq(, and, [5, unit(6, cm)])"),
    (r"(1,2)\text{ cm}", "seq((, ), [unit(1, cm), unit(2, cm)])"),
    (r"\{1,2\}\text{ cm}", "seq({, }, [unit(1, cm), unit(2, cm)])"),
    (r"x\le 3\text{ cm}", "rel([<=], [x, unit(3, cm)])"),
    (
        r"([1,2]\cup[3,4])\text{ cm}",
        "setop(cup, seq([, ], [unit(1, cm), unit(2, cm)]), seq([, ], [unit(3, cm), unit(4, cm)]))",
    ),
    (r"[1,2]\cup[3,4]\text{ cm}", "setop(cup, seq([, ], [1, 2]), seq([, ], [unit(3, cm), unit(4, cm)]))"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}\text{ m}", "matrix([[unit(1, m)], [unit(2, m)]])"),
    (r"1+2\text{ cm}", "add([1, unit(2, cm)])"),
    (r"5\text{ J}", "unit(5, J)"),
    (r"5\mathrm{~N}", "unit(5, N)"),
    (r"5\mathrm{m/s^2}", "unit(5, m/s^2)"),
    (r"5\frac{\text{m}}{\text{s}}", "unit(5, m/s)"),
    (r"5\frac{m}{s}", "mul([5, mul([m, inv(s)])])"),
    (r"5\text{ m}\cdot\text{s}^{-1}", "unit(5, m/s)"),
    (r"5\,\Omega", "unit(5, ohm)"),
    (r"x\Omega", "mul([x, Omega])"),
    (r"5\text{ k}\Omega", "unit(5, kohm)"),
    (r"5\mu\text{m}", "unit(5, μm)"),
    (r"5\mu", "mul([5, mu])"),
    (r"5 M_\odot", "unit(5, M_sun)"),
    (r"5^\circ\text{C}", "unit(5, celsius)"),
    (r"5^\circ F", "unit(5, fahrenheit)"),
    (r"5\text{ degrees Celsius}", "unit(5, celsius)"),
    (r"x\text{A}", "mul([x, A])"),
    ("5 m", "unit(5, m)"),
    ("5m", "mul([5, m])"),
    ("5 x", "mul([5, x])"),
    ("9.8 m/s^2", "unit(9.8, m/s^2)"),
    ("Rs. 5", "unit(5, rupee)"),
    (r"\text{Rs. }5", "unit(5, rupee)"),
    ("USD 5", "unit(5, dollar)"),
    (r"\$5 million", "unit(mul([5, 1000000]), dollar)"),
    (r"\$5\text{ per hour}", "unit(5, dollar/h)"),
    (r"\$5/\text{hour}", "unit(5, dollar/h)"),
    ("5 halves", "mul([5, 1/2])"),
    ("5 squared", "pow(5, 2)"),
    ("5 factorial", "call(factorial, [5])"),
    ("5 dozen eggs", "unit(mul([5, 12]), egg)"),
    (r"3\mathrm{x}", "mul([3, x])"),
    (r"5\text{k}", "mul([5, k])"),
    ("5 (meters)", "unit(5, m)"),
    (r"5\text{ (m/s)}", "unit(5, m/s)"),
    ("5(x)", "mul([5, x])"),
    ("5 negative", "Unreadable: cannot read 'negative' after a value"),
    (r"2\text{ to }3", "ratio([2, 3])"),
    (r"30^\circ 15' 36''+0", "add([degree(add([add([30, mul([15, 1/60])]), mul([36, 1/3600])])), 0])"),
    (r"30^\circ 15", "Unreadable: a number straight after a value"),
    (r"6\times10^{23}\text{ mol}", "unit(mul([6, pow(10, 23)]), mol)"),
]


@pytest.mark.parametrize(("text", "tree"), UNITS)
def test_units(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


TWO_UNITS = [
    ("5 ft 8 in", "unit(add([mul([12, 5]), 8]), in)"),
    ("2 hours and 30 minutes", "unit(add([mul([60, 2]), 30]), min)"),
    (r"5\text{ years }8\text{ months}", "unit(add([mul([12, 5]), 8]), month)"),
    ("5 ft 8", "Unreadable: a number straight after a value"),
    ("5 ft 8 kg", "Unreadable: a number straight after a value"),
    ("5 in 8 ft", "Unreadable: a number straight after a value"),
    ("5 cm 3", "Unreadable: a number straight after a value"),
    ("2 hours and x", "seq(, and, [unit(2, h), x])"),
    ("5 ft 8 ft", "Unreadable: a number straight after a value"),
    ("1 hour 2 minutes 3 seconds", "unit(add([mul([60, add([mul([60, 1]), 2])]), 3]), s)"),
]


@pytest.mark.parametrize(("text", "tree"), TWO_UNITS)
def test_quantities_in_two_units(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


PROSE = [
    ("about 5", "5"),
    ("approximately 5 cm", "unit(5, cm)"),
    ("about x", "mul(['about', x])"),
    (r"\text{even}", "'even'"),
    (r"\text{B}", "B"),
    (r"\text{two words}", "unit(mul([t, w, o]), word)"),
    (r"\text{m}", "m"),
    (r"\mathrm{e}", "<e>"),
]


@pytest.mark.parametrize(("text", "tree"), PROSE)
def test_prose_where_a_value_is_expected(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree
