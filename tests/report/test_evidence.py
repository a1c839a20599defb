"""Which parts two texts share, and where a quotation stands."""

from __future__ import annotations

import pytest

from compass.report.evidence import find_pieces, marked, parts, shared


@pytest.mark.parametrize(
    ("one", "other", "least", "expected"),
    [
        ("Find x + 1.", "find  x - 1", 1, ("[Find x] + [1].", "[find  x] - [1]")),
        ("Say 7. A b c d?", "a B c d", 4, ("Say 7. [A b c d]?", "[a B c d]")),
        ("Say 7. A b c d?", "a B c d", 5, ("Say 7. A b c d?", "a B c d")),
        (r"\frac{1}{2}", r"\dfrac{1}{2}", 1, (r"\frac[{1}{2}]", r"\dfrac[{1}{2}]")),
        ("in x_1", "in x_{1}", 1, ("[in x_][1]", "[in x_]{[1]}")),
        ("", "x", 1, ("", "x")),
        ("求3的值", "求3的值", 1, ("[求3的值]", "[求3的值]")),
    ],
)
def test_what_two_texts_share_is_marked_in_both(one, other, least, expected):
    spans = shared(one, other, least)
    assert (marked(one, spans[0], ("[", "]")), marked(other, spans[1], ("[", "]"))) == expected


@pytest.mark.parametrize(
    ("text", "pieces", "expected"),
    [
        ("see a.b/c now", ["a.b/c"], "see [a.b/c] now"),
        ("in\n  the figure", ["the figure", "in the"], "[in\n  the figure]"),
        ("a b a", ["a"], "[a] b a"),
        ("nothing", ["else", "", " "], "nothing"),
    ],
)
def test_quotations_are_found_whatever_their_white_space(text, pieces, expected):
    assert marked(text, find_pieces(text, pieces), ("[", "]")) == expected


def test_parts_are_the_text_and_every_second_is_a_span():
    assert parts("abcdef", [(1, 2), (4, 6)]) == ["a", "b", "cd", "ef", ""]
    assert parts("abc", []) == ["abc"]
