from __future__ import annotations

from compass.curation.noise.text import ASK, excerpt, holds_any, prose, sentences, without_figures


def test_one_piece_is_enough():
    assert holds_any("a word", ("x", "wor"))
    assert not holds_any("a word", ("x", "y"))
    assert not holds_any("a word", ())


def test_figure_code_is_left_out():
    for code in ("[asy]draw(A--B);[/asy]", "\\begin{asy}label(C);\\end{asy}"):
        assert without_figures(f"a {code} b") == f"a {' ' * len(code)} b"  # every place stays the same
    assert without_figures("a [asy] never closed") == "a" + " " * 19
    assert without_figures("an easy text") == "an easy text"


def test_prose_is_without_formulas():
    assert prose("Let $x$ be \\(y\\) or \\[z\\] and $$w$$, \\alpha").split() == ["Let", "be", "or", "and", ","]
    assert prose("a [asy]the[/asy] b").split() == ["a", "b"]


def test_sentences_end_at_stops_questions_and_lines():
    assert sentences("One. Two? Three!\nFour<br>five") == ["One.", "Two?", "Three!", "Four", "five"]
    assert sentences("3.5 is one") == ["3.5 is one"]
    assert sentences(" \n ") == []


def test_an_excerpt_has_forty_characters_on_both_sides_and_120_of_the_match():
    text = "".join(chr(0x4E00 + n) for n in range(400))
    assert excerpt(text, 100, 110) == text[60:150]
    assert excerpt(text, 10, 20) == text[:60]
    assert excerpt(text, 100, 220) == text[60:260]
    assert excerpt(text, 100, 221) == text[60:260]
    assert excerpt(text, 100, 110, margin=5) == text[95:115]


def test_signs_that_something_is_asked():
    assert ASK.search("Find it")
    assert ASK.search("it is ____")
    assert not ASK.search("a finding")
