"""What verl reserves of a Ray cluster, and what is said of a cluster that has less."""

import pytest
from omegaconf import OmegaConf

from compass.rl.cluster import ClusterError, check_cluster, reserved


def config(ranks: int, nodes: int, units: int):
    return OmegaConf.create(
        {
            "trainer": {"nnodes": nodes, "n_gpus_per_node": ranks},
            "transfer_queue": {"backend": {"SimpleStorage": {"num_data_storage_units": units}}},
        }
    )


@pytest.mark.parametrize(
    ("ranks", "nodes", "units", "cpus"),
    [(1, 1, 1, 6), (1, 1, 2, 7), (8, 1, 2, 28), (8, 2, 4, 54)],
)
def test_what_is_reserved(ranks: int, nodes: int, units: int, cpus: int) -> None:
    assert reserved(config(ranks, nodes, units)) == {"CPU": cpus, "GPU": ranks * nodes}
    check_cluster(config(ranks, nodes, units), {"CPU": float(cpus), "GPU": float(ranks * nodes), "memory": 1.0})


@pytest.mark.parametrize(
    ("available", "told"),
    [
        ({"CPU": 27.0, "GPU": 8.0}, "has 27 CPUs and the stage needs 28: join nodes with more cores"),
        ({"CPU": 64.0, "GPU": 4.0}, "has 4 GPUs and the stage needs 8: set `rl.resources.gpus` (per node)"),
        ({"CPU": 64.0}, "has 0 GPUs and the stage needs 8"),
    ],
)
def test_a_cluster_that_is_too_small_is_told(available: dict[str, float], told: str) -> None:
    with pytest.raises(ClusterError) as error:
        check_cluster(config(8, 1, 2), available)
    assert told in str(error.value)
