"""The report shows what the files of a run hold, figure by figure, and nothing that hostile text wants it to."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from compass.report.page import write_report
from compass.report.run import read_run
from tests.report.conftest import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Page


class Tables(HTMLParser):
    """Every table of a page, as rows of texts, below the heading or summary that it stands under."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[list[str]]]] = []
        self.title, self.open = "", ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open = tag if tag != "a" else self.open  # a link is part of its cell
        if tag in ("h2", "summary"):
            self.title = ""
        elif tag == "table":
            self.tables.append((self.title, []))
        elif tag == "tr":
            self.tables[-1][1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][1][-1].append("")

    def handle_data(self, data: str) -> None:
        if self.open in ("h2", "summary"):
            self.title += data
        elif self.open in ("td", "th"):
            self.tables[-1][1][-1][-1] += data

    def handle_endtag(self, tag: str) -> None:
        self.open = "" if tag != "a" else self.open


def tables(page: str, title: str) -> list[list[list[str]]]:
    parsed = Tables()
    parsed.feed(page)
    return [rows for name, rows in parsed.tables if name == title]


@pytest.fixture
def written(finished_run: Path, tmp_path: Path) -> tuple[Path, str]:
    """A run's folder and its page."""
    path = write_report(
        read_run(finished_run),
        tmp_path / "reports",
        title="t",
        megabytes=5,
        links={"settings": finished_run / "params.yaml"},
    )
    return finished_run, path.read_text(encoding="utf-8")


def scores_of(root: Path) -> dict[str, dict[str, dict[str, Any]]]:
    return json.loads((root / "metrics" / "evaluate.json").read_text())["models"]


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


def test_every_score_of_the_page_is_that_of_the_metrics(written: tuple[Path, str]) -> None:
    root, page = written
    scores = scores_of(root)
    [accuracies, *_] = tables(page, "Scores")
    assert accuracies[0] == ["benchmark", *scores]
    assert [row[0] for row in accuracies[1:]] == ["average", "easy", "hard"]
    for benchmark, *cells in accuracies[1:]:
        for model, cell in zip(scores, cells, strict=True):
            score = scores[model][benchmark]
            low, high = score["ci95"]
            assert cell == f"{percent(score['accuracy'])} ({percent(low)} to {percent(high)})"
    [measures] = tables(page, "All measures")
    keys = {
        "avg@k %": "accuracy",
        "greedy %": "greedy",
        "lenient %": "lenient",
        "in a box %": "boxed",
        "cut off %": "truncated",
        "ends in repetition %": "looped",
    }
    keys |= {f"{name} %": name for name in ("pass@2", "pass@4", "maj@4")}
    assert len(measures) == 1 + 3 * 3
    for row in measures[1:]:
        shown = dict(zip(measures[0], row, strict=True))
        score = scores[shown["model"]][shown["benchmark"]]
        for title, key in keys.items():
            assert shown[title] == percent(score[key]), (title, shown)
        assert shown["problems"] == str(score["problems"])
        assert float(shown["tokens per response"]) == pytest.approx(score["length"], rel=1e-3)


def test_every_verdict_of_the_page_is_that_of_the_comparisons(written: tuple[Path, str]) -> None:
    root, page = written
    pairs = json.loads((root / "data" / "evaluate" / "comparisons.json").read_text())["pairs"]
    [_, verdicts] = tables(page, "Scores")
    [pair] = [pair for pair in pairs if (pair["model"], pair["other"]) == ("rl-2", "base")]
    for benchmark, verdict, difference, *remarks in verdicts[1:]:
        remark = "".join(remarks)
        found = pair["average"] if benchmark == "average" else pair["benchmarks"][benchmark]
        assert verdict == found["verdict"]
        assert found["words"].endswith(remark)
        assert not re.search(r"by [\d.]+ points \(", remark), "the difference stands beside it"
        assert bool(remark) == (found["words"] != re.sub(r"(?<=\)).*", "", found["words"]))
        shown = [f"{100 * share:+.1f}" for share in (found["difference"], *found["ci95"])]
        assert difference == f"{shown[0]} ({shown[1]} to {shown[2]})"
    [against, *_] = tables(page, "rl-2 against rl-1")
    assert len(against) == 4
    assert f"rl-2 against base: {pair['average']['words']}" in page


def test_the_page_can_be_sent_alone(written: tuple[Path, str]) -> None:
    root, page = written
    for address in re.findall(r"(?:href|src)='([^']*)'", page):
        assert address.startswith(("#", "data:", "https://")), address
    [(name, data)] = re.findall(r"<a download='([^']*)' href='data:[^,]*,([^']*)'", page)
    assert (name, base64.b64decode(data)) == ("params.yaml", (root / "params.yaml").read_bytes())


