"""Rows of local files: JSON lines, JSON arrays, CSV and parquet, plain, gzip or zstandard.

    for number, row in file_rows(Path("gsm8k.jsonl.gz")): ...

Text formats are read row by row with the standard library and not by `datasets`: Arrow's JSON and CSV readers want one
type per column and guess it (a gold "025" becomes 25, a file whose answers are partly numbers fails), and their errors
name no row. Parquet goes through Arrow. Every row that cannot be read is a `SourceError` with file and row.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from compass.errors import UserError
from compass.sources.remote import RemotePath, path_or_url

Row = dict[str, Any]

FORMATS = ("jsonl", "json", "csv", "parquet")
COMPRESSIONS = ("gz", "zst")

csv.field_size_limit(2**31 - 1)  # the default of 128 KiB fails on long solutions


class SourceError(UserError):
    """A source that cannot be read; the message names the file or hub id, the row, what was found and what to do."""


def expand(path: str, **folders: str | Path) -> Path | RemotePath:
    """Fill `$NAME` in a path, from `folders` first and the environment second.

    Raises:
        SourceError: the variable is not set.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        folder = str(folders.get(name) or os.environ.get(name, ""))
        if not folder:
            raise SourceError(f"{path}: ${name} is not set", f"`export {name}=folder` with the folder of the files")
        return folder

    filled = path_or_url(re.sub(r"\$(\w+)", value, path))
    return filled.expanduser() if isinstance(filled, Path) else filled


def data_files(path: Path | RemotePath) -> list[Path | RemotePath]:
    """The files of a source: the file itself, or every readable file of a folder, by name.

    Raises:
        SourceError: nothing is there, or a file's name has an unknown ending.
    """
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and _format(file))
        if not files:
            raise SourceError(f"{path}: the folder holds no {', '.join(FORMATS)} file (plain, .gz or .zst)")
        return files
    if not path.exists():
        raise SourceError(f"{path}: no such file", "check its name, and COMPASS_DATA if that is part of it")
    if not path.is_file():
        raise SourceError(f"{path}: is no file but a pipe, socket or device", "write its rows into a file")
    if not _format(path):
        raise SourceError(f"{path}: unknown ending", f"readable are .{', .'.join(FORMATS)}, plain or with .gz or .zst")
    return [path]


def file_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Rows of one file with their numbers, counted from 0; blank lines are no rows.

    Raises:
        SourceError: the file is truncated, is not UTF-8, or a row is not an object.
    """
    readers: dict[str, Callable[[Path], Iterator[tuple[int, Row]]]] = {
        "jsonl": _json_lines,
        "json": _json_array_or_lines,
        "csv": _csv_rows,
        "parquet": _parquet_rows,
    }
    number = -1
    try:
        for number, row in readers[_format(path)](path):
            yield number, as_row(row, f"{path}: row {number}")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        where = f"after row {number}" if number >= 0 else "before the end of its first row"
        raise SourceError(
            f"{path}: compressed data is broken or cut off {where} ({error})", "copy the file again"
        ) from None
    except OSError as error:
        raise SourceError(
            f"{path}: cannot be read after row {number} ({error.strerror or error})",
            "check its permissions and its disk",
        ) from None
    except UnicodeDecodeError as error:
        raise SourceError(
            f"{path}: row {number + 1} is not UTF-8 (byte {error.object[error.start]:#04x}, {error.reason})",
            "convert the file, for example with `iconv -t UTF-8`",
        ) from None


def as_row(row: Any, where: str) -> Row:
    """A row as a dictionary; a list (a bare conversation) gets its positions as names."""
    if isinstance(row, dict):
        return row
    if isinstance(row, list):
        return {str(position): value for position, value in enumerate(row)}
    raise SourceError(
        f"{where} holds {type(row).__name__} {str(row)[:60]!r}", "every row must be an object with fields"
    )


def _format(path: Path) -> str:
    parts = path.name.lower().split(".")
    if parts[-1] in COMPRESSIONS:
        parts.pop()
    return parts[-1] if len(parts) > 1 and parts[-1] in FORMATS else ""


def _open(path: Path) -> BinaryIO:
    name = path.name.lower()
    if name.endswith(".gz"):
        return gzip.open(path if isinstance(path, Path) else path.open(), "rb")
    if name.endswith(".zst"):
        import zstandard

        return _ZstdFile(path, zstandard)
    return path.open("rb")


class _ZstdFile(io.BufferedReader):
    """A zstandard file that, like gzip's, tells a cut-off end from a whole one."""

    def __init__(self, path: Path, zstandard: Any) -> None:
        super().__init__(_ZstdRaw(path, zstandard), buffer_size=1 << 20)


