"""Texts of unknown origin on a terminal or a page."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compass.report.printable import printable, shorten


@pytest.mark.parametrize(
    ("show", "text", "shown"),
    [
        (printable, "a\x1b[31m\nb\u202e  c\x00", "a [31m b c"),
        (printable, "x" * 120, "x" * 120),
        (printable, "x" * 121, "x" * 119 + "…"),
        (lambda text: shorten(text, 10), "x" * 10, "x" * 10),
        (
            lambda text: shorten(text, 100),
            "a" * 600 + "b" * 600,
            f"{'a' * 50}\n[… 1,100 characters left out …]\n{'b' * 50}",
        ),
    ],
)
def test_texts_are_cut_and_without_control_characters(show: Callable[[str], str], text: str, shown: str) -> None:
    assert show(text) == shown