def test_counts_of_rows_are_those_of_the_files(written: tuple[Path, str]) -> None:
    root, page = written
    [rows] = tables(page, "Data")
    assert [row[0] for row in rows[1:]] == ["collect", "dedup", "denoise", "grade", "verify", "curriculum"]
    for stage, read, kept, dropped, _ in rows[1:]:
        found = [pq.read_metadata(root / "data" / stage / f"{fate}.parquet").num_rows for fate in ("kept", "dropped")]
        assert [int(kept), int(dropped), int(read)] == [*found, sum(found)]


def test_training_shows_mixes_curves_and_findings(written: tuple[Path, str]) -> None:
    _, page = written
    [mixes] = tables(page, "Training")
    assert mixes == [
        ["stage", "level 1", "level 2", "level 3", "problems"],
        ["rl-1", "30", "20", "0", "50"],
        ["rl-2", "0", "10", "40", "50"],
    ]
    assert "rl-1: 1 finding of guards" in page
    assert "#rollouts=rl-2:2" in page


def test_gained_and_lost_problems_are_counted_from_the_samples(written: tuple[Path, str]) -> None:
    root, page = written
    rows = [row for row in pq.read_table(root / "data/evaluate/samples.parquet").to_pylist() if not row["greedy"]]
    share: dict[tuple[str, str, str], list[bool]] = {}
    for row in rows:
        share.setdefault((row["model"], row["benchmark"], row["id"]), []).append(row["correct"])
    solved = {key: sum(marks) / len(marks) >= 0.5 for key, marks in share.items()}
    counts = {}
    for benchmark in ("easy", "hard"):
        fates = [
            (solved["base", benchmark, f"{benchmark}-{n}"], solved["rl-2", benchmark, f"{benchmark}-{n}"])
            for n in range(12)
        ]
        counts[benchmark] = [
            str(fates.count(fate)) for fate in ((False, True), (True, False), (True, True), (False, False))
        ]
    [table, *_] = tables(page, "Problems")
    assert {row[0]: row[1:5] for row in table[1:3]} == counts
    assert table[0][-1] == "by chance"
    assert 0 < int(table[-1][-1]) <= 24 / 4, "a chance of at most 1/4 per problem"
    [gained] = tables(page, next(title for title in re.findall(r"<summary>(Gained: [^<]*)</summary>", page)))
    assert gained[0] == ["benchmark", "problem", "gold", "base answered", "rl-2 answered"]
    assert "right" in gained[1][4]
    assert gained[1][0] in ("easy", "hard")
    # A benchmark's name leads to the problem in the viewer, whose address is the benchmark and the id.
    assert re.search(rf"<td><a href='#problem={gained[1][0]}%3A{gained[1][0]}-\d+'>{gained[1][0]}</a></td>", page)


def test_what_ran_names_the_setting_that_differs_and_the_time(written: tuple[Path, str]) -> None:
    _, page = written
    facts, differing = tables(page, "What ran")
    assert ["profile", "mine"] in facts
    assert ["torch", "2.13.0"] in facts
    assert differing == [["setting", "profile mine", "this run"], ["rl.stages.rl-2.steps", "2", "9"]]
    [cost] = tables(page, "Time and cost")
    evaluated = next(row for row in cost if row[0] == "evaluate")
    assert evaluated[1:4] == ["2026-01-02 03:04", "1 h 02 min", "124.1"]
    assert "0.123457" in page
    assert "0.123456789012" not in page


def test_the_page_is_the_same_for_the_same_results(finished_run: Path, tmp_path: Path) -> None:
    pages = [write_report(read_run(finished_run), tmp_path / name, title="t", megabytes=5) for name in "ab"]
    assert pages[0].read_bytes() == pages[1].read_bytes()
    assert (tmp_path / "a/report.md").read_bytes() == (tmp_path / "b/report.md").read_bytes()


def test_markdown_has_the_same_tables_and_shows_hostile_text_as_it_is(
    written: tuple[Path, str], tmp_path: Path
) -> None:
    text = (tmp_path / "reports" / "report.md").read_text(encoding="utf-8")
    for figure in re.findall(r"\]\((figures/[^)]*)\)", text):
        assert (tmp_path / "reports" / figure).read_text().startswith("<svg")
    assert re.search(r"^\| average \| [\d.]+ \(", text, re.MULTILINE)
    assert "<script>" not in text.replace("\\<", "")
    assert "<img" not in text.replace("\\<", "")


def test_a_run_of_which_nothing_is_known_has_a_page(tmp_path: Path) -> None:
    (tmp_path / "metrics").mkdir()
    page = write_report(read_run(tmp_path), tmp_path / "reports", title=HOSTILE, megabytes=5).read_text(
        encoding="utf-8"
    )
    assert "No model has been scored." in page
    assert "<script" not in page


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_opens_at_every_width_and_colour(
    written: tuple[Path, str], look: Callable[..., Page], tmp_path: Path, width: int, scheme: str
) -> None:
    page = look(tmp_path / "reports" / "index.html", width, color_scheme=scheme)
    page.wait_for_selector("#viewer .item")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.title() == "t"  # no response ran
    assert page.locator("img").count() == 0
    seen = [page.locator(f".figure.{kind}").first.is_visible() for kind in ("narrow", "wide")]
    assert seen == [width < 700, width >= 700]
    ink, paper = (page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("color", "backgroundColor"))
    brightness = [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in (ink, paper)]
    assert (brightness[0] < brightness[1]) is (scheme == "light")


