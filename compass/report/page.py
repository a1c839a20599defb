"""The report of a run: `index.html`, which holds everything and loads nothing, and `report.md` with the same sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from compass.files import atomic_path
from compass.report import html
from compass.report.blocks import Section, to_html
from compass.report.html import document
from compass.report.markdown import write_markdown
from compass.report.model_card import write_model_cards
from compass.report.run import Run
from compass.report.sections import report_sections
from compass.report.viewer import Viewer, kept_steps, viewer

AFTER = "problems"
"""The section that the viewer follows."""


def write_report(
    run: Run, folder: Path, *, title: str, megabytes: float, links: Mapping[str, str] | None = None
) -> Path:
    """Write `index.html`, `report.md`, `figures/` and `model_cards/` of a run into a folder; returns the page's path.

    Args:
        run: the run.
        folder: made where it is missing.
        title: the page's heading.
        megabytes: most that the viewer's data may add to the page.
        links: text to address, of the web or of a file beside the page.
    """
    cards = {
        f"model card of {path.stem}": path.relative_to(folder).as_posix() for path in write_model_cards(run, folder)
    }
    sections = report_sections(run, linked=kept_steps(run))
    return write_pages(sections, run, folder, title=title, megabytes=megabytes, links={**(links or {}), **cards})


def write_pages(
    sections: Sequence[Section],
    run: Run,
    folder: Path,
    *,
    title: str,
    megabytes: float,
    links: Mapping[str, str] | None = None,
) -> Path:
    """Write sections, with the viewer of a run, as a page and as Markdown; arguments as in `write_report`."""
    shown = viewer(run, megabytes=megabytes)
    page = render(sections, title=title, links=links or {}, shown=shown)
    folder.mkdir(parents=True, exist_ok=True)
    write_markdown(folder / "report.md", title, sections)
    path = folder / "index.html"
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return path


def render(sections: Sequence[Section], *, title: str, links: Mapping[str, str], shown: Viewer | None = None) -> str:
    """Sections as one page, with the viewer after the section on problems, or at the end where there is none.

    Args:
        sections: the page's content.
        title: its heading.
        links: text to address; an empty address shows the text alone.
        shown: the viewer.
    """
    parts = [_contents(sections, shown), *to_html(sections[:1]), html.links(links)]
    reader = _viewer_section(shown)
    for section in sections[1:]:
        parts += to_html([section])
        if section.anchor == AFTER:
            parts.append(reader)
    if reader not in parts:
        parts.append(reader)
    style = _STYLE + (shown.style if shown else "")
    return document(title, parts, style=style, scripts=shown.scripts if shown else ())


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
    return html.section("Read responses", note, shown.html, anchor="responses")


_STYLE = """
nav { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .92rem; margin: .3rem 0 1rem }
p.headline { font-size: 1.12rem; font-weight: 600; line-height: 1.45 } p.label { font-weight: 600; margin-top: 1rem }
p.warning { background: var(--warn-soft); border-left: .3rem solid var(--warn); padding: .4rem .7rem; margin: .35rem 0 }
"""
