"""`compass data`: what a profile names is brought to where it looks, from a mirror on this machine."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest
import yaml

from compass.cli import main
from compass.commands.data import find_wanted
from compass.sources import published_files
from compass.sources.published_files import Published, PublishedSet
from tests.conftest import ROOT, changed_profile

SUMS = "".join(json.dumps({"question": f"What is {n} + 1?", "answer": str(n + 1)}) + "\n" for n in range(50)).encode()
AIME = [{"problem": f"What is {n} + 100?", "answer": n + 100} for n in range(30)]


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a mirror of one published set and of one benchmark that is another one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COMPASS_DATA", raising=False)
    file = Published("https://example.invalid/sums.jsonl", len(SUMS), hashlib.sha256(SUMS).hexdigest())
    sums = PublishedSet("sums", "raw/sums.jsonl.gz", 50, "CC0-1.0", (file,))
    monkeypatch.setattr(published_files, "PUBLISHED_SETS", (sums,))
    host = tmp_path / "mirror/example.invalid"
    host.mkdir(parents=True)
    (host / "sums.jsonl").write_bytes(SUMS)
    raw = tmp_path / "mirror/raw.githubusercontent.com/agentica-project/deepscaler"
    aime = raw / "95ef74ffee001cce89463f2d61dfdce1d03576c1/deepscaler/data/test/aime.json"
    aime.parent.mkdir(parents=True)
    aime.write_text(json.dumps(AIME))
    return tmp_path / "mirror"


def test_a_set_is_brought_and_found_by_who_reads_it(mirror: Path, capsys) -> None:
    assert main(["data", "get", "sums", "--out", "files", "--mirror", str(mirror)]) == 0
    out = capsys.readouterr().out
    assert "sums: files/raw/sums.jsonl.gz (0.0 MB); licence: CC0-1.0" in out
    assert f"export COMPASS_DATA={Path('files').resolve()}" in out
    assert main(["data", "get", "sums", "--out", "files", "--mirror", "nowhere"]) == 0
    assert "sums: is here, files/raw/sums.jsonl.gz" in capsys.readouterr().out
    assert main(["curate", "files/raw/sums.jsonl.gz", "--out", "curated"]) == 0


def test_a_profile_brings_all_that_has_an_address_and_names_the_rest(mirror: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COMPASS_DATA", "files")
    sources = [
        {"name": "sums", "path": "$COMPASS_DATA/raw/sums.jsonl.gz"},
        {"name": "own", "path": "$COMPASS_DATA/raw/own.jsonl"},
        {"name": "near", "path": "near.jsonl"},
    ]
    Path("profiles").mkdir()
    Path("profiles/mine.yaml").write_text(
        yaml.safe_dump(
            changed_profile(
                "tiny",
                {"collect.generate": None, "collect.sources": sources, "collect.benchmarks": [{"name": "aime-2024"}]},
            )
        )
    )
    assert main(["data", "get", "mine", "--mirror", str(mirror)]) == 1
    out, err = capsys.readouterr()
    assert "sums: files/raw/sums.jsonl.gz" in out
    assert "near" not in out + err
    assert "own: $COMPASS_DATA/raw/own.jsonl has no public address here; docs/reference/sources.md" in err
    assert "aime-2024: https://raw.githubusercontent.com/agentica-project/" in err
    assert "is not the published set, and was not kept: " in err
    assert "expected the content hash" in err
    assert not list(Path("files").rglob("aime.json"))


def test_what_is_not_known_is_told_with_the_nearest_name(mirror: Path, capsys, monkeypatch) -> None:
    assert main(["data", "get", "summs", "--out", "files"]) == 1
    assert (
        "no data set, benchmark or profile is called 'summs'; did you mean `compass data get sums`?"
        in capsys.readouterr().err
    )
    assert main(["data", "get", "sums"]) == 1
    assert "COMPASS_DATA is not set; give --out FOLDER" in capsys.readouterr().err
    Path("file").touch()
    assert main(["data", "get", "sums", "--out", "file"]) == 1
    assert "file: is a file; name a folder" in capsys.readouterr().err


def test_the_list_says_what_is_here(mirror: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COMPASS_DATA", "files")
    main(["data", "get", "sums", "--mirror", str(mirror)])
    capsys.readouterr()
    assert main(["data", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["sums"] == {
        "name": "sums", "kind": "training", "rows": 50, "bytes": len(SUMS), "licence": "CC0-1.0", "here": True,
    }  # fmt: skip
    assert rows["math-500"]["here"] is False
    main(["data", "list"])
    assert "math-500             benchmark    500 rows" in capsys.readouterr().out


def test_every_file_of_the_profile_small_has_an_address(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(ROOT)
    found = find_wanted("small", tmp_path, "")
    collect = yaml.safe_load(Path("profiles/small.yaml").read_text())["collect"]
    assert len(found) == len(collect["sources"]) + len(collect["benchmarks"])
    assert all("refuse" not in one.get.__qualname__ for one in found)


def test_a_profile_that_lacks_its_folder_names_the_command(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COMPASS_DATA", raising=False)
    shutil.copytree(ROOT / "profiles", "profiles")
    assert main(["profile", "use", "small"]) == 0
    assert "`compass data get small --out FOLDER` downloads them" in capsys.readouterr().out
    assert main(["profile", "use", "tiny", "--force"]) == 0
    assert "COMPASS_DATA" not in capsys.readouterr().out
