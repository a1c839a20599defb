"""Local files of every format and compression, and what is said of broken ones."""

from __future__ import annotations

import gzip
import io
import json
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.sources.read import SourceError, data_files, expand, file_rows

ROWS = [{"problem": "What is 1+1?", "answer": "2"}, {"problem": "¿½ + ½?", "answer": "1"}]
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode()


def parquet(table):
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


TWICE = parquet(pa.table([["1?"], ["2"], ["3"]], names=["problem", "answer", "answer"]))


def zstandard(data):
    return pa.compress(data, "zstd", asbytes=True)


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def rows_of(path):
    return [row for _, row in file_rows(path)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.json", "a.JSONL.GZ"])
def test_json_lines_plain_and_compressed(tmp_path, name):
    path = tmp_path / name
    data = gzip.compress(LINES) if name.lower().endswith("gz") else LINES
    path.write_bytes(zstandard(LINES) if name.endswith("zst") else data)
    assert rows_of(path) == ROWS


def test_json_array_of_objects_and_of_conversations(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(ROWS))
    assert rows_of(path) == ROWS
    path.write_text(json.dumps([[{"from": "human", "value": "1+1?"}, {"ground_truth": {"value": "2"}}]]))
    assert rows_of(path) == [{"0": {"from": "human", "value": "1+1?"}, "1": {"ground_truth": {"value": "2"}}}]


def test_zst_longer_than_one_block(tmp_path):
    lines = "".join(json.dumps({"n": n, "text": f"{n * 7919 % 100_003}"}) + "\n" for n in range(60_000)).encode()
    path = write(tmp_path / "a.jsonl.zst", zstandard(lines))
    assert path.stat().st_size > 1 << 18
    assert [row["n"] for row in rows_of(path)] == list(range(60_000))


@pytest.mark.parametrize("name", ["a.csv", "a.csv.zst"])
@pytest.mark.parametrize("separator", [";", "\t"])
def test_csv_columns_may_be_separated_by_semicolons_or_tabs(tmp_path, separator, name):
    text = f'problem{separator}answer\n"1, 2{separator} and?"{separator}3,5\n'
    data = text.encode()
    (tmp_path / name).write_bytes(zstandard(data) if name.endswith("zst") else data)
    assert rows_of(tmp_path / name) == [{"problem": f"1, 2{separator} and?", "answer": "3,5"}]


@pytest.mark.parametrize("line", ["sep=|\n", "SEP=;\r\n", "sep=\t\n", '"sep=;"\n'])
def test_a_first_line_that_names_the_separator_is_no_header(tmp_path, line):
    sign = line.strip('"\r\n')[-1]
    path = write(tmp_path / "a.csv", f'{line}problem, all{sign}answer\n"1{sign}\n2"{sign}3,5\nx\n')
    rows = file_rows(path)
    assert next(rows) == (0, {"problem, all": f"1{sign}\n2", "answer": "3,5"})
    with pytest.raises(SourceError, match=r"row 1 \(line 5\) has 1 values"):
        next(rows)


def test_bytes_of_a_parquet_file_are_text_where_they_are_utf_8(tmp_path):
    row = {"id": b"a-1", "problem": "Wie groß ist 2+3?".encode(), "golds": [b"5", b"V"], "chat": [{"content": b"2+3"}]}
    pictures = {"picture": {"bytes": b"\x89PNG", "path": "a.png"}}
    pq.write_table(pa.Table.from_pylist([row | pictures]), tmp_path / "r.parquet")
    assert rows_of(tmp_path / "r.parquet") == [
        {"id": "a-1", "problem": "Wie groß ist 2+3?", "golds": ["5", "V"], "chat": [{"content": "2+3"}], **pictures}
    ]


def test_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist(ROWS), path)
    assert list(file_rows(path)) == list(enumerate(ROWS))
    assert rows_of(write(tmp_path / "a.parquet.gz", gzip.compress(path.read_bytes()))) == ROWS
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(SourceError, match=r"not a whole parquet file .* read to row 0; copy it again"):
        rows_of(path)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_cut_off_file_names_the_last_whole_row(tmp_path, ending):
    lines = "".join(json.dumps({"problem": f"{n} {hash(n) % 1e9}"}) + "\n" for n in range(20_000)).encode()
    data = gzip.compress(lines) if ending == "gz" else zstandard(lines)
    path = tmp_path / f"a.jsonl.{ending}"
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(SourceError, match=r"a\.jsonl\..* cut off after row \d+ .*copy the file again"):
        rows_of(path)


