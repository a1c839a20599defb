"""Rows of local files: JSON lines and documents, CSV, TSV and parquet, plain, gzip or zstandard.

    for number, row in file_rows(Path("gsm8k.jsonl.gz")): ...

What a JSON document holds decides how it is read, whether its name ends in .json or .jsonl: `json_document.py`. A table whose first
line is a row like the others has no header; its columns are called "0", "1", ….

Text formats are read row by row with the standard library and not by `datasets`: Arrow's JSON and CSV readers want one
type per column and guess it (a gold "025" becomes 25, a file whose answers are partly numbers fails), and their errors
name no row. Parquet goes through Arrow. Every row that cannot be read is a `SourceError` with file and row.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from compass.errors import SourceError as SourceError
from compass.sources.json_document import document_rows
from compass.sources.remote import RemotePath, path_or_url

Row = dict[str, Any]

FORMATS = ("jsonl", "json", "csv", "tsv", "parquet")
COMPRESSIONS = ("gz", "zst")

CUT_OFF = (EOFError, zlib.error, gzip.BadGzipFile)
"""What reading compressed data raises that is broken or not whole."""

NAMED_ROWS = 10
"""Further faulty rows of a file that a message names."""

csv.field_size_limit(2**31 - 1)  # the default of 128 KiB fails on long solutions


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
        "jsonl": _json_rows,
        "json": _json_rows,
        "csv": _csv_rows,
        "tsv": _tsv_rows,
        "parquet": _parquet_rows,
    }
    number = -1
    try:
        for number, row in readers[_format(path)](path):
            yield number, as_row(row, f"{path}: row {number}")
    except CUT_OFF as error:
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
        is_wide = number < 0 and error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        raise SourceError(
            f"{path}: row {number + 1} is not UTF-8 (byte {error.object[error.start]:#04x}, {error.reason})",
            f"convert the file; one that Excel wrote with `iconv -f {'UTF-16' if is_wide else 'WINDOWS-1252'} -t UTF-8 FILE > NEW`",
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


def as_texts(value: Any) -> Any:
    """A value whose bytes are text where they are UTF-8, as Arrow's tables may hold text; others, such as a picture's, stay bytes."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, list):
        return [as_texts(part) for part in value]
    return {name: as_texts(part) for name, part in value.items()} if isinstance(value, dict) else value


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
        return io.BufferedReader(_Zstandard(path.open("rb")))
    return path.open("rb")


class _Zstandard(io.RawIOBase):
    """A zstandard file that raises gzip's EOFError for a cut-off end."""

    def __init__(self, file: BinaryIO) -> None:
        import pyarrow as pa

        self._stream = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return self._stream.readinto(buffer)
        except OSError as error:
            if error.errno is not None:  # of the disk, and not Arrow's about what it read
                raise
            raise EOFError(str(error)) from None

    def close(self) -> None:
        self._stream.close()
        super().close()


def _json_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """JSON lines where the first line is a value and another line follows, else one document or several, one behind the other.

    JSON lines, too, where only the second line is a value and the whole is neither an array nor values: the first row is broken.
    """
    with _open(path) as file:
        lines = ((number, text) for number, line in enumerate(file) if (text := _decoded(line, number)))
        if (first := next(lines, None)) is None:
            return
        try:
            second = next(lines, None)
        except CUT_OFF:  # the first row is whole
            yield 0, _json(first[1], f"{path}: row 0")
            raise
        if second is not None and _is_json(first[1]):
            yield from _json_lines(enumerate(chain((first[1], second[1]), (text for _, text in lines))), path)
            return
    with _open(path) as file:
        whole = file.read().decode("utf-8-sig")
    try:
        values = _json_values(whole, path)
    except SourceError:
        if second is None or first[1].startswith("[") or not _is_json(second[1]):
            raise
        yield from _json_lines(enumerate(filter(None, map(str.strip, whole.split("\n")))), path)
    else:
        yield from enumerate(document_rows(values, path))


def _json_lines(rows: Iterator[tuple[int, str]], path: Path) -> Iterator[tuple[int, Row]]:
    for number, text in rows:
        try:
            row = _json(text, f"{path}: row {number}")
        except SourceError as error:
            others = _say_others((other for other, text in rows if not _is_json(text)), "row")
            raise SourceError(f"{error.message}{others}", error.remedy) from None
        yield number, row


def _decoded(line: bytes, number: int) -> str:
    return line.decode("utf-8-sig" if number == 0 else "utf-8").strip()


def _is_json(text: str) -> bool:
    """Whether a line is an object or a list by itself."""
    try:
        return isinstance(json.loads(text), dict | list)
    except RecursionError:
        return True
    except ValueError:
        return False


def _json_values(whole: str, path: Path) -> list[Any]:
    """The JSON values that follow each other in a text; an error names the one that is none."""
    decoder, values, position = json.JSONDecoder(), [], 0
    while (begin := _skip_gap(whole, position)) < len(whole):
        try:
            value, position = decoder.raw_decode(whole, begin)
        except (ValueError, RecursionError):
            where = f"{path}: row {len(values)}" if values or whole[begin] != "[" else str(path)
            value = _json(whole[begin:], where)
        values.append(value)
    return values


_GAP = re.compile(r"[\s,]*")


def _skip_gap(text: str, position: int) -> int:
    """The position behind blanks and commas."""
    found = _GAP.match(text, position)
    return found.end() if found else position


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise SourceError(f"{where} is nested too deeply to be read", "remove the row") from None
    except ValueError as error:
        raise SourceError(f"{where} is not JSON ({error}): {text[:60]!r}", "repair or remove it") from None


