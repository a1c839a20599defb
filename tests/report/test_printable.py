"""Texts of unknown origin on a terminal or a page."""

from compass.report.printable import printable, printable_lines


def test_control_characters_and_line_breaks_become_single_spaces() -> None:
    assert printable("a\x1b[31m\nb\u202e  c\x00") == "a [31m b c"


def test_a_long_text_is_cut_to_its_limit() -> None:
    assert printable("abcde", 5) == "abcde"
    assert printable("abcdef", 5) == "abcd…"
    assert printable("x" * 120) == "x" * 120
    assert printable("x" * 121) == "x" * 119 + "…"


def test_whole_texts_keep_their_lines_and_show_other_control_characters() -> None:
    assert printable_lines("a\x1b[31m\nb\tc\u202e") == "a�[31m\nb�c�"