class _ZstdRaw(io.RawIOBase):
    def __init__(self, path: Path, zstandard: Any) -> None:
        self._file = path.open("rb")
        self._zstandard = zstandard
        self._frame: Any = None
        self._pending = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._pending:
            unused = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
            chunk = unused or self._file.read(1 << 18)
            if not chunk:
                if self._frame is not None and not self._frame.eof:
                    raise EOFError("the zstandard frame has no end")
                return 0
            if self._frame is None or self._frame.eof:
                self._frame = self._zstandard.ZstdDecompressor().decompressobj()
            try:
                self._pending = self._frame.decompress(chunk)
            except self._zstandard.ZstdError as error:
                raise EOFError(str(error)) from None
        size = min(len(buffer), len(self._pending))
        buffer[:size] = self._pending[:size]
        self._pending = self._pending[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def _json_lines(path: Path) -> Iterator[tuple[int, Row]]:
    number = 0
    with _open(path) as file:
        for line in file:
            text = line.decode("utf-8-sig" if number == 0 else "utf-8").strip()
            if text:
                yield number, _json(text, f"{path}: row {number}")
                number += 1


def _json_array_or_lines(path: Path) -> Iterator[tuple[int, Row]]:
    with _open(path) as file:
        whole = file.read().decode("utf-8-sig")
    if whole.lstrip()[:1] != "[":
        yield from _json_lines(path)
        return
    rows = _json(whole, str(path))
    # `[1, 2]` alone may be the first of many lines, each a list; an array of rows holds objects or lists.
    yield from enumerate(rows)


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise SourceError(f"{where} is nested too deeply to be read", "remove the row") from None
    except ValueError as error:
        raise SourceError(f"{where} is not JSON ({error}): {text[:60]!r}", "repair or remove it") from None


def _csv_rows(path: Path) -> Iterator[tuple[int, Row]]:
    with _open(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        first = text.readline()
        reader = csv.DictReader(chain([first], text), delimiter=_separator(first))
        try:
            _check_unique(reader.fieldnames or [], path)
            for number, row in enumerate(reader):
                if None in row or None in row.values():
                    cells = sum(len(value) if name is None else value is not None for name, value in row.items())
                    raise SourceError(
                        f"{path}: row {number} (line {reader.line_num}) has {cells} values "
                        f"for {len(reader.fieldnames or [])} columns; quote values that hold a separator or a line break"
                    )
                yield number, row
        except csv.Error as error:
            raise SourceError(f"{path}: line {reader.line_num} is not CSV ({error})", "repair or remove it") from None


def _separator(first_line: str) -> str:
    """What stands between columns: a comma, or the semicolon or tab of a first line without a comma.

    Spreadsheets separate by semicolons where 3.5 is written 3,5.
    """
    return "," if "," in first_line else next((sign for sign in ";\t" if sign in first_line), ",")


def _check_unique(names: Sequence[str], path: Path) -> None:
    """Of two columns of one name a row could hold one alone."""
    if twice := sorted({name for name in names if list(names).count(name) > 1}):
        raise SourceError(f"{path}: has a column {twice[0]!r} twice", "rename or remove one of them")


def _parquet_rows(path: Path) -> Iterator[tuple[int, Row]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        compressed = not path.name.lower().endswith(".parquet")
        whole = path if isinstance(path, Path) else path.open()
        with pq.ParquetFile(io.BytesIO(_open(path).read()) if compressed else whole) as file:
            _check_unique(file.schema_arrow.names, path)
            for batch in file.iter_batches(batch_size=4096):
                for row in batch.to_pylist():
                    yield number, row
                    number += 1
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(
            f"{path}: not a whole parquet file ({error}), read to row {number}", "copy it again"
        ) from None
