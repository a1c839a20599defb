"""The frame, sections, tables and links of a page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from compass.report import html

HOSTILE = "<script>alert('x')</script>"
HARMLESS = "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;"


def test_a_document_is_whole_and_escapes_its_title() -> None:
    page = html.document(HOSTILE, ["<p>one</p>", "", "<p>two</p>"])
    assert page.startswith("<!doctype html><html lang='en'>")
    assert f"<title>{HARMLESS}</title>" in page
    assert f"<h1>{HARMLESS}</h1>\n<p>one</p>\n<p>two</p>\n</body></html>\n" in page
    assert "default-src 'none'" in page
    assert "<script" not in page
    HTMLParser().feed(page)


def test_only_the_scripts_given_may_run_and_by_their_digest() -> None:
    page = html.document("t", [], scripts=["console.log(1)"])
    policy = page.partition('content="')[2].partition('"')[0]
    # printf 'console.log(1)' | openssl dgst -sha256 -binary | base64
    assert "script-src 'sha256-CihokcEcBW4atb/CW/XWsvWwbTjqwQlE9nj9ii5ww5M='" in policy
    assert "default-src 'none'" in policy
    assert "script-src" not in html.document("t", [])


def test_a_section_is_left_out_where_it_has_nothing_to_show() -> None:
    assert html.section("t", "") == ""
    assert html.section("t", "", None, "") == ""
    assert html.section("<t>", "a & b") == "<h2>&lt;t&gt;</h2>\n<p class='note'>a &amp; b</p>"
    assert html.section("t", "", None, "<b>x</b>") == "<h2>t</h2>\n<b>x</b>"
    assert html.section("t", "note", "x", "y") == "<h2>t</h2>\n<p class='note'>note</p>\nx\ny"


def test_lines_that_begin_with_a_dash_are_a_list() -> None:
    assert (
        html.section("t", "- one - two\n- <three>") == "<h2>t</h2>\n<ul><li>one - two</li><li>&lt;three&gt;</li></ul>"
    )


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (1234567, "<td class='n'>1,234,567</td>"),
        (1234.5, "<td class='n'>1,234.5</td>"),
        (0.29705860194485734, "<td class='n'>0.297059</td>"),
        ("+3.1 points", "<td class='n'>+3.1 points</td>"),
        (None, "<td></td>"),
        (True, "<td>True</td>"),
        (-3, "<td class='n'>-3</td>"),
        ("40.0%", "<td class='n'>40.0%</td>"),
        ("a5", "<td>a5</td>"),
        ("", "<td></td>"),
        ("-", "<td>-</td>"),
        (HOSTILE, f"<td>{HARMLESS}</td>"),
    ],
)
def test_cells_show_numbers_at_the_right_and_text_escaped(value: object, cell: str) -> None:
    right = " class='n'" if "class" in cell else ""
    head = f"<thead><tr><th{right}>&lt;a&gt;</th></tr></thead>"
    shown = f"<div class='scroll'><table>{head}<tbody><tr>{cell}</tr></tbody></table></div>"
    assert html.table(["<a>"], [[value]]) == shown


def test_a_column_stands_at_the_right_where_it_holds_numbers_alone() -> None:
    shown = html.table(["version", "rows"], [["2.13.0", 5], ["none", ""], ["", "-"]])
    assert "<td>2.13.0</td><td class='n'>5</td>" in shown
    assert "<th>version</th><th class='n'>rows</th>" in shown


def test_a_table_has_its_rows_in_order() -> None:
    assert html.table(["a", "b"], [["x", "y"], ["z", "w"]]) == (
        "<div class='scroll'><table><thead><tr><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><td>x</td><td>y</td></tr>\n<tr><td>z</td><td>w</td></tr></tbody></table></div>"
    )


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://a.org/?x=1&y='2'", "<a href='https://a.org/?x=1&amp;y=&#x27;2&#x27;'>run</a>"),
        ("http://a.org", "<a href='http://a.org'>run</a>"),
        ("card/card.html", "<a href='card/card.html'>run</a>"),
        ("javascript:alert(1)", "run javascript:alert(1)"),
        ("httpx:evil", "run httpx:evil"),
        ("", "run"),
    ],
)
def test_only_harmless_addresses_are_linked(address: str, shown: str) -> None:
    assert html.links({"run": address}) == f"<p>{shown}</p>"


def test_links_stand_side_by_side() -> None:
    assert html.links({}) == ""
    assert html.links({"a": "x", "<b>": ""}) == "<p><a href='x'>a</a> · &lt;b&gt;</p>"
