"""From sources to records: every row of every source is kept, or dropped into the ledger with a reason.

Bad rows (no problem, no answer or a word for none, an id twice, too long, another licence) are dropped. A source that does not match its
settings (missing file, wrong field name, no rows at all) is a `SourceError`.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from compass.ledger import LEDGER, Drop, Reason, most_first, split
from compass.operations import count_operations
from compass.parallel import in_processes
from compass.progress import reported
from compass.records import RECORD, ROW_NUMBERS, record_id, table
from compass.seeded_draw import draw_number
from compass.settings import Collect, Source
from compass.settings.denoise import NoiseReason
from compass.settings.section import is_commit
from compass.sources.adapters import ADAPTERS, MISSING, Adapter, ConfiguredFields, Published, reach, read_name
from compass.sources.gold import DecimalCommas, has_decimal_comma, is_placeholder, with_decimal_point
from compass.sources.hub import hub_rows, resolve_commit
from compass.sources.read import Row, SourceError, data_files, expand, file_rows
from compass.sources.recast import recast
from compass.sources.repair import JSON_STARTS, repair, repaired_row

STAGE = "collect"
PIECE = 2_000
"""Rows that a process takes at a time; few pieces are held as Python objects, the rest in Arrow tables."""

SMALL = 10_000
"""Fewer rows are read in this process alone: starting others takes longer."""

NAMED = 5
"""Unusable rows of benchmarks that a message names."""


@dataclass(frozen=True)
class Collected:
    """What was read: records, the ledger, and the facts of each source for the summary."""

    kept: pa.Table
    dropped: pa.Table
    read: int
    sources: dict[str, dict[str, Any]]


def collect(sources: Iterable[Source], limits: Collect, **folders: str | Path) -> Collected:
    """Read sources into tables, in their order; see `Reading`, which holds few rows at a time.

    Raises:
        SourceError: a source cannot be read; names file or hub id, and row.
    """
    reading = Reading(sources, limits, **folders)
    pieces = [(RECORD.empty_table(), LEDGER.empty_table()), *reading]
    kept, dropped = zip(*pieces, strict=True)
    return Collected(pa.concat_tables(kept), pa.concat_tables(dropped), reading.read, reading.sources)


class Reading:
    """Sources as they are read, in their order: iterate once for pieces of kept (`RECORD`) and dropped (`LEDGER`) rows.

    Then `read` is how many rows were read, and `sources` has for each source its rows, drops by reason, and file or commit.
    """

    def __init__(self, sources: Iterable[Source], limits: Collect, **folders: str | Path) -> None:
        """
        Args:
            sources: what to read.
            limits: longest texts and allowed licences; whether a source that cannot be read is skipped.
            folders: values of `$NAME` in paths, before the environment's.
        """
        self.read = 0
        self.sources: dict[str, dict[str, Any]] = {}
        self._given, self._limits, self._folders = list(sources), limits, folders
        self._origins: list[dict[str, Any]] = [{} for _ in self._given]
        self._sent = [0 for _ in self._given]
        self._errors: dict[int, SourceError] = {}

    def __iter__(self) -> Iterator[tuple[pa.Table, pa.Table]]:
        """
        Raises:
            SourceError: a source cannot be read; names file or hub id, and row.
        """
        made = _mapped(partial(_recorder, self._limits), self._published())
        following = next(made, None)
        with tempfile.TemporaryFile(prefix="compass-collect-") as file:
            spool = _Spool(file)
            for number in range(len(self._given)):
                facts = _Facts(self._given[number])
                while following is not None and following[0] == number:
                    piece = following[1]
                    self._sent[number] -= following[2]
                    if isinstance(piece, SourceError):
                        self._failed(number, piece)
                    elif self._limits.skip_unreadable:
                        spool.add(piece)
                    else:
                        yield facts.count(piece)
                    following = next(made, None)
                yield from map(facts.count, spool.take(drop=number in self._errors))
                self._finish(number, facts)

    def _published(self) -> Iterator[_Piece]:
        for number, source in enumerate(self._given):
            try:
                rows, self._origins[number] = _rows(source, self._folders)
                for piece in _pieces(number, source, rows):
                    self._sent[number] += len(piece.rows)
                    yield piece
            except SourceError as error:
                self._failed(number, error)

    def _failed(self, number: int, error: SourceError) -> None:
        if not self._limits.skip_unreadable:
            raise error
        self._errors.setdefault(number, error)

    def _finish(self, number: int, facts: _Facts) -> None:
        """Add a source to `read` and `sources`."""
        source, origin = self._given[number], self._origins[number]
        if error := self._errors.get(number):
            origin = {"path": source.path, "warning": f"source {source.name!r} is skipped: {error}"}
        told = {
            **origin,
            "ids": source.id_field or ROW_NUMBERS,
            "licence": source.licence,
            "read": facts.read,
            "kept": facts.read - facts.dropped.total(),
            "dropped": most_first(facts.dropped),
        }
        changed = (("repaired", facts.repaired), ("recast", facts.recast), ("decimal_commas", facts.decimal_commas))
        told |= {name: rows for name, rows in changed if rows}
        if facts.read and not told["kept"]:
            reasons = ", ".join(f"{reason} {count}" for reason, count in told["dropped"].items())
            told["warning"] = f"source {source.name!r}: none of its {facts.read} rows is kept: {reasons}"
        if facts.commas.shown:
            told["warning"] = "; ".join(
                filter(None, (told.get("warning"), _decimal_comma_warning(source, facts.commas)))
            )
        if not facts.read and source.operations and not error:
            raise SourceError(
                f"source {source.name!r}: no row has a solution of {source.operations[0]} to {source.operations[1]} operations",
                "widen `operations`, or give `equation_field` or `solution_field`",
            )
        self.read += 0 if error else self._sent[number]
        self.sources[source.name] = told


def _decimal_comma_warning(source: Source, commas: DecimalCommas) -> str:
    gold, row = commas.example
    return (
        f"source {source.name!r}: {commas.commas:,} golds have a comma where numbers may have their decimal sign, for example {gold[:60]!r} "
        f"(row {row}), and none has a decimal point; they are read as lists, and as a whole number where three digits follow the comma. "
        "If they are decimal numbers, set `decimal_comma: true` in the source"
    )


class _Facts:
    """What is counted of a source's pieces."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.read = self.repaired = self.recast = self.decimal_commas = 0
        self.dropped: Counter[str] = Counter()
        self.commas = DecimalCommas()

    def count(self, piece: tuple[pa.Table, pa.Table]) -> tuple[pa.Table, pa.Table]:
        """Count a piece, and pass it on."""
        self.read += sum(len(part) for part in piece)
        changed, regolded = (
            sum(len(part) - part.column(name).null_count for part in piece) for name in ("original", "published_answer")
        )
        commas = 0
        if self.source.decimal_comma and regolded:
            golds = (gold for part in piece for gold in part["published_answer"].to_pylist())
            commas = sum(has_decimal_comma(gold) for gold in golds if gold)
        recast = regolded - commas
        self.decimal_commas += commas
        self.recast += recast
        self.repaired += changed - recast
        self.dropped.update(piece[1].column("reason").to_pylist())
        if not self.source.decimal_comma and not self.commas.points:
            for source_id, answer in zip(
                *(piece[0][name].to_pylist() for name in ("source_id", "answer")), strict=True
            ):
                self.commas.add(answer, source_id)
        return piece