def problems_shown(page: Page) -> int:
    return int(page.locator("#viewer .count >> visible=true").inner_text().split()[0].replace(",", ""))


def test_the_viewers_filters_leave_the_problems_that_fit(
    written: tuple[Path, str], look: Callable[..., Page], tmp_path: Path
) -> None:
    _, shown = written
    page = look(tmp_path / "reports" / "index.html")
    page.wait_for_selector("#viewer .item")
    assert problems_shown(page) == 24
    page.select_option("select[name=benchmark]", "hard")
    assert problems_shown(page) == 12
    [counts, *_] = tables(shown, "Problems")
    for name, place in (("01", 1), ("10", 2), ("11", 3), ("00", 4)):
        page.select_option("select[name=fate]", name)
        assert problems_shown(page) == int(counts[2][place])
    page.select_option("select[name=fate]", "")
    page.select_option("select[name=benchmark]", "")
    page.select_option("select[name=fate]", "similar")
    assert problems_shown(page) == 1
    page.select_option("select[name=fate]", "")
    page.fill("input[name=words] >> visible=true", "what hard-7")
    page.wait_for_selector("text=1 of 24 problems")


def test_a_problem_opens_with_every_response_its_verdict_and_the_answer_marked(
    written: tuple[Path, str], look: Callable[..., Page], tmp_path: Path
) -> None:
    root, _ = written
    page = look(tmp_path / "reports" / "index.html")
    page.wait_for_selector("#viewer .item")
    page.locator("#viewer .item > summary").first.click()
    page.wait_for_selector("#viewer .response")
    own = [row for row in pq.read_table(root / "data/evaluate/samples.parquet").to_pylist() if row["id"] == "easy-0"]
    responses = page.locator("#viewer .response")
    assert responses.count() == len(own) == 15
    assert page.locator("#viewer .response.right").count() == sum(row["correct"] for row in own)
    greedy = next(row for row in own if row["greedy"])
    assert responses.first.locator("mark").inner_text() == greedy["answer"]
    text = responses.first.locator("pre").inner_text()
    assert "</script><script>document.title='owned'</script>" in text  # shown, not run
    assert "\u202e" not in text
    assert "⟨U+202E⟩" in text
    assert "⟨U+0007⟩" in text
    assert page.title() == "t"


def test_a_point_of_a_curve_opens_the_rollouts_of_its_iteration(
    written: tuple[Path, str], look: Callable[..., Page], tmp_path: Path
) -> None:
    page = look(tmp_path / "reports" / "index.html")
    page.wait_for_selector("#viewer .item")
    assert page.locator(".wide a[*|href='#rollouts=rl-2:2']").count() > 0
    page.locator(".wide a[*|href='#rollouts=rl-2:2']").first.click()
    page.wait_for_selector("text=12 responses in 3 groups are shown")
    assert page.locator("select[name=iteration] option:checked").inner_text() == "rl-2, iteration 2"
    page.select_option("select[name=verdict]", "unused")
    page.wait_for_selector("text=4 responses in 1 groups are shown")
    page.locator("#viewer .item > summary >> visible=true").first.click()
    page.wait_for_selector("#viewer .response >> visible=true")
    assert page.locator("#viewer .response >> visible=true").count() == 4
    options = page.locator("select[name=iteration] option").all_inner_texts()
    assert "rl-1, iteration 2 (samples of the guard loops)" in options


def test_a_problem_leads_to_the_trained_row_that_resembles_it_and_to_its_rollouts(
    chained_run: tuple[Path, str], look: Callable[..., Page], tmp_path: Path
) -> None:
    root, row = chained_run
    write_report(read_run(root), tmp_path / "reports", title="A report", megabytes=5)
    page = look(tmp_path / "reports" / "index.html")
    page.evaluate("location.hash = '#problem=easy:easy-3'")
    page.wait_for_selector("#viewer .similar")
    shown = page.locator("#viewer .similar").inner_text()
    assert "Tom has 2 books" in shown
    assert "rl-1: trained on in 2 iterations (1, 2)" in shown
    assert "rl-3: trained on in 1 iteration (2)" in shown
    page.click("#viewer .similar a >> text=iteration 2")
    page.wait_for_selector(f"text=/level 1 · {row} · 2 of 4 shown right/")
    assert page.locator("select[name=iteration]").evaluate("one => one.selectedOptions[0].text") == "rl-1, iteration 2"
    assert page.locator("input[name=words] >> visible=true").input_value() == row
