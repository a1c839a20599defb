"""The rows and benchmark items that a person means: by id, the beginning of one, source and row, text, a piece of it, or by being like it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from compass.records import RecordError
from compass.report.evidence import COLUMNS, item_name, item_names, read_evidence
from compass.report.outputs import Outputs, open_outputs, read_table

SHORTEST_PREFIX = 4
"""Digits of an id that are enough to look for it."""

MOST_ALIKE, LEAST_ALIKE = 3, 0.3
"""How many problems are given that are only like a text, and the least share of word trigrams that they have in common with it."""

_ID = re.compile(r"[0-9a-f]{16}")
_PLAIN_WORD = re.compile(r"(?<![\\a-z])[a-z]{4,}(?![a-z])")
_PREFIX = re.compile(rf"[0-9a-f]{{{SHORTEST_PREFIX},16}}")


@dataclass(frozen=True)
class Found:
    """What a query names: rows and items with id, source, source_id, problem and answer."""

    how: str
    """In which way it names them, in words."""
    is_text: bool
    """Whether it is a problem's text, or a piece of it, not a name."""
    rows: list[dict[str, Any]] = field(default_factory=list)
    items: list[dict[str, Any]] = field(default_factory=list)
    alike: Sequence[float] = ()
    """Of rows that are only like the text, how much, 0 to 1, the most first; empty where the query names them."""


def find_problem(query: str, data: str | Path) -> tuple[Outputs, Found]:
    """The outputs in a folder, and what a query names there, by the first of these that names anything.

    1. a row's id; `source:row`; `benchmark:item`;
    2. a source's own id of a row, a benchmark's id of an item, or the beginning of an id;
    3. a problem's text as it stands, then whatever its white space;
    4. a problem with the same tokens;
    5. a piece of a problem, whatever its case and white space;
    6. the problems most like the text.

    Raises:
        RecordError: the query is empty, or an id or a source's row that is not there, no problem is like the text, or the folder holds
            no rows.
    """
    query = query.strip()
    if not query:
        raise RecordError("nothing to look for; give an id, SOURCE:ROW, or a problem's text")
    outputs = open_outputs(Path(data))
    rows, items = outputs.collected(COLUMNS), outputs.benchmark_items(COLUMNS)
    ways: tuple[tuple[str, bool, Callable[[pa.Table], Any]], ...] = (
        ("that id", False, lambda table: pc.equal(table["id"], query)),
        ("that source and row", False, lambda table: pc.equal(_source_and_row(table), query)),
        ("that id of a source's own, or ids that begin so", False, lambda table: _named(table, query)),
        ("exactly that text", True, lambda table: pc.equal(table["problem"], query)),
        ("that text but for white space", True, lambda table: pc.equal(_plain(table["problem"]), _one_line(query))),
        ("that text in other typesetting", True, lambda table: _same_tokens(table, query)),
        ("problems that hold this piece of text", True, lambda table: _holding(table, query)),
    )
    for how, is_text, matches in ways:
        found = [_chosen(table, matches) for table in (rows, items)]
        if any(found):
            return outputs, Found(how, is_text, *found)
    if _ID.fullmatch(query):
        raise RecordError(f"no row has the id {query!r} in {data}; give the problem's text to search for it")
    source, _, row = query.partition(":")
    if row and (names := rows.filter(pc.equal(rows["source"], source))["source_id"].slice(0, 3).to_pylist()):
        raise RecordError(
            f"source {source!r} has no row {row!r}; its rows are named {', '.join(names)}, … (numbers count from 0)"
        )
    if alike := find_alike(rows, query):
        return outputs, Found(
            "problems most like that text", True, [row for _, row in alike], [], [one for one, _ in alike]
        )
    raise RecordError(f"no collected problem is like that text in {data}")


def find_alike(rows: pa.Table, text: str) -> list[tuple[float, dict[str, Any]]]:
    """The rows whose problems are most like a text, each with their similarity, best first; 1 for equal tokens."""
    from compass.curation.problem_words import jaccard, ngrams, tokens, words

    wanted = tokens(text)
    wanted_ngrams = set(ngrams(words(wanted), 3))
    scores = {}
    for place, problem in enumerate(rows["problem"].to_pylist()):
        own = tokens(problem)
        score = 1.0 if own == wanted else jaccard(wanted_ngrams, set(ngrams(words(own), 3)))
        if score >= LEAST_ALIKE:
            scores[place] = score
    found = zip(scores.values(), rows.take(list(scores)).to_pylist(), strict=True) if scores else ()
    return sorted(found, key=lambda one: (-one[0], one[1]["source"], one[1]["id"]))[:MOST_ALIKE]


def fates(outputs: Outputs, ids: Sequence[str]) -> dict[str, str]:
    """What became of rows, in a few words each: `kept by verify`, `dropped by dedup: exact_duplicate`."""
    last = list(outputs.kept)[-1]
    said = dict.fromkeys(ids, f"kept by {last}")
    for stage, path in outputs.dropped.items():
        rows = read_table(path, ["id", "reason"], ids=ids).to_pylist()
        said |= {row["id"]: f"dropped by {stage}: {row['reason']}" for row in rows}
    return said


def in_items(outputs: Outputs, item: dict[str, Any]) -> list[dict[str, Any]]:
    """The dropped rows whose evidence names a benchmark item: id, source, source_id, problem."""
    if "denoise" not in outputs.dropped:
        return []
    rows = read_table(outputs.dropped["denoise"], [*COLUMNS, "evidence"]).to_pylist()
    return [row for row in rows if item_name(item) in item_names(read_evidence(row["evidence"]))]


def _chosen(table: pa.Table, matches: Any) -> list[dict[str, Any]]:
    """The rows that match, each once: an id that stands twice is one row."""
    rows = table.filter(pc.fill_null(matches(table), False)).to_pylist() if table.num_rows else []
    return list({row["id"]: row for row in rows}.values())


def _source_and_row(table: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(table["source"], table["source_id"], ":")


def _named(table: pa.Table, query: str) -> pa.ChunkedArray:
    named = pc.equal(table["source_id"], query)
    if _PREFIX.fullmatch(query):
        named = pc.or_(named, pc.starts_with(table["id"], query))
    return named


def _same_tokens(table: pa.Table, query: str) -> pa.Array:
    from compass.curation.problem_words import tokens

    wanted = tokens(query)
    same = [False] * table.num_rows
    if wanted:
        rows = pa.array(range(table.num_rows))
        # Looking for the query's longest words takes far less time than tokenising every problem.
        plain = sorted({word for word in _PLAIN_WORD.findall(query.lower()) if word in wanted}, key=len)[-3:]
        for word in plain:
            rows = rows.filter(pc.match_substring(table["problem"].take(rows), word, ignore_case=True))
        for row in rows.to_pylist():
            same[row] = tokens(table["problem"][row].as_py()) == wanted
    return pa.array(same, type=pa.bool_())


def _holding(table: pa.Table, query: str) -> pa.ChunkedArray:
    # A problem that was printed cut off ends with a sign for it.
    return pc.match_substring(pc.utf8_lower(_plain(table["problem"])), _one_line(query).removesuffix("…").lower())


_BLANKS = r"[\s\v\x1c-\x1f\x{85}\pZ]+"
"""What `str.split` takes for blanks: of these, the `\\s` of Arrow has ASCII ones alone."""


def _plain(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.utf8_trim_whitespace(pc.replace_substring_regex(texts, _BLANKS, " "))


def _one_line(text: str) -> str:
    return " ".join(text.split())