class _Spool:
    """Pieces of a source that must be read to its end before it counts, in a temporary file (`TMPDIR`)."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file

    def add(self, piece: tuple[pa.Table, pa.Table]) -> None:
        """Add a piece to the end."""
        for rows in piece:
            with pa.ipc.new_stream(self.file, rows.schema) as stream:
                stream.write(rows)

    def take(self, *, drop: bool) -> Iterator[tuple[pa.Table, pa.Table]]:
        """The pieces, or none, and let go of them."""
        end = 0 if drop else self.file.tell()
        self.file.seek(0)
        while self.file.tell() < end:
            kept, dropped = (pa.ipc.open_stream(self.file).read_all() for _ in range(2))
            yield kept, dropped
        self.file.seek(0)
        self.file.truncate()


def collect_benchmarks(benchmarks: Iterable[Source], limits: Collect, **folders: str | Path) -> Collected:
    """Read held-out benchmarks; `source` is the benchmark's name.

    A benchmark is whole or it is another benchmark: a row that would be dropped from a source is an error here.

    Raises:
        SourceError: as `collect`, and for rows that cannot be used; it names the first few.
    """
    # A benchmark's item is looked for in the sources by its text, whether or not it has a picture.
    collected = collect(
        [benchmark.model_copy(update={"image_field": ""}) for benchmark in benchmarks],
        limits.model_copy(
            update={"allow_licences": [], "skip_unreadable": False, "repair": False, "recast_choices": False}
        ),
        **folders,
    )
    if count := collected.dropped.num_rows:
        named = [
            f"{row['source']}, row {row['source_id']} ({row['reason']}: {row['evidence']})"
            for row in collected.dropped.slice(0, NAMED).to_pylist()
        ]
        more = f"; and {count - NAMED:,} more" if count > NAMED else ""
        raise SourceError(
            f"{count:,} benchmark row{'s are' if count > 1 else ' is'} unusable: {'; '.join(named)}{more}",
            "a benchmark is never shortened: repair the rows, or name the right fields in `collect.benchmarks`",
        )
    return collected


def _rows(source: Source, folders: Mapping[str, Any]) -> tuple[Iterator[tuple[str, str, Row]], dict[str, Any]]:
    """Rows as (place for messages, row number as id, row), and where they come from."""
    if source.hub:
        commit = resolve_commit(source.hub, source.revision)
        origin = {"hub": source.hub, "revision": source.revision, "commit": commit}
        if not is_commit(source.revision):
            origin["warning"] = (
                f"{source.hub}: revision {source.revision!r} can move; pin `revision: {commit}` to repeat this run"
            )
        numbered = ((f"{source.hub}: row {n}", str(n), row) for n, row in hub_rows(source, commit))
        return numbered, origin
    files = data_files(expand(source.path, **folders))
    many = len(files) > 1
    numbered = (
        (f"{file}: row {n}", f"{file.name}:{n}" if many else str(n), row)
        for file in files
        for n, row in file_rows(file)
    )
    return numbered, {"path": source.path, "files": len(files)}


@dataclass(frozen=True)
class _Piece:
    """Some rows of a source: each as published, with its number as id, its own id, and the first row of that id."""

    number: int
    source: Source
    rows: list[tuple[Row, str, str, str]]


def _pieces(number: int, source: Source, rows: Iterator[tuple[str, str, Row]]) -> Iterator[_Piece]:
    """The rows of one source, the checks made that need all of them."""
    if source.adapter not in ADAPTERS:
        raise SourceError(
            f"source {source.name!r}: unknown adapter {source.adapter!r}", f"there are {', '.join(ADAPTERS)}"
        )
    fields = ConfiguredFields(source)
    seen: dict[str, str] = {}
    piece: list[tuple[Row, str, str, str]] = []
    row_number, taken = -1, False
    rows = (row for row in rows if _is_wanted(source, row[0], row[2]))
    counted = reported(rows, total=source.max_rows or None, unit="rows", phase=f"reading {source.name}")
    for row_number, (place, row_id, row) in enumerate(counted):
        if source.max_rows and row_number >= source.max_rows:
            break
        fields.check(row, place)
        source_id = (clean(read_name(row, source.id_field)) or f"#row{row_id}") if source.id_field else row_id
        if not _is_in_part(source_id, source):
            continue
        taken = True
        first = seen.setdefault(source_id, row_id) if source.id_field else row_id  # row numbers never come twice
        piece.append((row, row_id, source_id, first))
        if len(piece) == PIECE:
            yield _Piece(number, source, piece)
            piece = []
    if row_number < 0:
        raise SourceError(
            f"source {source.name!r}: {source.path or source.hub} holds no rows{' that `only` allows' * bool(source.only)}",
            "remove it or fill it",
        )
    fields.finish()
    if not taken:
        raise SourceError(
            f"source {source.name!r}: none of its {row_number + 1} rows is in `part` {source.part}", "widen it"
        )
    if piece:
        yield _Piece(number, source, piece)


def _is_in_part(source_id: str, source: Source) -> bool:
    """Whether a row is in the part of its file that the source reads; sources of one file agree on a row's place."""
    first, end = source.part
    return (first, end) == (0.0, 1.0) or first <= draw_number(source_id, "part") < end


