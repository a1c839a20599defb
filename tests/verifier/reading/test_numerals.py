"""Numbers inside an expression."""

from __future__ import annotations

from collections.abc import Callable

import pytest

THOUSANDS = [
    ("1,000x", "mul([1000, x])"),
    ("x+1,000", "add([x, 1000])"),
    ("(1,000)", "1000"),
    ("(1,234)", "seq((, ), [1, 234])"),
    ("1{,}000x", "mul([1000, x])"),
    ("1,00x", "seq(, , [1, mul([0, x])])"),
    ("1000,000x", "seq(, , [1000, mul([0, x])])"),
    ("12,345,678x", "mul([12345678, x])"),
    ("1,000.5x", "mul([1000.5, x])"),
    ("0,000x", "seq(, , [0, mul([0, x])])"),
    ("|1,000|", "call(abs, [1000])"),
    (r"\frac{1}{10,500}", "mul([1, inv(10500)])"),
    (r"\sqrt{1,296}", "call(sqrt, [1296])"),
    ("x>1,250", "rel([>], [x, 1250])"),
    ("2^{1,024}", "pow(2, 1024)"),
    ("{1,250}", "seq({, }, [1, 250])"),
    (r"\{1,250\}", "seq({, }, [1, 250])"),
    ("(5, 100,7)", "seq((, ), [5, 100, 7])"),
    ("1'000'000x", "mul([1000000, x])"),
    ("10_000x", "mul([10000, x])"),
    ("1 000 000x", "mul([1000000, x])"),
    ("1 100/201", "301/201"),
    ("10_000_0", "based(10000, 0)"),
    ("{1{,}000}", "1000"),
    ("1,000,12x", "seq(, , [1000, mul([12, x])])"),
    ("123,456", "123456"),
    ("1{,}000{,}000y", "mul([1000000, y])"),
    ("f(1,000)", "call(f, [1000])"),
    ("f(1,200)", "call(f, [1, 200])"),
]


@pytest.mark.parametrize(("text", "tree"), THOUSANDS)
def test_thousands_are_joined_where_a_comma_can_be_nothing_else(
    read: Callable[[str], str], text: str, tree: str
) -> None:
    assert read(text) == tree


REPEATING = [
    (r"0.\overline{3}", "1/3"),
    (r"0.1\overline{6}", "1/6"),
    (r"0.\dot{3}", "1/3"),
    (r"0.\bar3", "1/3"),
    ("0.(3)", "1/3"),
    ("0.1(6)", "1/6"),
    ("2.(45)x", "mul([27/11, x])"),
    ("0.333...", "1/3"),
    (r"0.3333\ldots", "1/3"),
    ("0.1212...", "4/33"),
    (r"0.12\dots", "0.12"),
    (r"1.\overline{3}", "4/3"),
    ("3.5(x)", "mul([3.5, x])"),
    ("0.(x)", "mul([0.0, x])"),
    ("5.", "5"),
    ("5.x", "mul([5.0, x])"),
    (r"0.\overline{x}", "Unreadable: a repeating decimal without digits"),
    (r"0.\dot1\dot2", "4/33"),
    (r"0.\dot{1}4285\dot{7}", "1/7"),
    (r".\overline{09}", "1/11"),
    (r"0.\overline{3", "Unreadable: a brace is not closed"),
    (r"1e5.\overline{3}", "Unreadable: a repeating decimal after an exponent"),
    ("0.1234...", "0.1234"),
    (r"0.99\cdots", "0.99"),
    (r"0.999\cdots", "1"),
]


