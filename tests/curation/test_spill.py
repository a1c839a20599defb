from __future__ import annotations

import numpy as np

from compass.curation.spill import spill


def test_arrays_are_read_back_whole_and_in_chunks():
    with spill() as held:
        for number in range(10):
            held.append("a", np.arange(number, dtype=np.int64))
            held.append("b", np.full((3, 2), number, dtype=np.uint64)[:, 0])
            held.append("empty", np.empty(0, dtype=np.int64))
        folder = held.folder
        a = [value for number in range(10) for value in range(number)]
        assert held.read("a").tolist() == a
        assert [chunk.tolist() for chunk in held.chunks("a", 40)] == [a[:40], a[40:]]
        assert held.read("b").tolist() == [number for number in range(10) for _ in range(3)]
        read = held.read("empty")
        assert (read.tolist(), read.dtype, list(held.chunks("empty", 40))) == ([], np.int64, [])
        file = held.files["a"]
    assert file.closed
    assert not folder.exists()
