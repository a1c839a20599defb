"""Which parts two texts share, and where a quotation stands."""

from __future__ import annotations

import pytest

from compass.report.evidence import find_pieces, find_quotes, marked, parts, shared


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


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        ({"text": "in metres"}, "a speed [in metres] per second: prove it"),
        ({"text": "metres", "span": [0, 7]}, "[a speed] in metres per second: prove it"),
        ({"field": "problem", "text": "second"}, "a speed in metres per [second]: prove it"),
        ({"formula": "metres per"}, "a speed in [metres per] second: prove it"),
        ({"end": "prove it", "found": "per"}, "a speed in metres per second: [prove it]"),
        ({"right": False, "by": "me", "note": "speed", "labels": "a"}, "a speed in metres per second: prove it"),
        ({"question": "prove", "reply": "it", "model": "m"}, "a speed in metres per second: prove it"),
        ({"field": "answer", "text": "metres", "span": [0, 6]}, "a speed in metres per second: prove it"),
        ({"field": "picture", "holds": "speed"}, "a speed in metres per second: prove it"),
    ],
)
def test_only_what_quotes_the_problem_is_marked_in_it(evidence, expected):
    problem = "a speed in metres per second: prove it"
    assert marked(problem, find_quotes(problem, evidence), ("[", "]")) == expected
