"""The page's content for a terminal: the stages, the one that is looked at, its figures, curves and newest responses."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.rule import Rule
from rich.table import Table as TextTable
from rich.text import Text

from compass.durations import duration
from compass.page.blocks import (
    Bars,
    Block,
    Bullets,
    Caution,
    Chart,
    Curves,
    Figures,
    Guards,
    Link,
    Note,
    Responses,
    Table,
)
from compass.page.html import ODD, number_columns, shown

SIGNS = {"waiting": "○", "running": "●", "finished": "✓", "failed": "✕", "killed": "■"}
STYLES = {"waiting": "dim", "running": "bold cyan", "finished": "green", "failed": "bold red", "killed": "yellow"}

LEVELS = "▁▂▃▄▅▆▇█"
CURVE = 40
"""Characters of a curve; more iterations than these are drawn as means of neighbours."""

WIDTH = 100
"""Columns of what is printed once."""

PROBLEMS, RESPONSES, LINES = 2, 2, 6
"""On a live page: problems shown, responses of each, and lines of a text."""


def safe(text: Any) -> str:
    """Text with what a terminal would obey, or not show, replaced by its number."""
    return ODD.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text))


def draw(state: Mapping[str, Any], now: float | None = None) -> RenderableType:
    """What `compass.live.view.Reader.state` returns, as rich draws it."""
    now = time.time() if now is None else now
    stages = {stage["name"]: stage for stage in state["stages"]}
    parts: list[RenderableType] = [_stages(state), Rule(style="dim")]
    if state["selected"]:
        parts += _head(stages[state["selected"]], now)
    parts += _draw_blocks(map(_few, state["blocks"]))
    links = [f"{link['text']}: {link['url']}" for link in state["links"] if link["url"].startswith("http")]
    return Group(*parts, "", *(Text(safe(link), style="dim") for link in links))


def print_blocks(blocks: Iterable[Block]) -> None:
    """Print blocks in `WIDTH` columns, and a table in as many as its numbers need: one that is cut would be another number."""
    for part in _draw_blocks(blocks)[1:]:
        needed = Console(width=10 * WIDTH).measure(part).minimum if isinstance(part, TextTable) else 0
        Console(width=max(WIDTH, needed)).print(part)


def _draw_blocks(blocks: Iterable[Block]) -> list[RenderableType]:
    return [part for block in blocks if (drawn := _draw_block(block)) for part in ("", *drawn)]


def _draw_block(block: Block) -> list[RenderableType]:
    match block:
        case Note():
            return [Text(safe(f"{block.text} {block.command}".strip()))]
        case Bullets():
            return [Text(f"- {safe(line)}") for line in block.lines]
        case Caution():
            details = safe(block.details).splitlines()[:LINES]
            return [Text(safe(block.text), style="yellow"), *(Text(f"  {line}", style="dim") for line in details)]
        case Figures():
            table = TextTable.grid(padding=(0, 2))
            for item in block.items:
                value, note = Text(safe(item["value"]), style="bold"), Text(safe(item["note"]), style="dim")
                table.add_row(item["name"], value, note)
            return [table]
        case Table():
            return _table(block)
        case Bars():
            most = max((size for _, size, _ in block.items), default=1) or 1
            table = TextTable.grid(padding=(0, 1))
            for name, size, text in block.items:
                bar = Text("█" * max(1, round(30 * size / most)), style="blue")
                table.add_row(safe(name), bar, Text(safe(text), style="dim"))
            return [Text(block.title, style="bold"), table]
        case Curves():
            return [_curves(block)]
        case Guards():
            return [_guards(block)]
        case Responses():
            return _responses(block)
        case Link() | Chart():  # for a browser
            return []
        case _:
            raise TypeError(f"{type(block).__name__} is a block of the report's page; a terminal has no form for it")


def _stages(state: Mapping[str, Any]) -> Text:
    line = Text()
    for stage in state["stages"]:
        share = (
            f" {100 * stage['done'] // stage['total']:.0f}%" if stage["state"] == "running" and stage["total"] else ""
        )
        underline = " underline" if stage["name"] == state["selected"] else ""
        line.append(f"{SIGNS[stage['state']]} {safe(stage['name'])}{share}", STYLES[stage["state"]] + underline)
        line.append("  ")
    return line


def _head(stage: Mapping[str, Any], now: float) -> list[RenderableType]:
    running = stage["state"] == "running"
    title = Text(f"{safe(stage['name'])}  ", style="bold")
    title.append(stage["state"], STYLES[stage["state"]])
    if running:
        title.append(f", for {duration(now - stage['started'])}", "dim")
    elif stage["seconds"] is not None:
        title.append(f", took {duration(stage['seconds'])}", "dim")
    if not running:
        return [title]
    told = [stage["phase"], stage["counted"], stage["detail"]]
    if stage["seconds_left"] is not None:
        told.insert(2, f"{duration(stage['seconds_left'])} left")
    line = Text(safe(" · ".join(filter(None, told))))
    if not stage["total"]:
        return [title, line]
    row = TextTable.grid(padding=(0, 1))
    row.add_row(ProgressBar(total=stage["total"], completed=stage["done"], width=24), line)
    return [title, row]


def _table(block: Table) -> list[RenderableType]:
    table = TextTable(box=None, pad_edge=False, show_header=any(block.head))
    rows = [[safe(shown(value)) for value in row] for row in block.rows]
    for place, (name, is_number) in enumerate(zip(block.head, number_columns(block), strict=True)):
        # A number stays on one line with its interval; its header may take more.
        widest = max((len(line) for row in rows for line in row[place].splitlines()), default=0) if is_number else None
        table.add_column(safe(name), justify="right" if is_number else "left", min_width=widest)
    for row in rows:
        table.add_row(*map(Text, row))
    return [*([Text(block.title, style="bold")] if block.title else []), table]


def _curves(block: Curves) -> RenderableType:
    """Each chart's first series as a line of blocks, from its least to its largest value; of parts of a whole their sum."""
    table = TextTable.grid(padding=(0, 1))
    for chart in block.items:
        series = [one["values"] for one in chart["series"]]
        if chart["stacked"]:
            series = [[sum(value or 0 for value in parts) for parts in zip(*series, strict=True)]]
        values = [value for value in series[0] if value is not None]
        factor, sign = (100, "%") if chart["percent"] else (1, "")
        ends = f"{factor * values[0]:.4g}{sign} → {factor * values[-1]:.4g}{sign}"
        table.add_row(safe(chart["title"]), Text(sparkline(values), style="cyan"), Text(ends, style="dim"))
    return table


