"""The page in a real browser: it updates by itself, fits a desk and a phone, and shows hostile text as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compass.progress import report
from compass.runs import progress
from compass.runs.progress import stage_progress
from tests.conftest import PAGE_MS
from tests.live.conftest import HOSTILE
from tests.live.test_view import sample

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY_S", 0.05)


@pytest.fixture
def visit(browser: Browser, served: str) -> Iterator[Callable[..., Page]]:
    """`visit("#stage=rl-1", width=390)` opens the page. Nothing else may be asked, and no page may print an error."""
    pages, complaints = [], []

    def open_page(at: str = "", width: int = 1280, **context: Any) -> Page:
        page = browser.new_page(viewport={"width": width, "height": 800}, **context)
        page.set_default_timeout(PAGE_MS)
        pages.append(page)
        page.on("console", lambda said: complaints.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog {dialog.message}"))
        page.on("request", lambda asked: complaints.append(asked.url) if foreign(asked.url, served) else None)
        page.goto(f"{served}/{at}")
        return page

    yield open_page
    for page in pages:
        page.context.close()
    assert complaints == []


def foreign(url: str, served: str) -> bool:
    return url.startswith(("http", "ws")) and not url.startswith(f"{served}/")


def fits(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_it_follows_a_run_without_a_reload(visit: Any, repository: Path, trainer: Any) -> None:
    page = visit()
    page.get_by_text("No stage has run here yet").wait_for()
    with stage_progress("rl-1", repository):
        report(1, 20, "iterations", "iteration 2: rollout", detail="reward +0.25")
        trainer.iteration(1)
        page.locator("#head", has_text="1 of 20 iterations").wait_for()
        assert page.title() == "rl-1 1/20 · Compass"
        assert page.locator("#stages [aria-current=true]").inner_text().split() == ["●", "rl-1", "5%"]
        page.locator("svg").nth(6).wait_for()
        page.locator("figcaption", has_text="Right responses").get_by_text("right 62.5%").wait_for()
        report(2, 20, "iterations", "iteration 3: update")
        trainer.iteration(2)
        trainer.rollouts(2)
        page.locator("#head", has_text="2 of 20 iterations").wait_for()
        page.locator("figcaption", has_text="Right responses").get_by_text("right 75%").wait_for()
        page.locator(".response.right").first.wait_for()
        assert page.locator("[role=progressbar]").get_attribute("aria-valuenow") == "10"
    page.locator("#head", has_text="finished").wait_for()
    page.locator("#stages .finished").first.wait_for()


@pytest.mark.slow
def test_what_the_reader_opened_and_chose_stays(visit: Any, repository: Path, trainer: Any) -> None:
    with stage_progress("rl-1", repository):
        for step in (1, 2):
            trainer.iteration(step)
            trainer.rollouts(step, response=f"of iteration {step}")
        trainer.findings.fire("cut_off", 1, "60% of the responses are cut off")
        page = visit("#stage=rl-1")
        page.get_by_text("Details").click()
        page.locator("#blocks select").select_option("1")
        page.get_by_text("of iteration 1").first.wait_for()
        trainer.iteration(3)
        trainer.rollouts(3, response="of iteration 3")
        page.locator("figcaption", has_text="Right responses").get_by_text("87.5%").wait_for()
        assert page.get_by_text("of iteration 1").count() == 8
        assert page.get_by_text("60% of the responses").is_visible()
        page.locator("#stages button", has_text="collect").click()
        page.locator("#head h2", has_text="collect").wait_for()
        page.get_by_text("Follow the run: rl-1").click()
        page.get_by_text("of iteration 3").first.wait_for()
        assert "#" not in page.url


@pytest.mark.slow
def test_charts_are_read_by_pointer_and_by_keys(visit: Any, repository: Path, trainer: Any) -> None:
    with stage_progress("rl-1", repository):
        for step in (1, 2, 3):
            trainer.iteration(step)
        page = visit("#stage=rl-1")
        chart = page.locator("figure", has_text="Right responses")
        chart.get_by_text("iteration 3").wait_for()
        chart.locator("svg").focus()
        page.keyboard.press("ArrowLeft")
        chart.get_by_text("iteration 2").wait_for()
        assert "right 75%" in chart.locator("svg").get_attribute("aria-label")
        page.keyboard.press("Home")
        chart.get_by_text("right 62.5%").wait_for()
        trainer.iteration(4)  # the chart is drawn anew: the reader stays where they are
        page.locator("dd", has_text="50.0%").first.wait_for()
        page.keyboard.press("ArrowRight")
        chart.get_by_text("iteration 2").wait_for()
        box = chart.locator("svg").bounding_box()
        page.mouse.move(box["x"] + box["width"] - 12, box["y"] + 20)
        chart.get_by_text("iteration 4").wait_for()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_texts_are_shown_as_text_and_fit(
    visit: Any, repository: Path, trainer: Any, problems: Any, width: int, scheme: str
) -> None:
    with stage_progress("rl-1", repository):
        report(1, 20, HOSTILE, HOSTILE, detail=HOSTILE)
        trainer.iteration(1)
        trainer.rollouts(1, response=f"{HOSTILE} {'x' * 5000}")
        trainer.findings.fire("cut_off", 1, HOSTILE)
        page = visit("#stage=rl-1", width=width, color_scheme=scheme)
        page.locator(".response pre").first.wait_for()
        assert page.locator("img, #blocks script").count() == 0
        assert "<script>alert(2)</script>⟨U+202E⟩evil⟨U+0000⟩" in page.locator(".response pre").first.inner_text()
        assert fits(page)
        with stage_progress("grade", repository):
            sample(repository / "work/grade", problems.slice(4), [HOSTILE])
            page = visit("#stage=grade", width=width, color_scheme=scheme)
            page.locator(".response pre").first.wait_for()
            assert page.locator("img, #blocks script").count() == 0
            assert HOSTILE[:20] in page.locator(".full").first.inner_text()
            assert fits(page)


def contrast(page: Page, selector: str) -> float:
    """The least ratio of luminance between the text of such elements and what is behind it (WCAG 2)."""
    return page.evaluate(
        """(selector) => {
          const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
          const light = (c) => { const [r, g, b] = c.match(/[\\d.]+/g).map(Number); return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b); };
          const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\\)$|transparent/.test(c)) return c; } return "rgb(255, 255, 255)"; };
          return Math.min(...[...document.querySelectorAll(selector)].map((e) => {
            const [a, b] = [light(getComputedStyle(e).color), light(behind(e))].sort((x, y) => y - x);
            return (a + 0.05) / (b + 0.05);
          }));
        }""",
        selector,
    )


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_and_every_control_reached_by_keys(
    visit: Any, repository: Path, trainer: Any, scheme: str
) -> None:
    with stage_progress("rl-1", repository):
        trainer.iteration(1)
        trainer.rollouts(1)
        trainer.findings.fire("cut_off", 1, "60% of the responses are cut off")
        page = visit("#stage=rl-1", color_scheme=scheme)
        page.locator(".response").first.wait_for()
        for selector in (".note", ".read", ".of", ".state", ".chips li", ".verdict b", "#stages button", "h2", "code"):
            assert contrast(page, selector) >= 4.5, selector
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.tagName.toLowerCase()"))
        assert {"a", "button", "svg", "summary"} <= reached


@pytest.mark.slow
def test_a_server_that_has_gone_is_told(browser: Browser, served: str, repository: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PAGE_MS)
    page.goto(served)
    page.get_by_text("No stage has run here yet").wait_for()
    page.route("**/api/state*", lambda route: route.abort())
    page.get_by_text("does not answer").wait_for()
    page.unroute("**/api/state*")
    page.locator("#lost").wait_for(state="hidden")
    page.context.close()