def _has_operations(record: Mapping[str, Any], source: Source) -> bool:
    """Whether a row's solution writes as many operations as the source reads."""
    if not source.operations:
        return True
    fewest, most = source.operations
    return fewest <= count_operations(record["solution"]) <= most


def _is_wanted(source: Source, place: str, row: Row) -> bool:
    """Whether `only` leaves a row in."""
    for name, allowed in source.only.items():
        value = reach(row, name)
        if value is MISSING:
            raise SourceError(
                f"{place} has no field {name!r}, which `only` of source {source.name!r} names",
                f"its fields are {', '.join(row)}",
            )
        if str(value) not in allowed:
            return False
    return True


def _mapped(start: Callable[[], Callable[[_Piece], Any]], pieces: Iterator[_Piece]) -> Iterator[Any]:
    """The pieces through a function: in this process where they are few, since starting others takes longer."""
    first, rows = [], 0
    while rows < SMALL and (piece := next(pieces, None)):
        first.append(piece)
        rows += len(piece.rows)
    return in_processes(start, chain(first, pieces), workers=1 if rows < SMALL else 0)


Recorded = tuple[int, tuple[pa.Table, pa.Table] | SourceError, int]
"""A source's number, kept and dropped rows of a piece of it or why it cannot be read, and how many rows `operations` leaves out."""


