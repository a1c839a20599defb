from __future__ import annotations

import numpy as np
import pytest

from compass.curation.spill import spill


@pytest.mark.parametrize("limit", [0, 100, 599, 600, 10_000])
def test_arrays_are_read_back_whole_in_memory_or_from_disk(limit):
    with spill(limit) as held:
        for number in range(10):
            held.append("a", np.arange(number, dtype=np.int64))
            held.append("b", np.full(3, number, dtype=np.uint64))
            held.append("empty", np.empty(0, dtype=np.int64))
        folder = held.folder
        assert held.spilled == (limit < 600)  # 45 + 30 numbers of 8 bytes
        assert len(list(folder.iterdir())) == (3 if held.spilled else 0)
        read = held.read("a")
        assert read.tolist() == [value for number in range(10) for value in range(number)]
        assert isinstance(read, np.memmap) == held.spilled
        assert held.read("b").tolist() == [number for number in range(10) for _ in range(3)]
        assert (held.read("empty").tolist(), read.dtype) == ([], np.int64)
    assert not folder.exists()


def test_files_that_were_not_read_are_closed():
    with spill(0) as held:
        held.append("a", np.arange(3))
        file = held.files["a"]
        assert not file.closed
    assert file.closed