@pytest.mark.parametrize(("text", "tree"), REPEATING)
def test_repeating_decimals(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


MIXED = [
    (r"3\frac12", "7/2"),
    (r"3\frac{1}{2}", "7/2"),
    ("1 1/4", "5/4"),
    ("12 3/4", "51/4"),
    ("1 5/4", "Unreadable: a number straight after a value"),
    (r"3\frac{4}{2}", "mul([3, mul([4, inv(2)])])"),
    (r"3\frac{a}{b}", "mul([3, mul([a, inv(b)])])"),
    (r"3\frac{1}{2}^2", "mul([3, pow(mul([1, inv(2)]), 2)])"),
    ("1 1/4^2", "Unreadable: a number straight after a value"),
    (r"2.5\frac12", "mul([2.5, mul([1, inv(2)])])"),
    (r"-2\frac12", "-5/2"),
    (r"3\frac{1}{2}x", "mul([7/2, x])"),
    (r"3\frac{0}{2}", "mul([3, mul([0, inv(2)])])"),
    (r"3\frac22", "Unreadable: something is missing"),
]


@pytest.mark.parametrize(("text", "tree"), MIXED)
def test_mixed_numbers_and_products(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


BASES = [
    ("52_8", "based(52, 8)"),
    ("52_{8}", "based(52, 8)"),
    ("1010_{two}", "based(1010, 2)"),
    ("1010_{few}", "Unreadable: a number with a subscript that is no base"),
    ("0110_2", "based(110, 2)"),
    ("0_2", "based(0, 2)"),
    (r"1010_{\text{TWO}}", "based(1010, 2)"),
    (r"1010_{\text{whole}}", "based(1010, whole)"),
    ("(1011)_2", "based(1011, 2)"),
    ("(-101)_2", "based(-101, 2)"),
    ("-101_2", "based(-101, 2)"),
    ("1a_{16}", "based(1A, 16)"),
    (r"\text{DEF}_{16}", "based(DEF, 16)"),
    ("x=FF_{16}", "rel([=], [x, based(FF, 16)])"),
    ("2a_{12}+1", "add([mul([2, a_12]), 1])"),
    (r"\overline{12}_5", "based(12, 5)"),
    ("32 base 8", "based(32, 8)"),
    (r"32\text{ (base eight)}", "based(32, 8)"),
    ("2102_{(3)}", "based(2102, 3)"),
    ("5.2x10^3", "mul([5.2, pow(10, 3)])"),
    ("5.2*10^-3", "mul([5.2, pow(10, -3)])"),
    ("4.2 E5", "4.2e5"),
    ("frac{1}{2}", "mul([1, inv(2)])"),
    (r"{1+x\over2}", "mul([add([1, x]), inv(2)])"),
    (r"3{1\over2}", "7/2"),
    (r"\underbrace{7}_{x}", "7"),
    ("2.5_8", "based(2.5, 8)"),
    ("5_{1/2}", "Unreadable: a number with a subscript that is no base"),
    ("5_x", "Unreadable: a number with a subscript that is no base"),
]


@pytest.mark.parametrize(("text", "tree"), BASES)
def test_digits_with_a_base(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


LITERALS = [
    ("007", "7"),
    ("1.50", "1.50"),
    (".5", ".5"),
    ("1e5", "1e5"),
    ("1.5e-3", "1.5e-3"),
    ("1E5", "1E5"),
    ("2.0x", "mul([2.0, x])"),
    ("1e401", "OverBudget: a number of 5 digits"),
    ("1e400x", "Unreadable: a number straight after a value"),
    ("1e-400x", "add([mul([1, <e>]), neg(mul([400, x]))])"),
]


@pytest.mark.parametrize(("text", "tree"), LITERALS)
def test_numbers_keep_how_they_were_written(read: Callable[[str], str], text: str, tree: str) -> None:
    assert read(text) == tree


def test_long_numbers_are_over_the_budget(read: Callable[[str], str]) -> None:
    assert read("x+" + "1" * 1000) == f"add([x, {'1' * 1000}])"
    assert read("x+" + "1" * 1001) == "OverBudget: a number of 1001 digits"


def test_long_repeating_decimals_are_over_the_budget(read: Callable[[str], str]) -> None:
    assert read("0." + "1" * 59 + r"\overline{3}").startswith("1")
    assert read("0." + "1" * 60 + r"\overline{3}") == "OverBudget: a long repeating decimal"
