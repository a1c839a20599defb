import errno
import hashlib
import json
from pathlib import Path

import pytest

from compass.files import atomic_path, file_digest, folder_digest, write_json


def write_half_and_run_out_of_space(path: Path) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(OSError, match="No space"):
        write_half_and_run_out_of_space(path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_a_written_file_is_readable_by_all_and_nothing_else_is_left(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        assert temporary.parent == tmp_path
        assert not (tmp_path / "a.txt").exists()
    assert (tmp_path / "a.txt").read_text() == "new"
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


def test_json_is_written_for_people_in_folders_that_are_made(tmp_path: Path) -> None:
    write_json(tmp_path / "b/c/a.json", {"x": "½"})
    write_json(tmp_path / "b/c/a.json", {"x": "½", "y": [1]})
    text = (tmp_path / "b/c/a.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"x": "½", "y": [1]}
    assert "½" in text
    assert text.endswith("}\n")


def test_a_folders_digest_follows_names_and_contents_of_what_matches(tmp_path: Path) -> None:
    for name in ("b.safetensors", "a.safetensors", "c.txt"):
        (tmp_path / name).write_text(name)
    listed = "".join(f"{name}\0{file_digest(tmp_path / name)}\n" for name in ("a.safetensors", "b.safetensors"))
    assert file_digest(tmp_path / "c.txt") == hashlib.sha256(b"c.txt").hexdigest()
    assert folder_digest(tmp_path) == hashlib.sha256(listed.encode()).hexdigest()
    assert folder_digest(tmp_path, ("*.txt", "c.*")) != folder_digest(tmp_path)
    assert folder_digest(tmp_path, ("*.txt", "c.*")) == folder_digest(tmp_path, ("c.txt",))
