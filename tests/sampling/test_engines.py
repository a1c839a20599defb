"""How the cores of a cluster are shared out to engines."""

import pytest

from compass.sampling.pool import share_cores


@pytest.mark.parametrize(
    ("nodes", "engines", "most"),
    [([8], 1, 8), ([8], 3, 2), ([1, 1], 1, 1), ([1, 1], 2, 1), ([16, 4], 2, 8), ([16, 4, 0], 5, 4)],
)
def test_an_engine_gets_no_more_cores_than_one_node_has_for_it(nodes: list[int], engines: int, most: int) -> None:
    assert share_cores(nodes, engines) == most
