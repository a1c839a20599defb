"""Files that are downloaded: resumed, checked, taken from a mirror; from a server on this machine that cuts off when it is asked to."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from compass.sources import download as module
from compass.sources.download import DownloadError, download, download_set
from compass.sources.published_files import Published, PublishedSet
from tests.conftest import ROOT

ROWS = [{"question": f"What is {n} + {n}?", "answer": str(2 * n)} for n in range(3_000)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


class Handler(BaseHTTPRequestHandler):
    """Serves `files`, with ranges; `cuts` says after how many bytes each of the next answers ends."""

    def do_GET(self) -> None:
        content = self.server.files.get(self.path)
        asked = self.headers.get("range")
        self.server.asked.append((self.path, asked))
        if content is None:
            self._answer(404, b"")
            return
        begin = int(asked.removeprefix("bytes=").partition("-")[0]) if asked and self.server.ranges else 0
        if begin >= len(content) > 0 and begin:
            self._answer(416, b"", {"content-range": f"bytes */{len(content)}"})
            return
        partial = {"content-range": f"bytes {begin}-{len(content) - 1}/{len(content)}"} if begin else {}
        self._answer(206 if begin else 200, content[begin:], partial)

    def do_HEAD(self) -> None:
        """What the hub says of a file: its commit, and a mark of its content."""
        content = self.server.files.get(self.path)
        self.send_response(404 if content is None else 200)
        for name, value in {
            "x-repo-commit": self.path.split("/")[5],
            "etag": '"1"',
            "content-length": str(len(content or b"")),
        }.items():
            self.send_header(name, value)
        self.end_headers()

    def _answer(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        cut = self.server.cuts.pop(0) if self.server.cuts else len(content)
        self.wfile.write(content[:cut])
        if cut < len(content):
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadingHTTPServer]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.files, made.asked, made.cuts, made.ranges = {"/set.jsonl": LINES}, [], [], True
    made.url = f"http://127.0.0.1:{made.server_address[1]}"
    threading.Thread(target=made.serve_forever, daemon=True).start()
    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=lambda _: None))
    yield made
    made.shutdown()
    made.server_close()


def published(
    server: ThreadingHTTPServer, content: bytes = LINES, name: str = "set.jsonl", **added: object
) -> Published:
    return Published(f"{server.url}/{name}", len(content), hashlib.sha256(content).hexdigest(), added)


def test_a_download_that_is_cut_off_goes_on_where_it_was(server, tmp_path: Path) -> None:
    server.cuts = [1_000, 50_000]
    file = download(published(server), tmp_path)
    assert file.read_bytes() == LINES
    assert [asked for _, asked in server.asked] == [None, "bytes=1000-", "bytes=51000-"]
    assert not list(tmp_path.rglob("*.part"))
    download(published(server), tmp_path)
    assert len(server.asked) == 3, "what is whole is not asked for again"


def test_a_later_call_goes_on_as_well(server, tmp_path: Path) -> None:
    server.cuts = [100] * module.TRIES
    with pytest.raises(DownloadError, match=rf"cut off after 500 bytes of {len(LINES):,} .*run the command again"):
        download(published(server), tmp_path)
    download(published(server), tmp_path)
    assert server.asked[-1][1] == "bytes=500-"


def test_a_server_without_ranges_is_asked_for_all_again(server, tmp_path: Path) -> None:
    server.cuts, server.ranges = [700], False
    assert download(published(server), tmp_path).read_bytes() == LINES


def test_the_beginning_of_another_file_is_thrown_away(server, tmp_path: Path) -> None:
    one = published(server)
    part = tmp_path / one.url.removeprefix("http://").replace("set.jsonl", "set.jsonl.part")
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * (len(LINES) + 5))
    assert download(one, tmp_path).read_bytes() == LINES
    unknown = Published(one.url.replace("set.jsonl", "other.jsonl"))
    server.files["/other.jsonl"] = LINES
    part.with_name("other.jsonl.part").write_bytes(LINES)
    assert download(unknown, tmp_path).read_bytes() == LINES, "all of it was there"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (LINES[:-2] + b"x\n", "is another file than the published one: expected .* found"),
        (LINES + b"{}\n", r"longer than [\d,]+ bytes, and so another file"),
        (LINES[:-9], "is another file than the published one"),
    ],
)
def test_another_file_is_refused_and_not_kept(content: bytes, said: str, server, tmp_path: Path) -> None:
    server.files["/set.jsonl"] = content
    whole = PublishedSet("mine", "raw/mine.jsonl.gz", len(ROWS), "MIT", (published(server),))
    with pytest.raises(DownloadError, match=said):
        download_set(whole, tmp_path)
    assert not (tmp_path / "raw/mine.jsonl.gz").exists()
    assert not list(tmp_path.rglob("set.jsonl"))


def test_a_missing_file_is_no_reason_to_try_again(server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="the server answers 404 Not Found; check your access, or give --mirror"):
        download(published(server, name="gone.jsonl"), tmp_path)
    assert len(server.asked) == 1


def test_a_set_of_several_files_is_one_with_the_fields_it_is_given(server, tmp_path: Path) -> None:
    packed = tmp_path / "two.jsonl.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("two.jsonl", '{"question": "Why?", "answer": "1"}\n')
    server.files |= {"/two.jsonl.zip": packed.read_bytes()}
    files = published(server, level=1), published(server, packed.read_bytes(), "two.jsonl.zip", level=2)
    out = tmp_path / "out"
    target = download_set(PublishedSet("mine", "raw/mine.jsonl.gz", len(ROWS) + 1, "MIT", files), out)
    rows = [json.loads(line) for line in gzip.decompress(target.read_bytes()).splitlines()]
    assert rows == [row | {"level": 1} for row in ROWS] + [{"question": "Why?", "answer": "1", "level": 2}]
    assert [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()] == ["raw/mine.jsonl.gz"]
    with pytest.raises(DownloadError, match="expected 7 rows, found 3,001"):
        download_set(PublishedSet("mine", "raw/other.jsonl.gz", 7, "MIT", files), out)


def test_a_mirror_is_a_folder_or_a_server(server, tmp_path: Path) -> None:
    one = Published("https://example.invalid/a/set.jsonl", len(LINES), hashlib.sha256(LINES).hexdigest())
    server.files["/mirror/example.invalid/a/set.jsonl"] = LINES
    assert download(one, tmp_path / "one", f"{server.url}/mirror").read_bytes() == LINES
    kept = tmp_path / "mirror/example.invalid/a"
    kept.mkdir(parents=True)
    (kept / "set.jsonl").write_bytes(LINES)
    assert download(one, tmp_path / "two", str(tmp_path / "mirror")).read_bytes() == LINES
    with pytest.raises(DownloadError, match="the mirror has no such file"):
        download(Published("https://example.invalid/b.jsonl"), tmp_path / "two", str(tmp_path / "mirror"))


def test_a_file_of_the_hub_comes_by_the_hub_s_own_library(server, tmp_path: Path) -> None:
    revision = "6e4ed1a2a79af7d8630a6b768ec859cb5af4d3be"
    server.files[f"/datasets/owner/name/resolve/{revision}/data/test.jsonl"] = LINES
    code = (
        "import sys; from pathlib import Path; from compass.sources.download import download_file; "
        "from compass.sources.published_files import Published; "
        "download_file(Published(sys.argv[1]), Path('out/test.jsonl'), Path('out'))"
    )
    url = f"https://huggingface.co/datasets/owner/name/resolve/{revision}/data/"
    environment = os.environ | {"HF_ENDPOINT": server.url, "PYTHONPATH": str(ROOT), "HF_HOME": str(tmp_path / "hub")}

    def run(name: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-c", code, url + name]
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)

    done = run("test.jsonl")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/test.jsonl").read_bytes() == LINES
    assert [path.name for path in (tmp_path / "out").rglob("*")] == ["test.jsonl"], "nothing else is left"
    assert "cannot be had from the hub" in run("gone.jsonl").stderr
