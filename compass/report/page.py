"""The report of a run: `index.html`, which holds everything and loads nothing, and `report.md` with the same sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from compass.files import atomic_path
from compass.page.blocks import Code, Note, Section
from compass.page.html import block_html, document, links_html, section_html, sections_html
from compass.page.markdown import write_markdown
from compass.report.model_card import write_model_cards
from compass.report.run import Run
from compass.report.sections import report_sections
from compass.report.viewer import Viewer, kept_steps, viewer

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
    sections = report_sections(run, linked=kept_steps(run))
    if before:
        sections.insert(1, before)
    shown = [Code(text, path.read_text(encoding="utf-8")) for text, path in texts.items()]
    sections.append(Section("Cards", shown, "cards"))
    return write_pages(sections, run, folder, title=title, megabytes=megabytes, links=links)


def write_pages(
    sections: Sequence[Section],
    run: Run | None,
    folder: Path,
    *,
    title: str,
    megabytes: float,
    links: Mapping[str, str | Path] | None = None,
) -> Path:
    """Write sections, with the viewer of a run where one is given, as a page and as Markdown; arguments as in `write_report`."""
    shown = viewer(run, megabytes=megabytes) if run else None
    page = render(sections, title=title, links=links or {}, shown=shown)
    folder.mkdir(parents=True, exist_ok=True)
    write_markdown(folder / "report.md", title, sections)
    path = folder / "index.html"
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def render(
    sections: Sequence[Section], *, title: str, links: Mapping[str, str | Path], shown: Viewer | None = None
) -> str:
    """Sections as one page, with the viewer after the section on problems, or at the end where there is none.

    Args:
        sections: the page's content.
        title: its heading.
        links: text to address or file; an empty address shows the text alone.
        shown: the viewer.
    """
    parts = [_contents(sections, shown), *sections_html(sections[:1]), links_html(links)]
    reader = _viewer_section(shown)
    for section in sections[1:]:
        parts += sections_html([section])
        if section.anchor == AFTER:
            parts.append(reader)
    if reader not in parts:
        parts.append(reader)
    return document(title, parts, style=shown.style if shown else "", scripts=shown.scripts if shown else ())


def _contents(sections: Sequence[Section], shown: Viewer | None) -> str:
    """Links to the sections that have something to show."""
    titles = {section.anchor: section.title for section in sections[1:] if section.parts and section.anchor}
    if shown and AFTER in titles:
        places = list(titles.items())
        place = list(titles).index(AFTER) + 1
        titles = dict([*places[:place], ("responses", "Read responses"), *places[place:]])
    inner = "".join(f"<a href='#{escape(anchor)}'>{escape(text)}</a> " for anchor, text in titles.items())
    return f"<nav class='screen'>{inner}</nav>" if titles else ""


def _viewer_section(shown: Viewer | None) -> str:
    if shown is None:
        return ""
    note = "Every problem with each model's responses, and the rollouts that training learned from. The answer that the verifier read is marked."
    return section_html("Read responses", block_html(Note(note)), shown.html, anchor="responses")