def sparkline(values: Sequence[float]) -> str:
    """Values as a line of at most `CURVE` blocks, the lowest for the least of them."""
    size = -(-len(values) // CURVE)
    means = [sum(part) / len(part) for low in range(0, len(values), size) if (part := values[low : low + size])]
    low, high = min(means), max(means)
    room = (high - low) or 1.0
    return "".join(LEVELS[min(len(LEVELS) - 1, int(len(LEVELS) * (mean - low) / room))] for mean in means)


def _guards(block: Guards) -> Text:
    fired = [item for item in block.items if item["fired"]]
    quiet = sum(item["level"] != "off" for item in block.items) - len(fired)
    line = Text("Guards: ", style="bold")
    for item in fired:
        last = ", ".join(map(str, item["fired"][-3:]))
        line.append(f"{item['name']} ({item['level']}) in iteration {last}; ", "yellow")
    return line.append(f"{quiet} on and quiet", "green")


def _responses(block: Responses) -> list[RenderableType]:
    at = f", iteration {block.chosen}" if block.chosen is not None else ""
    parts: list[RenderableType] = [Text(f"{block.title}{at}", style="bold")] if block.title else []
    for problem in block.problems:
        parts += [Text(safe(problem["about"]), style="dim"), Text(safe(problem["problem"]))]
        parts.append(Text(f"gold {safe(problem['gold'])}", style="bold"))
        for one in problem["responses"]:
            parts += [
                Padding(_verdict(one), (0, 0, 0, 2), expand=False),
                Padding(Text(safe(one["text"])), (0, 0, 0, 4), expand=False),
            ]
    return parts


def _verdict(response: Mapping[str, Any]) -> Text:
    """A response's name, verdict and facts."""
    right, answer = response["right"], response["answer"]
    verdict, style = {True: ("RIGHT", "green"), False: ("WRONG", "red"), None: ("not judged yet", "dim")}[right]
    read = f"answer {answer}" if answer else "no answer found" if right is not None else None
    facts = [fact for fact in (read, *response["facts"]) if fact and fact != "no answer"]
    line = Text(f"{response['name']} · ").append(verdict, style)
    return line.append(safe("".join(f" · {fact}" for fact in facts)), "dim")


def _few(block: Block) -> Block:
    """Of responses as many as leave room for the rest of a live page, with the beginning of each text; any other block as it is."""
    if not isinstance(block, Responses):
        return block
    problems = [
        one
        | {"problem": _first_lines(one["problem"])}
        | {"responses": [own | {"text": _first_lines(own["text"])} for own in _mixed(one["responses"])]}
        for one in block.problems[:PROBLEMS]
    ]
    return replace(block, problems=problems)


def _mixed(responses: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The first right and the first wrong response, where there are both."""
    first = {one["right"]: one for one in reversed(responses)}
    return list(first.values())[::-1][:RESPONSES] if len(first) > 1 else list(responses[:RESPONSES])


def _first_lines(text: str) -> str:
    lines = text.splitlines()
    return "\n".join([*lines[: LINES - 1], "…"] if len(lines) > LINES else lines)
