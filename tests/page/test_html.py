"""The frame, sections, tables and links of a page."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from typing import Any

import pytest

from compass.page import html
from compass.page.blocks import (
    Bars,
    Bullets,
    Caution,
    Chart,
    Code,
    Curves,
    Figures,
    Fold,
    Guards,
    Link,
    Note,
    Responses,
    Section,
    Table,
    as_json,
    curve,
)

HOSTILE = "<script>alert('x')</script>"
HARMLESS = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"


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
    assert " 'sha256-CihokcEcBW4atb/CW/XWsvWwbTjqwQlE9nj9ii5ww5M='" in policy
    assert "default-src 'none'" in policy
    assert "script-src" not in html.document("t", [])


def test_a_section_is_left_out_where_it_has_nothing_to_show() -> None:
    assert html.sections_html([Section("t", [])]) == []
    assert html.sections_html([Section("<t>", ["a & b"], "x")]) == ["<h2 id='x'>&lt;t&gt;</h2>\n<p>a &amp; b</p>"]


EVERY_KIND = [
    "{}",
    Note("{}", command="{}"),
    Caution("{}", "{}"),
    Figures([{"name": "{}", "value": "{}", "note": "{}"}]),
    Table(["{}"], [["{}"]], "{}", "{}"),
    Bars("{}", [["{}", 1, "{}"]], "{}"),
    Curves([curve("{}", [1], {"{}": [1.0]})]),
    Guards([{"name": "{}", "level": "{}", "fired": [1, 2, 3, 4]}]),
    Responses(
        "{}",
        problems=[
            {
                "about": "{}",
                "problem": "{}",
                "gold": "{}",
                "responses": [{"name": "{}", "right": True, "answer": "{}", "facts": ["{}"], "text": "{}"}],
            }
        ],
    ),
    Bullets(["{}"]),
    Fold("{}", ["{}"]),
    Code("{}", "{}"),
    Chart("{}", "{}", "<svg/>"),
    Link("{}", "{}"),
]


def fill(value: Any) -> Any:
    """A block with hostile text in place of every `{}`."""
    if is_dataclass(value):
        return replace(value, **{one.name: fill(getattr(value, one.name)) for one in fields(value)})
    if isinstance(value, dict):
        return {fill(name): fill(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [fill(one) for one in value]
    return value.replace("{}", f"{HOSTILE}'\"\u202e<img src=x>") if isinstance(value, str) else value


@pytest.mark.parametrize("block", EVERY_KIND, ids=lambda block: type(block).__name__)
def test_no_text_of_any_block_becomes_markup(block: Any) -> None:
    shown = html.block_html(fill(block))
    tags: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
            tags.append(tag)
            assert not {name for name, _ in attributes} & {"src", "onerror", "onclick"}

    Tags().feed(shown)
    assert not {"script", "img"} & set(tags)
    assert "alert" in shown or isinstance(block, Chart)
    assert "\u202e" not in shown or isinstance(block, Chart | Link | Guards)


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
    shown = f"<div class='scroll' tabindex='0'><table>{head}<tbody><tr>{cell}</tr></tbody></table></div>"
    assert html.block_html(Table(["<a>"], [[value]])) == shown


def test_a_column_stands_at_the_right_where_it_holds_numbers_alone() -> None:
    shown = html.block_html(Table(["version", "rows"], [["2.13.0", 5], ["none", ""], ["", "-"]]))
    assert "<td>2.13.0</td><td class='n'>5</td>" in shown
    assert "<th>version</th><th class='n'>rows</th>" in shown
    assert shown.index("2.13.0") < shown.index("none")


def test_a_sentence_that_begins_with_a_number_is_text_and_wraps() -> None:
    remark = "60 problems with 8 samples show differences from 13.2 points"
    shown = html.block_html(Table(["remark"], [[""], [remark]]))
    assert f"<th>remark</th></tr></thead><tbody><tr><td></td></tr>\n<tr><td class='t'>{remark}</td></tr>" in shown


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://a.org/?x=1&y='2'", "<a href='https://a.org/?x=1&amp;y=&#39;2&#39;'>run</a>"),
        ("http://a.org", "<a href='http://a.org'>run</a>"),
        ("card/card.html", "<a href='card/card.html'>run</a>"),
        ("javascript:alert(1)", "run javascript:alert(1)"),
        ("httpx:evil", "run httpx:evil"),
        ("", "run"),
    ],
)
def test_only_harmless_addresses_are_linked(address: str, shown: str) -> None:
    assert html.links_html({"run": address}) == f"<p>{shown}</p>"
    assert html.links_html({"run": address, "<b>": ""}) == f"<p>{shown} · &lt;b&gt;</p>"
    assert html.links_html({}) == ""
    assert html.links_html({"run (`make up`)": ""}) == "<p>run (<code>make up</code>)</p>"


def test_a_cell_may_lead_to_a_place_in_the_page_and_nowhere_else() -> None:
    drawn = str(html.block_html(Table(["one"], [[Link(HOSTILE, "#problem='a'")], [Link("b", "javascript:alert(1)")]])))
    assert f"<td><a href='#problem=&#39;a&#39;'>{HARMLESS}</a></td>" in drawn
    assert "<td>b</td>" in drawn
    assert "javascript" not in drawn


def test_blocks_in_blocks_have_their_kind_as_json() -> None:
    found = as_json(Fold("more", [Table(["run"], [[Link("a", "a.html")]]), "text"]))
    table, text = found["parts"]
    assert (found["kind"], table["kind"], table["rows"][0][0]["kind"], text) == ("fold", "table", "link", "text")
