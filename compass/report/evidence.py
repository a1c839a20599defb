"""The evidence of a verdict with the texts that it is about: marked in the problem, next to its twin or benchmark item."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from compass.report.outputs import Outputs

Span = tuple[int, int]

_WORD = re.compile(r"\\?[^\W_]+|[^\w\s]|_")

LONGEST_COMPARED = 3_000
"""Words of a text that are compared; the rest stays unmarked, since time grows with the square."""

SHORTEST_SHARED = 4
"""Words and signs that a problem and an item must share in a row for them to be marked, where the problem holds a share of the
item: single words in common say nothing."""

COLUMNS = ["id", "source", "source_id", "problem", "answer"]

QUOTES = ("text", "formula", "end")
"""Keys of evidence that quote the problem; others name, count or explain something, in words that the problem may hold by chance."""


@dataclass(frozen=True)
class Other:
    """A text that a row is shown beside: its twin, or a benchmark item."""

    kind: str
    """`twin` or `item`."""
    name: str
    """`source:row` or `benchmark:item`."""
    id: str
    problem: str
    answer: str
    here: list[Span]
    """What is marked in the row's problem."""
    there: list[Span]
    """What is marked in this text."""


@dataclass(frozen=True)
class Texts:
    """The texts that evidence refers to: rows by id, and benchmark items by `benchmark:item`."""

    rows: Mapping[str, Mapping[str, Any]]
    items: Mapping[str, Mapping[str, Any]]


def named_texts(outputs: Outputs, evidences: Iterable[Mapping[str, Any]]) -> Texts:
    """Read the twins and items that evidence names."""
    evidences = list(evidences)
    twins = sorted({evidence["twin"] for evidence in evidences if "twin" in evidence})
    wanted = {name for evidence in evidences for name in item_names(evidence)}
    rows = {row["id"]: row for row in outputs.collected(COLUMNS, twins).to_pylist()} if twins else {}
    items = {item_name(item): item for item in outputs.benchmark_items(COLUMNS).to_pylist()} if wanted else {}
    return Texts(rows, {name: items[name] for name in wanted if name in items})


def item_name(item: Mapping[str, Any]) -> str:
    """`benchmark:item`, as evidence names it."""
    return f"{item['source']}:{item['source_id']}"


def item_names(evidence: Mapping[str, Any]) -> list[str]:
    """The benchmark items that evidence names, the one that decided first."""
    named = [f"{evidence['benchmark']}:{evidence['item']}"] if {"benchmark", "item"} <= evidence.keys() else []
    also = evidence.get("also_contaminated")
    return [*named, *([also] if isinstance(also, str) else []), *evidence.get("other_items", ())]


def find_related(problem: str, evidence: Mapping[str, Any], texts: Texts) -> list[Other]:
    """The twin, and the first benchmark item, that evidence names, with what they share with the problem."""
    others = []
    if twin := texts.rows.get(evidence.get("twin", "")):
        others.append(_other("twin", problem, twin, least=1))
    if (names := item_names(evidence)) and (item := texts.items.get(names[0])):
        least = SHORTEST_SHARED if evidence.get("rule") == "coverage" or "benchmark" not in evidence else 1
        others.append(_other("item", problem, item, least=least))
    return others


def find_quotes(problem: str, evidence: Mapping[str, Any]) -> list[Span]:
    """Where the problem holds what evidence quotes of it: its `span`, else its quotations; nowhere where it is of another field."""
    if evidence.get("field", "problem") != "problem":
        return []
    if "span" in evidence:
        start, end = evidence["span"]
        return [(start, end)]
    return find_pieces(problem, [value for name in QUOTES if isinstance(value := evidence.get(name), str)])


def read_evidence(column: str | None) -> dict[str, Any]:
    """The evidence of a row of the ledger; empty for a kept row."""
    return json.loads(column) if column else {}


def _other(kind: str, problem: str, row: Mapping[str, Any], *, least: int) -> Other:
    here, there = shared(problem, row["problem"] or "", least)
    return Other(kind, item_name(row), row["id"], row["problem"] or "", row["answer"] or "", here, there)


def shared(one: str, other: str, least: int = 1) -> tuple[list[Span], list[Span]]:
    """The parts that stand in both texts in the same order, whatever their case and white space.

    Args:
        one: a text.
        other: another.
        least: words and signs that a part needs to count.

    Returns:
        Spans of characters in the one text and in the other, in order.
    """
    places = [[match.span() for match in _WORD.finditer(text)][:LONGEST_COMPARED] for text in (one, other)]
    words = [
        [text[start:end].casefold() for start, end in spans] for text, spans in zip((one, other), places, strict=True)
    ]
    spans: tuple[list[Span], list[Span]] = ([], [])
    for block in SequenceMatcher(None, *words, autojunk=False).get_matching_blocks():
        if block.size >= max(1, least):
            for own, found, first in zip(spans, places, (block.a, block.b), strict=True):
                own.append((found[first][0], found[first + block.size - 1][1]))
    return spans


def find_pieces(text: str, pieces: Iterable[str]) -> list[Span]:
    """Where pieces stand in a text, each at its first place and whatever its white space; overlapping spans are joined."""
    spans = []
    for piece in pieces:
        words = piece.split()
        if words and (match := re.search(r"\s+".join(map(re.escape, words)), text)):
            spans.append(match.span())
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def parts(text: str, spans: Sequence[Span]) -> list[str]:
    """The text cut at its spans: what stands before the first, the first, what stands between, and so on.

    Every second part is a span; together the parts are the text.
    """
    cut, end = [], 0
    for start, stop in spans:
        cut += [text[end:start], text[start:stop]]
        end = stop
    return [*cut, text[end:]]


def marked(text: str, spans: Sequence[Span], signs: tuple[str, str] = ("⟪", "⟫")) -> str:
    """The text with a sign before and after each span."""
    return "".join(part if number % 2 == 0 else part.join(signs) for number, part in enumerate(parts(text, spans)))
