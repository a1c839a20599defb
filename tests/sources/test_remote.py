"""Files by URL: the rows that the same files give here."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from compass.cli import main
from compass.sources.read import SourceError, data_files, expand, file_rows
from compass.sources.remote import RemoteError, RemotePath, path_or_url

ROWS = [{"problem": f"What is {n} plus {n + 1}?", "answer": str(2 * n + 1)} for n in range(30)]


@pytest.fixture
def store(tmp_path):
    """A bucket in memory with a folder of three formats."""
    lines = "".join(json.dumps(row) + "\n" for row in ROWS)
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "c.parquet")
    memory = fsspec.filesystem("memory")
    for name, content in (
        ("a.jsonl", lines.encode()),
        ("b.jsonl.gz", gzip.compress(lines.encode())),
        ("c.parquet", (tmp_path / "c.parquet").read_bytes()),
        ("readme.txt", b"no rows"),
    ):
        memory.pipe(f"/bucket/set/{name}", content)
    yield "memory://bucket/set"
    memory.rm("/bucket", recursive=True)


def test_every_format_of_a_folder_is_read_by_url(store):
    files = data_files(expand(store))
    assert [file.name for file in files] == ["a.jsonl", "b.jsonl.gz", "c.parquet"]
    for file in files:
        assert [row for _, row in file_rows(file)] == ROWS


def test_what_is_not_there_is_an_error_with_its_url(store):
    with pytest.raises(SourceError, match=r"memory://bucket/set/nothing\.jsonl: no such file"):
        data_files(expand(f"{store}/nothing.jsonl"))
    with pytest.raises(RemoteError, match=r"nosuch://x/y\.jsonl: cannot be opened \(.*nosuch"):
        data_files(expand("nosuch://x/y.jsonl"))


def test_a_file_cut_off_is_told_with_its_row(store):
    fsspec.filesystem("memory").pipe("/bucket/set/b.jsonl.gz", gzip.compress(json.dumps(ROWS * 50).encode())[:60])
    with pytest.raises(SourceError, match=r"memory://bucket/set/b\.jsonl\.gz: compressed data is broken or cut off"):
        list(file_rows(RemotePath(f"{store}/b.jsonl.gz")))


def test_curate_reads_urls_as_it_reads_files(tmp_path, capsys):
    (tmp_path / "one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    kept = []
    for number, source in enumerate((str(tmp_path / "one.jsonl"), f"file://{tmp_path}/one.jsonl")):
        out = tmp_path / f"out-{number}"
        assert main(["curate", source, "--out", str(out)]) == 0
        kept.append((out / "verify" / "kept.parquet").read_bytes())
    assert kept[0] == kept[1]
    assert f"file://{tmp_path}/one.jsonl" in capsys.readouterr().err
    assert isinstance(path_or_url("file:///x"), RemotePath)
    assert path_or_url("x/y") == Path("x/y")
