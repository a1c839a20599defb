"""The report of a run: `index.html`, which holds everything and loads nothing, and `report.md` with the same sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from compass.files import write_text
from compass.page.blocks import Code, Section
from compass.page.html import document, links_html, sections_html
from compass.page.markdown import write_markdown
from compass.report.run import Run
from compass.report.scored_cards import write_model_cards
from compass.report.sections import report_sections
from compass.report.viewer import SCRIPT, kept_rollouts, viewer

AFTER = "problems"
"""The section that the viewer follows."""


def write_report(
    run: Run,
    folder: Path,
    *,
    title: str,
    megabytes: float,
    links: Mapping[str, str | Path] | None = None,
    cards: Mapping[str, Path] | None = None,
    before: Section | None = None,
) -> Path:
    """Write `index.html`, `report.md`, `figures/` and `model_cards/` of a run into a folder; returns the page's path.

    Args:
        run: the run.
        folder: made where it is missing.
        title: the page's heading.
        megabytes: most that the viewer's data may add to the page.
        links: text to an address of the web, or to a file, which is embedded.
        cards: title to a card in Markdown, shown at the page's end after those of the models.
        before: the section that compares it with the run before, if there is one.
    """
    texts = {f"Model card of {path.stem}": path for path in write_model_cards(run, folder)} | dict(cards or {})
    sections = report_sections(run, linked=kept_rollouts(run))
    if before:
        sections.insert(1, before)
    shown = [Code(text, path.read_text(encoding="utf-8")) for text, path in texts.items()]
    sections.append(Section("Cards", shown, "cards"))
    return write_pages(sections, folder, title=title, reader=viewer(run, megabytes=megabytes), links=links)


def write_pages(
    sections: Sequence[Section],
    folder: Path,
    *,
    title: str,
    reader: str = "",
    links: Mapping[str, str | Path] | None = None,
) -> Path:
    """Write sections as a page and as Markdown, `report.md`; arguments as in `write_report`.

    `reader`, what `viewer` returns, stands after the section on problems, or at the end where there is none.
    """
    first, *others = sections
    shown = [(one.anchor, one.title, html) for one in others for html in sections_html([one])]
    if reader:
        place = next((place for place, (anchor, *_) in enumerate(shown, 1) if anchor == AFTER), len(shown))
        shown.insert(place, ("responses", "Read responses", reader))
    contents = [Markup("<a href='#{}'>{}</a> ").format(anchor, text) for anchor, text, _ in shown if anchor]
    parts = [
        f"<nav class='screen'>{''.join(contents)}</nav>" if contents else "",
        *sections_html([first]),
        links_html(links or {}),
        *(html for *_, html in shown),
    ]
    scripts = [SCRIPT.read_text(encoding="utf-8")] if reader else []
    write_markdown(folder / "report.md", title, sections)
    write_text(folder / "index.html", document(title, parts, scripts=scripts))
    return folder / "index.html"
