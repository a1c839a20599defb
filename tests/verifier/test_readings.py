"""How texts are read: each row of `tests/data/answer_readings.jsonl` names a reader, a text and what the reader makes of it.

A tree is written as `kind(fields)`, with symbols by name, constants in `<>` and prose in quotes; a text that cannot be read, as the
class of its error.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from flint import fmpq

from compass.verifier import answer_type
from compass.verifier.reading.grammar import parse
from compass.verifier.reading.lexer import MAX_TOKENS, tokenize
from compass.verifier.reading.normalise import normalise, rewrite_chinese
from compass.verifier.reading.notation import rewrite_notation, rewrite_numbers
from compass.verifier.reading.numbers import read_literal, read_plain_number, write_digits
from compass.verifier.reading.units import (
    conversion_factor,
    convert_temperature,
    find_unit,
    is_vague,
    read_unit,
    spell_unit,
    split_unit,
)
from compass.verifier.reading.vocabulary import FRACTIONS
from compass.verifier.reading.words import (
    is_formula,
    is_prose,
    is_sentence,
    plain_words,
    read_choice,
    read_date,
    read_letters,
    read_time,
    split_choice,
)
from compass.verifier.tree import Number, OverBudget, Unreadable
from tests.conftest import data_rows

ROWS = data_rows("answer_readings.jsonl")


def tokens(text: str) -> str:
    return " ".join(f"{kind}:{value}" for kind, value in tokenize(text))


def plain_number(text: str) -> tuple[str, str, str | None] | None:
    found = read_plain_number(text)
    return None if found is None else (str(found.value), found.mark, found.literal)


def time_of_day(text: str) -> tuple[int, int, int] | None:
    found = read_time(text)
    return None if found is None else found[:3]


def factor(text: str) -> str | None:
    found = conversion_factor(*text.split(" to "))
    return None if found is None else str(found)


READERS: dict[str, Callable[[str], Any]] = {
    "tokens": tokens,
    "normalise": normalise,
    "rewrite_chinese": rewrite_chinese,
    "rewrite_numbers": rewrite_numbers,
    "rewrite_notation": lambda text: rewrite_notation(normalise(text)),
    "write_digits": write_digits,
    "read_plain_number": plain_number,
    "read_choice": read_choice,
    "read_letters": read_letters,
    "split_choice": lambda text: split_choice(normalise(text)),
    "read_time": time_of_day,
    "read_date": read_date,
    "plain_words": plain_words,
    "is_prose": is_prose,
    "is_sentence": is_sentence,
    "is_formula": is_formula,
    "read_unit": lambda text: read_unit(text.split()),
    "find_unit": find_unit,
    "conversion_factor": factor,
    "answer_type": answer_type,
}


@pytest.mark.parametrize(("reader", "rule"), sorted({(row["reader"], row["rule"]) for row in ROWS}))
def test_texts_are_read_as_the_table_says(reader: str, rule: str, read: Callable[[str], str]) -> None:
    rows = [row for row in ROWS if (row["reader"], row["rule"]) == (reader, rule)]
    found = {row["text"]: (READERS | {"tree": read})[reader](row["text"]) for row in rows}
    assert json.loads(json.dumps(found)) == {row["text"]: row["result"] for row in rows}


def test_what_is_normalised_stays_so() -> None:
    for row in ROWS:
        assert row["reader"] != "normalise" or normalise(row["result"]) == row["result"]


def test_an_unreadable_text_says_what_stopped_it() -> None:
    error = parse("5#")
    assert isinstance(error, Unreadable)
    assert str(error) == "cannot read '#'"


@pytest.mark.parametrize("part", ["a,", "[1,", "where ", "for all k ", "_1C_", "]1,[", r"\in Z,", "(mod "])
def test_a_long_text_is_rewritten(part: str) -> None:
    """A search that grows with the square of the length would take minutes here."""
    rewrite_notation("x" + part * (3900 // len(part)))


def square(size: int, cell: str) -> str:
    """A determinant with the same cell everywhere."""
    return r"\begin{vmatrix}" + r"\\".join(["&".join([cell] * size)] * size) + r"\end{vmatrix}"


@pytest.mark.parametrize(
    ("readable", "beyond", "error"),
    [
        ("x+" + "1" * 1000, "x+" + "1" * 1001, "OverBudget"),
        ("0." + "1" * 59 + r"\overline{3}", "0." + "1" * 60 + r"\overline{3}", "OverBudget"),
        (square(4, "a"), square(5, "a"), "Unreadable"),
        (square(2, "+".join(["a"] * 59)), square(2, "+".join(["a"] * 60)), "OverBudget"),
    ],
    ids=["digits", "period", "rows of a determinant", "cells of a determinant"],
)
def test_expressions_are_read_up_to_a_size(readable: str, beyond: str, error: str, read: Callable[[str], str]) -> None:
    assert read(readable) not in ("Unreadable", "OverBudget")
    assert read(beyond) == error


def test_the_number_of_tokens_is_bounded() -> None:
    assert len(tokenize("+" * MAX_TOKENS)) == MAX_TOKENS == 1200
    with pytest.raises(OverBudget, match="more than 1200 tokens"):
        tokenize("+" * (MAX_TOKENS + 1))


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [("12", fmpq(12), None), ("1.50", fmpq(3, 2), "1.50"), (".5", fmpq(1, 2), ".5"), ("2e3", fmpq(2000), "2e3"), ("2.5E-1", fmpq(1, 4), "2.5E-1"), ("1e0", fmpq(1), "1e0"),
     ("1" * 1000, fmpq(int("1" * 1000)), None), ("1e400", fmpq(10) ** 400, "1e400"), ("1e-400", 1 / fmpq(10) ** 400, "1e-400")],
)  # fmt: skip
def test_a_token_is_a_number_with_the_text_of_a_decimal(text: str, value: fmpq, written: str | None) -> None:
    assert read_literal(text) == Number(value, written)


@pytest.mark.parametrize("text", ["1" * 1001, "1." + "1" * 999, "1e401", "1e-401"])
def test_a_token_has_bounded_digits_and_exponents(text: str) -> None:
    with pytest.raises(OverBudget, match=f"a number of {len(text)} digits"):
        read_literal(text)
    assert answer_type("1" * 4001) == "unrecognised"
    assert read_plain_number("1" * 301) is None


def test_a_conversion_and_its_inverse_agree() -> None:
    for row in ROWS:
        if row["reader"] == "conversion_factor":
            unit, other = row["text"].split(" to ")
            there, back = conversion_factor(unit, other), conversion_factor(other, unit)
            assert there is back is None or there * back == 1, row["text"]


@pytest.mark.parametrize(
    ("unit", "other", "vague"),
    [("unit", "cm", True), ("unit^2", "cm^2", True), ("way", "cm^2", True), ("unit^2", "cm", False), ("cm", "unit", False), ("cm^2", "cm^2", False),
     ("ball", "red ball", True), ("red ball", "ball", False), ("red ball", "blue ball", False), ("red", "red ball", False), ("m", "s m", False)],
)  # fmt: skip
def test_a_vague_unit_agrees_with_any_of_its_power(unit: str, other: str, vague: bool) -> None:
    assert is_vague(unit, other) is vague


def test_temperatures_convert_with_their_zeros() -> None:
    assert convert_temperature("celsius", "fahrenheit") == (fmpq(9, 5), fmpq(32))
    assert convert_temperature("celsius", "K") == (fmpq(1), fmpq(27315, 100))
    assert convert_temperature("celsius", "m") is convert_temperature("m", "K") is None


def test_the_canonical_form_of_a_unit_is_read_back() -> None:
    for unit in ("m", "kg m/s^2", "/s", "m^2/s/kg^3"):
        assert spell_unit(split_unit(unit)) == unit
    assert spell_unit([("m", 1), ("s", -1), ("m", 1), ("s", 1)]) == "m^2"


@pytest.mark.parametrize(("sign", "parts"), FRACTIONS.items())
def test_a_fraction_sign_has_its_unicode_value(sign: str, parts: tuple[int, int]) -> None:
    assert parts[0] / parts[1] == pytest.approx(unicodedata.numeric(sign))
