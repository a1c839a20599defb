"""The ledger's page, opened from a file in Chromium: filters, marks, twins, hostile texts, widths."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from compass.cli import main
from compass.ledger import Drop, Reason, split
from compass.records import with_column, write_records
from compass.report.ledger_page import write_page
from compass.report.outputs import open_outputs
from compass.settings.denoise import NoiseReason
from tests.conftest import PAGE_MS

HOSTILE = "<script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\"></script>' 5 + 6 = ?"
ITEM = "In a hall there are 9 rows of 17 chairs each and nobody sits on them. How many chairs stand in the hall?"


@pytest.fixture
def data(tmp_path: Path, records) -> Path:
    """Outputs with rows dropped for a figure, as a twin, as contaminated, of a hostile source, and a kept doubtful row."""
    rows = records(
        ("How tall is the house in the picture below, if its door is 2 m high?", "6", "web"),
        ("Tom has 4 books and buys 3 more. How many has he?", "7", "web"),
        ("Tom has 4 books and buys 3 more of them. How many has he?", "8", "book"),
        (f"Read this. {ITEM}", "153", "book"),
        (HOSTILE, "<b>11</b>", "<script>document.title='ran'</script>"),
        ("Estimate how many drops fill a bucket.", "9000", "book"),
    )
    ids = rows["id"].to_pylist()
    twin = {"twin": ids[1], "similarity": 0.9, "answer": "8", "twin_answer": "7"}
    drops = {
        "collect": {},
        "dedup": {2: Drop(Reason.ANSWER_CONFLICT, twin)},
        "denoise": {
            0: Drop(NoiseReason.FIGURE, {"strength": "sure", "text": "the picture below", "span": [25, 42]}),
            3: Drop(Reason.CONTAMINATED, {"benchmark": "quiz", "item": "0", "rule": "coverage", "coverage": 1.0}),
            4: Drop(NoiseReason.MARKUP, {"text": HOSTILE[:30], "span": [0, 30]}),
        },
    }
    write_records(tmp_path / "collect" / "benchmarks.parquet", records((ITEM, "153", "quiz")))
    doubt = json.dumps([{"reason": "proof", "strength": "weak", "evidence": {"text": "Estimate", "span": [0, 8]}}])
    for stage, of_stage in drops.items():
        if stage == "denoise":
            rows = with_column(rows, "findings", [doubt if id_ == ids[5] else None for id_ in rows["id"].to_pylist()])
        rows, dropped = split(rows, [of_stage.get(ids.index(id_)) for id_ in rows["id"].to_pylist()], stage)
        write_records(tmp_path / stage / "kept.parquet", rows)
        write_records(tmp_path / stage / "dropped.parquet", dropped)
    return tmp_path


@pytest.fixture
def page(data: Path) -> Path:
    assert main(["ledger", "--data", str(data), "--html", str(data / "ledger.html")]) == 0
    return data / "ledger.html"


def reasons(opened) -> list[str]:
    return opened.locator(".item header b").all_text_contents()


def test_the_page_shows_all_rows_and_counts(page, look):
    opened = look(page)
    opened.wait_for_selector(".item")
    assert sorted(reasons(opened)) == ["answer_conflict", "contaminated", "figure", "markup", "proof"]
    assert opened.locator(".count").inner_text() == (
        "4 dropped rows and 1 doubt about kept rows; 5 of them to read here."
    )
    cells = opened.locator("table").first.locator("tbody tr").first.inner_text().split()
    assert cells == ["all", "sources", "6", "6", "0", "5", "−1", "2", "−3"]


def test_rows_are_filtered_by_stage_reason_source_and_words(page, look):
    opened = look(page)
    opened.wait_for_selector(".item")
    opened.select_option("select[name=reason]", "figure")
    assert reasons(opened) == ["figure"]
    assert opened.locator(".count").inner_text() == "1 dropped row; 1 of them to read here."
    opened.click("button[type=reset]")
    opened.select_option("select[name=source]", "book")
    assert sorted(reasons(opened)) == ["answer_conflict", "contaminated", "proof"]
    assert opened.locator("select[name=reason] option").all_text_contents()[0] == "any reason"
    assert "figure" not in opened.locator("select[name=reason]").text_content()
    opened.select_option("select[name=stage]", "kept, doubtful")
    assert reasons(opened) == ["proof"]
    opened.click("button[type=reset]")
    opened.fill("input[name=words]", "CHAIRS hall")
    assert reasons(opened) == ["contaminated"]
    opened.fill("input[name=words]", "chairs elephant")
    assert reasons(opened) == []
    assert opened.locator(".count").inner_text().endswith("0 of them to read here with these words.")


def test_a_number_of_the_funnel_and_a_reason_choose_their_rows(page, look):
    opened = look(page)
    opened.wait_for_selector(".item")
    opened.click("a[href*='source=web']")
    assert reasons(opened) == ["figure"]
    opened.click("a[href$='reason=contaminated']")
    assert reasons(opened) == ["contaminated"]


def test_evidence_is_marked_and_twins_and_items_stand_beside(page, look):
    opened = look(page)
    opened.wait_for_selector(".item")
    item = opened.locator(".item")
    assert item.filter(has_text="figure").locator("mark").all_text_contents() == ["the picture below"]
    conflict = item.filter(has_text="answer_conflict")
    titles = conflict.locator("h3").all_text_contents()
    assert titles == ["this problem", "its twin: web:1"]
    assert [gold.replace("\xa0", " ") for gold in conflict.locator(".gold").all_text_contents()] == ["gold 8", "gold 7"]
    assert conflict.locator("mark").first.text_content() == "Tom has 4 books and buys 3 more"
    left, right = (box.bounding_box() for box in conflict.locator(".columns > div").all())
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]
    assert item.filter(has_text="contaminated").locator("mark").all_text_contents() == [ITEM, ITEM]


def test_labels_given_on_the_page_are_measured_by_label_rows(page, data, look, tmp_path, capsys):
    opened = look(page)
    opened.wait_for_selector(".item")
    assert opened.locator(".save").is_hidden()
    for reason, verdict in (("figure", "unfit"), ("markup", "fit to train on"), ("proof", "cannot tell")):
        card = opened.locator(".item", has=opened.locator("header b", has_text=reason))
        card.get_by_role("button", name=verdict, exact=True).click()
        assert card.locator("[aria-pressed=true]").all_text_contents() == [verdict]
    twice = opened.locator(".item", has=opened.locator("header b", has_text="contaminated"))
    for _ in range(2):
        twice.get_by_role("button", name="unfit", exact=True).click()
    opened.reload()  # a browser keeps them
    opened.wait_for_selector(".item")
    assert opened.locator(".judge [aria-pressed=true]").count() == 3
    with opened.expect_download() as saved:
        opened.get_by_role("button", name="Save 3 labels").click()
    file = tmp_path / "saved.jsonl"
    saved.value.save_as(file)
    words = ["label", "--rows", "--data", str(data), "--labels", str(tmp_path / "labels"), "--count", "0", "--json"]
    for _ in range(2):  # the same file again adds nothing
        capsys.readouterr()
        assert main([*words, "--add", str(file)]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["labelled"], found["unsure"]) == (2, 1)
        unfit = {name: one["unfit"] for name, one in found["reasons"].items() if one["labelled"]}
        assert unfit == {"figure": 1, "markup": 0}
    assert len((tmp_path / "labels" / "labels.jsonl").read_text().splitlines()) == 3


def test_no_text_of_the_data_is_markup_or_runs(page, look):
    opened = look(page)
    opened.wait_for_selector(".item")
    assert opened.title().startswith("Ledger of ")
    assert HOSTILE in opened.locator(".item").filter(has_text="markup").locator(".full").text_content()
    assert opened.locator("#rows script, #rows img, #rows b b, table script").count() == 0
    assert "document.title" not in page.read_text().split("<script")[0].replace("&#x27;", "'").partition("</h1>")[0]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(page, look, width, scheme):
    opened = look(page, width, color_scheme=scheme)
    opened.wait_for_selector(".item")
    assert opened.evaluate("document.documentElement.scrollWidth") == width
    paper = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") == (scheme == "light")


def test_it_prints_without_its_controls(page, look):
    opened = look(page)
    opened.wait_for_selector(".item")
    opened.emulate_media(media="print")
    assert not opened.locator(".filters").is_visible()
    assert opened.locator(".item").first.is_visible()


def test_a_browser_without_decompression_says_where_the_rows_are(page, browser):
    old = browser.new_page()
    old.set_default_timeout(PAGE_MS)
    old.add_init_script("delete window.DecompressionStream")
    old.goto(page.as_uri())
    old.get_by_text("read the files under data/").wait_for()
    old.close()


def test_the_same_rows_give_the_same_page_and_few_fit_a_small_one(data, tmp_path):
    outputs = open_outputs(data)
    assert write_page(outputs, tmp_path / "one.html") == (4, 5)
    assert write_page(outputs, tmp_path / "two.html") == (4, 5)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert write_page(outputs, tmp_path / "small.html", most_rows=2) == (4, 2)


def test_outputs_without_denoise_and_without_drops_have_a_page(tmp_path, records, look):
    kept, dropped = split(records(("1 + 1?", "2", "web")), [None], "collect")
    write_records(tmp_path / "collect" / "kept.parquet", kept)
    write_records(tmp_path / "collect" / "dropped.parquet", dropped)
    assert isinstance(dropped, pa.Table)
    assert write_page(open_outputs(tmp_path), tmp_path / "page.html") == (0, 0)
    opened = look(tmp_path / "page.html")
    assert opened.locator(".count").inner_text() == "0 dropped rows; 0 of them to read here."


def test_rows_that_no_mark_keeps_are_not_offered_as_fit(tmp_path, records, look):
    rows = records(("1 + 1?", "", "web"), ("2 + 2?", "4", "web"), ("3 + 3?", "6", "web"))
    drops = [Drop(Reason.MISSING_ANSWER, {"fields": ["answer"]}), Drop(Reason.MARKED_UNFIT, {"right": False}), None]
    kept, dropped = split(rows, drops, "collect")
    write_records(tmp_path / "collect" / "kept.parquet", kept)
    write_records(tmp_path / "collect" / "dropped.parquet", dropped)
    write_page(open_outputs(tmp_path), tmp_path / "page.html")
    opened = look(tmp_path / "page.html")
    opened.wait_for_selector(".item")
    offered = {
        item.locator("header b").text_content(): item.locator(".judge > *").all_text_contents()
        for item in opened.locator(".item").all()
    }
    assert offered == {
        "missing_answer": ["unfit", "cannot tell", "a mark cannot keep this row"],
        "marked_unfit": ["fit to train on", "unfit", "cannot tell"],
    }
