import errno
from pathlib import Path

import pytest

from compass.files import atomic_path


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