def _recorder(limits: Collect) -> Callable[[_Piece], Recorded]:
    def record(piece: _Piece) -> Recorded:
        adapter = ADAPTERS[piece.source.adapter]
        try:
            made = [_record(piece.source, adapter, *row, limits) for row in piece.rows]
        except SourceError as error:
            return piece.number, error, 0
        chosen = [(row, drop) for row, drop in made if _has_operations(row, piece.source)]
        kept, dropped = split(table([record for record, _ in chosen]), [drop for _, drop in chosen], STAGE)
        return piece.number, (kept, dropped), len(made) - len(chosen)

    return record


def _record(
    source: Source, adapter: Adapter, row: Row, row_id: str, source_id: str, first_row: str, limits: Collect
) -> tuple[dict[str, Any], Drop | None]:
    published = as_published = adapter(row, source)
    if limits.repair:
        # The row first: a gold is cut out of texts by marks that damage hides, and stripping takes a form feed for a blank.
        whole = repaired_row(row)
        published = repaired(published if whole is row else adapter(whole, source), whole)
    choice = published
    if limits.recast_choices and (open_question := recast(published.problem or "", published.answer)):
        gold = with_decimal_point(open_question[1]) if source.decimal_comma else open_question[1]
        published = replace(published, problem=open_question[0], answer=gold, alternatives=())
    as_read = choice.comma_answer or (choice.answer if choice is not published else "")
    was_changed = published.problem != as_published.problem
    drop = _verdict(published, source, limits)
    if first_row != row_id:
        drop = Drop(Reason.DUPLICATE_ID, {"source_id": source_id, "row": row_id, "first_row": first_row})
        source_id = f"{source_id}#row{row_id}"  # two rows never share an id, dropped ones included
    record = {
        "id": record_id(source.name, source_id),
        "source": source.name,
        "source_id": source_id,
        # Cut to the limits, which only dropped rows exceed: a 10 MB answer does not belong into the ledger whole.
        "problem": clean(published.problem or "")[: limits.max_problem_chars],
        "original": clean(as_published.problem or "")[: limits.max_problem_chars] if was_changed else None,
        "answer": clean(published.answer)[: limits.max_answer_chars],
        "published_answer": clean(as_read)[: limits.max_answer_chars] or None,
        "alternatives": [clean(gold)[: limits.max_answer_chars] for gold in published.alternatives] or None,
        "tolerance": published.tolerance or None,
        "other_answer": clean(published.other_answer)[: limits.max_answer_chars] or None,
        "solution": clean(published.solution)[: limits.max_solution_chars],
        "licence": clean(published.licence) or source.licence,
        "source_level": clean(published.level),
        "cluster": clean(published.cluster) or None,
    }
    return record, drop


def _verdict(published: Published, source: Source, limits: Collect) -> Drop | None:
    licence = clean(published.licence) or source.licence
    if limits.allow_licences and licence not in limits.allow_licences:
        return Drop(Reason.LICENCE, {"licence": licence, "allowed": limits.allow_licences})
    if published.problem is None:
        return Drop(Reason.UNDECODABLE, {"field": source.problem_field, "needs": "text, or messages with a user's"})
    for field in ("problem", "answer", "solution"):
        length, limit = len(getattr(published, field)), getattr(limits, f"max_{field}_chars")
        if length > limit:
            return Drop(Reason.TOO_LARGE, {"field": field, "characters": length, "limit": limit})
    if not published.problem.strip():
        return Drop(Reason.EMPTY_PROBLEM, {"field": source.problem_field})
    if published.image:
        return Drop(NoiseReason.FIGURE, {"field": source.image_field, "holds": clean(published.image)})
    if not published.answer.strip():
        return Drop(Reason.MISSING_ANSWER, {"fields": [f for f in (source.answer_field, source.solution_field) if f]})
    if is_placeholder(published.answer, published.problem):
        return Drop(
            Reason.PLACEHOLDER_GOLD, {"field": source.answer_field or source.solution_field, "answer": published.answer}
        )
    return None


def repaired(published: Published, whole: Row) -> Published:
    """The row with texts repaired that its file held inside of JSON, where doubled backslashes are right.

    Args:
        published: what the adapter read.
        whole: the repaired row that it read: a text that stands in it as it is needs no second look.
    """
    looked_at = {id(value) for value in whole.values()} if isinstance(whole, dict) else set()

    def again(text: str) -> str:
        return text if id(text) in looked_at and text.lstrip()[:2] not in JSON_STARTS else repair(text)

    return replace(
        published,
        problem=published.problem and again(published.problem),
        answer=again(published.answer),
        alternatives=tuple(map(again, published.alternatives)),
        solution=again(published.solution),
    )


def clean(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates, which JSON can smuggle in, become U+FFFD."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