def _say_others(faulty: Iterator[int], unit: str) -> str:
    """The other rows of a file with the same kind of fault, so that all can be repaired at once."""
    numbers = []
    with suppress(SourceError, UnicodeDecodeError, *CUT_OFF):  # what ends the reading later is not what is told first
        numbers += faulty
    if not numbers:
        return ""
    named = ", ".join(map(str, numbers[:NAMED_ROWS])) + (", …" if len(numbers) > NAMED_ROWS else "")
    return f" (and {len(numbers):,} more such row{'s' * (len(numbers) > 1)}: {unit} {named})"


def _csv_rows(path: Path) -> Iterator[tuple[int, Row]]:
    with _open(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        first = text.readline()
        if said := _SEPARATOR_LINE.fullmatch(first):
            lines, separator = chain(["\n"], text), said[1]  # an empty line keeps the others' numbers
        else:
            lines, separator = chain([first], text), _separator(first)
        yield from _named_cells(_quoted_cells(lines, separator, path), path)


_SEPARATOR_LINE = re.compile(r"\"?sep=([^\r\n])\"?\r?\n?", re.I)
"""The first line of a CSV by which Excel tells what stands between columns."""


def _tsv_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Lines cut at their tabs where all have as many, since most publishers quote nothing; else CSV with tabs."""
    with _open(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as text:
        whole = text.read()
    lines = [line.rstrip("\r") for line in whole.split("\n") if line.strip("\r")]
    if len({line.count("\t") for line in lines}) == 1:
        cells = ((number, [_unquoted(cell) for cell in line.split("\t")]) for number, line in enumerate(lines, 1))
        yield from _named_cells(cells, path)
        return
    yield from _named_cells(_quoted_cells(io.StringIO(whole, newline=""), "\t", path), path)


def _quoted_cells(lines: Iterable[str], separator: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row of a CSV, with the number of the row's last line.

    Raises:
        SourceError: a quote is not closed, or text follows a closed one; names the line in which the row begins.
    """
    reader = csv.reader(lines, delimiter=separator, strict=True)
    begin = 1
    try:
        for cells in reader:
            if cells:
                yield reader.line_num, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        later = f" in line {reader.line_num}" if reader.line_num > begin else ""
        raise SourceError(
            f"{path}: line {begin} cannot be read as CSV ({error}{later})",
            "close its quotes, and write a quote inside of a quoted value twice",
        ) from None


def _unquoted(cell: str) -> str:
    inner = cell[1:-1]
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if quoted else cell


def _named_cells(lines: Iterator[tuple[int, list[str]]], path: Path) -> Iterator[tuple[int, Row]]:
    """The rows of a table, its cells called as the first line says, or by their positions where that is a row itself."""
    looked = list(islice(lines, LOOKED_AT))
    if not looked:
        return
    first = looked[0][1]
    if _is_row(first, [cells for _, cells in looked[1:]]):
        names, rows = [str(position) for position in range(len(first))], chain(looked, lines)
    else:
        names, rows = first, chain(looked[1:], lines)
    _check_unique(names, path)
    for number, (line, cells) in enumerate(rows):
        if len(cells) != len(names):
            others = _say_others((other for other, cells in rows if len(cells) != len(names)), "line")
            raise SourceError(
                f"{path}: row {number} (line {line}) has {len(cells)} values for {len(names)} columns{others}",
                "quote values that hold a separator or a line break",
            )
        yield number, dict(zip(names, cells, strict=True))


LOOKED_AT = 50
"""Lines of a table that are looked at to tell whether the first is a header."""

_NUMBER = re.compile(r"[-+]?\$?\d[\d.,/]*%?")


def _is_row(first: Sequence[str], others: Sequence[Sequence[str]]) -> bool:
    """Whether the first line of a table is a row: a cell is a number, or a whole text, as most cells below it are."""
    if list(first) == [str(position) for position in range(len(first))]:
        return False  # positions as names, as pandas writes them
    for position, cell in enumerate(first):
        below = [cells[position] for cells in others if position < len(cells)]
        for is_kind in (_is_number, _is_text):
            if below and is_kind(cell) and 2 * sum(map(is_kind, below)) > len(below):
                return True
    return False


def _is_number(cell: str) -> bool:
    return bool(_NUMBER.fullmatch(cell.strip()))


def _is_text(cell: str) -> bool:
    """Whether a cell is a sentence or longer, which no column's name is."""
    words = cell.split()
    return (
        len(cell) > 60
        or (len(words) > 3 and cell.rstrip()[-1:] in (".", "?", "!"))
        or cell.rstrip()[-1:] in ("。", "？")
    )


def _separator(first_line: str) -> str:
    """What stands between columns: a comma, or the semicolon or tab of a first line without a comma outside of quotes.

    Spreadsheets separate by semicolons where 3.5 is written 3,5.
    """
    bare = re.sub(r'"[^"]*"', "", first_line)
    return "," if "," in bare else next((sign for sign in ";\t" if sign in bare), ",")


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
            has_bytes = "binary" in str(file.schema_arrow)
            for batch in file.iter_batches(batch_size=4096):
                for row in batch.to_pylist():
                    yield number, as_texts(row) if has_bytes else row
                    number += 1
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(
            f"{path}: not a whole parquet file ({error}), read to row {number}", "copy it again"
        ) from None