def test_a_cut_off_file_without_a_whole_row_says_so(tmp_path):
    data = gzip.compress(json.dumps({"problem": "x" * 100}).encode())
    with pytest.raises(SourceError, match="cut off before the end of its first row"):
        rows_of(write(tmp_path / "a.jsonl.gz", data[:-20]))
    one_row = gzip.compress(b'{"problem": 1}\n' + b"".join(b"%d" % (n * n) for n in range(100_000)))
    with pytest.raises(SourceError, match="cut off after row 0"):
        rows_of(write(tmp_path / "b.jsonl.gz", one_row[:-2000]))


def test_files_of_a_folder_by_name(tmp_path):
    for name in ("b.jsonl", "a.csv", "c.parquet.gz", "D.JSON.ZST", "notes.txt", "csv", "jsonl.gz", "x.csv.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "folder.csv").mkdir()
    assert [file.name for file in data_files(tmp_path)] == ["D.JSON.ZST", "a.csv", "b.jsonl", "c.parquet.gz"]
    assert data_files(tmp_path / "a.csv") == [tmp_path / "a.csv"]


def test_an_unset_variable_says_what_to_export(monkeypatch):
    monkeypatch.delenv("COMPASS_DATA", raising=False)
    with pytest.raises(SourceError, match="export COMPASS_DATA=folder"):
        expand("$COMPASS_DATA/raw/x.jsonl")
    monkeypatch.setenv("COMPASS_DATA", "/data")
    assert str(expand("$COMPASS_DATA/x", GENERATED="g")) == "/data/x"
    assert str(expand("$GENERATED/x", GENERATED="g")) == "g/x"
    assert str(expand("$COMPASS_DATA/x", COMPASS_DATA="first")) == "first/x"
    assert expand("~/x") == Path.home() / "x"


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", 'problem,answer\n"say ""hi"",\nthen 1",025\n2,1/2\n', [{"problem": 'say "hi",\nthen 1', "answer": "025"}, {"problem": "2", "answer": "1/2"}]),
        ("a.csv", "problem,a;b\n1,2\n", [{"problem": "1", "a;b": "2"}]),
        ("a.csv", f"problem,answer\n{'x' * 200_000},1\n", [{"problem": "x" * 200_000, "answer": "1"}]),
        ("a.csv", "\ufeffproblem,answer\n1,2\n", [{"problem": "1", "answer": "2"}]),
        ("a.json", ' \n{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ("a.json", ' [{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ("a.jsonl", '{"a": 1}\n\n \n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ("a.jsonl", b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\r\n\n"), ROWS),
        ("a.jsonl.zst", zstandard(LINES) * 2, ROWS * 2),
    ],
    ids=["quotes", "comma first", "long text", "csv mark", "lines", "array", "blank lines", "mark", "frames"],
)  # fmt: skip
def test_rows_are_read_and_numbered_from_0(tmp_path, name, content, rows):
    assert list(file_rows(write(tmp_path / name, content))) == list(enumerate(rows))


MANY = [{"question": f"What is {n} times 7, in all?", "answer": str(n * 7 % 11)} for n in range(60)]
LISTS = [list(row.values()) for row in MANY]
TSV = "".join(f"{asked}\t{gold}\n" for asked, gold in LISTS)
CSV = "".join(f'"{asked}",{gold}\n' for asked, gold in LISTS)
QUOTED = [{"question": f'A 5" pipe, {row["question"]}', "answer": row["answer"]} for row in MANY]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("wrapped.json", json.dumps({"version": 1, "data": MANY})),
        ("wrapped pretty.json", json.dumps({"keywords": "x", "example": MANY}, indent=1)),
        ("wrapped twice.json", json.dumps({"meta": {"n": 60}, "split": {"version": "1", "examples": MANY}})),
        ("pretty.json", json.dumps(MANY, indent=2)),
        ("pretty.jsonl", json.dumps(MANY, indent=2)),
        ("array in lines.json", "[" + ",\n".join(map(json.dumps, MANY)) + "]"),
        ("array of lines.json", "[\n" + "\n,".join(map(json.dumps, MANY)) + "\n]"),
        ("array of a row.json", "[\n" + json.dumps(MANY[0]) + "\n," + ",".join(map(json.dumps, MANY[1:])) + "]"),
        ("array from the first line.json", "[" + json.dumps(MANY[0]) + ",\n" + json.dumps(MANY[1]) + "\n," + ",\n".join(map(json.dumps, MANY[2:])) + "\n]"),
        ("wrapped in lines.json", '{"data":\n' + json.dumps(MANY) + "\n}"),
        ("array in a line.jsonl", json.dumps(MANY)),
        ("concatenated.json", "".join(map(json.dumps, MANY))),
        ("concatenated pretty.jsonl", "\n".join(json.dumps(row, indent=2) for row in MANY)),
        ("lines with commas.json", ",\n".join(map(json.dumps, MANY))),
        ("by column.json", json.dumps({name: [row[name] for row in MANY] for name in MANY[0]})),
        ("by column and row.json", json.dumps({name: {n: row[name] for n, row in enumerate(MANY)} for name in MANY[0]})),
        ("names apart.json", json.dumps({"columns": list(MANY[0]), "index": list(range(60)), "data": LISTS})),
        ("lists with names.json", json.dumps([list(MANY[0]), *LISTS])),
        ("header.tsv", "question\tanswer\n" + TSV),
        ("header.csv", "question,answer\n" + CSV),
        ("tabs.csv", "question\tanswer\n" + TSV),
    ],
)  # fmt: skip
def test_rows_in_every_published_container_are_the_same(tmp_path, name, content):
    assert rows_of(write(tmp_path / name, content)) == MANY


def test_an_array_of_one_row_in_lines(tmp_path):
    assert rows_of(write(tmp_path / "a.json", '[\n{"a": 1}\n]')) == [{"a": 1}]


def test_rows_behind_each_other_take_time_in_proportion(tmp_path):
    """Ten times the rows took a hundred times as long."""
    durations = []
    for count in (5_000, 50_000):
        path = write(tmp_path / "a.json", json.dumps({"text": "x" * 200}) * count)
        begin = time.process_time()
        assert len(rows_of(path)) == count
        durations.append(time.process_time() - begin)
    assert durations[1] < 40 * durations[0]


@pytest.mark.parametrize("dump", [json.dumps, lambda rows: json.dumps(rows, indent=2)], ids=["one line", "pretty"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_rows_by_id_get_their_key_as_id(tmp_path, name, dump):
    rows = {f"p{n}": row for n, row in enumerate(MANY)}
    assert rows_of(write(tmp_path / name, dump(rows))) == [{"_id": key, **row} for key, row in rows.items()]


@pytest.mark.parametrize(("name", "content"), [("a.tsv", TSV), ("a.csv", CSV)])
def test_a_table_whose_first_line_is_a_row_has_no_header(tmp_path, name, content):
    assert rows_of(write(tmp_path / name, content)) == [{"0": asked, "1": gold} for asked, gold in LISTS]


@pytest.mark.parametrize(
    "header", ["0,1", "problem,2023", "What is asked?,answer", "problem,answer (see the notes below)"]
)
def test_a_line_of_names_is_a_header(tmp_path, header):
    assert rows_of(write(tmp_path / "a.csv", f"{header}\nRed or blue or both,red\nUp or down or neither,up\n"))[
        0
    ] == dict(zip(header.split(","), ("Red or blue or both", "red"), strict=True))


def test_quotes_in_tsv_are_text_where_nothing_is_quoted(tmp_path):
    lines = "".join(f"{row['question']}\t{row['answer']}\n" for row in QUOTED)
    assert rows_of(write(tmp_path / "a.tsv", "question\tanswer\n" + lines)) == QUOTED


def test_a_document_of_one_row_and_of_several_lists(tmp_path):
    row = {"messages": [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]}
    assert rows_of(write(tmp_path / "one.json", json.dumps(row, indent=1))) == [row]
    with pytest.raises(SourceError, match=r"`train` \(40 rows, the first with `question`.*`jq '.\[.train.\]' two.json"):
        rows_of(write(tmp_path / "two.json", json.dumps({"test": MANY[40:], "train": MANY[:40]})))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "problem,answer\n1,2\nx, y,3\n", r"row 1 \(line 3\) has 3 values for 2 columns"),
        ("a.csv", "problem,answer\n1\n", r"row 0 \(line 2\) has 1 values for 2 columns"),
        (
            "a.csv",
            "problem,answer\n1,2\nx, y,3\n5,6\n7\na, b,8\n",
            r"row 1 \(line 3\) has 3 .* 2 columns \(and 2 more such rows: line 5, 6\); quote",
        ),
        ("a.csv", 'answer,problem\n1,"a"\n2,"b\n3,c\n4,d\n', r"line 3 cannot .* \(unexpected end of data in line 5\); close"),
        ("a.csv", 'answer,problem\n1,"a\nb"\n2,"b\n3,"c\n4,d\n', r"line 4 cannot .* expected after '\"' in line 5\)"),
        ("a.csv", 'answer,problem\n1,"a" or b\n', r"line 2 cannot .* \(',' expected after '\"'\); close"),
        ("a.tsv", 'answer\tproblem\n1\t"b\n3\tc\tmore\n', r"line 2 cannot .* end of data in line 3"),
        ("a.jsonl", '{"a": 1}\n{"a\n{"a": 2}\nnone\n', r"row 1 is not JSON .* \(and 1 more such row: row 3\); repair"),
        ("a.jsonl", b'{"a": 1}\n{"a\nnone\n"caf\xe9"\n', r"row 1 is not JSON .* \(and 1 more such row: row 2\); repair"),
        ("a.jsonl", '{"a\n{"a": 2}\n{"a\n', r"row 0 is not JSON .* \(and 1 more such row: row 2\); repair"),
        ("a.jsonl", '{"a": 1}\n{"problem": \n', r"row 1 is not JSON .*: '\{\"problem\":'"),
        ("a.jsonl", '{"a": 1}\n3\n', "row 1 holds int '3'"),
        ("a.jsonl", f'{{"a": 1}}\n"{"x" * 70}"\n', f"row 1 holds str '{'x' * 60}';"),
        ("a.jsonl", '{"a": 1}\n' + "[" * 100_000, "row 1 is nested too deeply"),
        ("a.jsonl", LINES + '{"problem": "caf\xe9"}\n'.encode("latin-1"), r"row 2 is not UTF-8 \(byte 0xe9"),
        ("a.jsonl", LINES.decode().encode("utf-16"), "row 0 is not UTF-8 .* `iconv -f UTF-16 "),
        ("a.jsonl.zst", LINES, "broken or cut off before the end of its first row"),
        ("a.json", json.dumps(ROWS)[:-9], "is not JSON"),
        ("a.jsonl", LINES + b'{"answer": ' + b"7" * 10_000 + b"}", "row 2"),
        ("a.csv", "problem,answer,answer\n1,2,3\n", "'answer' twice"),
        ("a.parquet", TWICE, "'answer' twice"),
    ],
    ids=["too many", "too few", "three of five", "two of four", "quote open to the end", "quote open to the next", "text behind a quote", "quote open in tsv", "and a fault of another kind", "first row", "half a row", "number", "text", "deep", "latin-1", "utf-16", "not zstandard", "cut array",
         "long number", "columns", "parquet columns"],
)  # fmt: skip
def test_a_row_that_cannot_be_read_is_named(tmp_path, name, content, message):
    with pytest.raises(SourceError, match=message):
        rows_of(write(tmp_path / name, content))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "the folder holds no jsonl, json, csv, tsv, parquet file"),
        ("none.jsonl", "no such file"),
        ("a.txt", "unknown ending"),
    ],
)
def test_missing_and_unknown_files(tmp_path, name, message):
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(SourceError, match=message):
        data_files(tmp_path / name)
