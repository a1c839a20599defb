"""The ledger's page: the funnel and the counts as HTML, and compressed rows that its script filters and shows.

The page loads nothing and runs no scripts but its own, allowed by their digests. Texts of the data reach the page as escaped
HTML or as text nodes, never as markup.
"""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path

from compass.files import atomic_path
from compass.page.blocks import Note
from compass.page.html import block_html, document, section_html
from compass.page.packed import element, pack
from compass.report.history import MEANING
from compass.report.ledger_page.rows import DOUBTFUL, Group, funnel, groups, shown_rows
from compass.report.outputs import Outputs

MOST_ROWS = 6_000
"""Rows to read on a page: filtering them takes a browser a few hundredths of a second."""

LARGEST = 15_000_000
"""Bytes of a page; with long texts it holds fewer rows."""


def write_page(outputs: Outputs, path: Path, *, seed: int = 0, most_rows: int = MOST_ROWS) -> tuple[int, int]:
    """Write the page.

    Args:
        outputs: where the rows are.
        path: the file.
        seed: another one shows other rows.
        most_rows: rows to read at most.

    Returns:
        Rows that were dropped, and rows to read on the page.
    """
    of_group, doubts = groups(outputs)
    stages, sources = funnel(outputs)
    counts = {group: len(ids) for group, ids in of_group.items()}
    while True:
        rows = shown_rows(outputs, of_group, doubts, most_rows, seed)
        page = _page(stages, sources, counts, rows, outputs.folder.name)
        if len(page.encode()) <= LARGEST or most_rows <= 1:
            break
        most_rows = min(most_rows, len(rows)) // 2
    with atomic_path(path) as temporary:
        temporary.write_text(page, encoding="utf-8")
    return sum(count for (stage, *_), count in counts.items() if stage != DOUBTFUL), len(rows)


def _page(
    stages: list[str],
    sources: dict[str, list[tuple[int, int]]],
    counts: dict[Group, int],
    rows: list[dict],
    name: str,
) -> str:
    def own(file: str) -> str:
        return files(__package__).joinpath(file).read_text(encoding="utf-8")

    data = {"counts": [[*group, count] for group, count in counts.items()], "rows": rows}
    parts = [
        _summary(stages, sources, counts),
        section_html("Stages by source", block_html(Note(FUNNEL_NOTE)), _funnel(stages, sources)),
        section_html("Reasons", block_html(Note(REASONS_NOTE)), _reasons(counts)),
        own("browse.html"),
        element("ledger-rows", pack(data)),
    ]
    return document(f"Ledger of {name or 'the data'}", parts, style=own("browse.css"), scripts=[own("browse.js")])


FUNNEL_NOTE = (
    "Rows that each stage kept of those it read, and below them those it dropped. Choose a number to read such rows."
)
REASONS_NOTE = "Every dropped row has one reason. Choose one to read such rows."


def _summary(stages: list[str], sources: dict[str, list[tuple[int, int]]], counts: dict[Group, int]) -> str:
    read = sum(kept + dropped for row in sources.values() for kept, dropped in row[:1])
    kept = sum(row[-1][0] for row in sources.values())
    doubtful = len({group for group in counts if group[0] == DOUBTFUL})
    said = f"{read:,} rows were read from {len(sources):,} sources; {kept:,} are kept, {read - kept:,} were dropped."
    return f"<p>{escape(said)}{' Some kept rows are doubtful.' if doubtful else ''}</p>"


def _funnel(stages: list[str], sources: dict[str, list[tuple[int, int]]]) -> str:
    def cell(source: str, stage: str, kept: int, dropped: int, read: int) -> str:
        share = 100 * kept / read if read else 0
        bar = f"<i class='bar' style='width:{share:.0f}%'></i>"
        drop = _button(f"−{dropped:,}", stage=stage, source=source) if dropped else "<span class='zero'>0</span>"
        return f"<td class='n'>{kept:,}{bar}{drop}</td>"

    def line(name: str, source: str, row: list[tuple[int, int]]) -> str:
        read = sum(row[0])
        cells = "".join(cell(source, stage, *counts, read) for stage, counts in zip(stages, row, strict=True))
        return f"<tr><th>{escape(name)}</th><td class='n'>{read:,}</td>{cells}</tr>"

    totals = [tuple(map(sum, zip(*column, strict=True))) for column in zip(*sources.values(), strict=True)]
    lines = [line("all sources", "", totals)] if len(sources) > 1 else []
    lines += [line(source, source, row) for source, row in sources.items()]
    head = "".join(f"<th class='n'>{escape(name)}</th>" for name in ("read", *stages))
    return f"<div class='scroll funnel'><table><thead><tr><th>source</th>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"


def _reasons(counts: dict[Group, int]) -> str:
    totals: dict[tuple[str, str], int] = {}
    for (stage, reason, _), count in counts.items():
        totals[stage, reason] = totals.get((stage, reason), 0) + count
    stages = list(dict.fromkeys(stage for stage, _ in totals))
    most = max(totals.values(), default=1)
    lines = []
    for (stage, reason), count in sorted(totals.items(), key=lambda item: (stages.index(item[0][0]), -item[1])):
        bar = f"<i class='bar' style='width:{100 * count / most:.0f}%'></i>"
        button = _button(reason, stage=stage, reason=reason)
        meaning = escape(MEANING.get(reason, ""))
        lines.append(
            f"<tr><td>{escape(stage)}</td><td>{button}<div class='note'>{meaning}</div></td><td class='n'>{count:,}{bar}</td></tr>"
        )
    head = "<tr><th>stage</th><th>reason</th><th class='n'>rows</th></tr>"
    return (
        f"<div class='scroll'><table class='reasons'><thead>{head}</thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _button(text: str, **chosen: str) -> str:
    data = " ".join(f'data-{name}="{escape(value)}"' for name, value in chosen.items())
    return f"<button type='button' class='choose' {data}>{escape(text)}</button>"
