"""The tables of signs and names agree with Unicode."""

import unicodedata

import pytest

from compass.verifier.reading.vocabulary import FRACTIONS


@pytest.mark.parametrize(("sign", "parts"), FRACTIONS.items())
def test_a_fraction_sign_has_its_unicode_value(sign: str, parts: tuple[int, int]) -> None:
    assert parts[0] / parts[1] == pytest.approx(unicodedata.numeric(sign))
