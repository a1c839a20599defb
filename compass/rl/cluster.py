"""What verl reserves of a Ray cluster, and whether the cluster has it. verl waits for ever for what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from compass.errors import UserError

if TYPE_CHECKING:
    from omegaconf import DictConfig

CPUS_PER_RANK = 3
"""verl's resource pool reserves one CPU for each of three workers that may share a GPU."""


class ClusterError(UserError):
    """A Ray cluster that is too small for a stage."""


def cpus_reserved(ranks: int, storage_units: int) -> int:
    """CPUs that verl's processes reserve: three per rank, one per storage unit of the transfer queue and for its
    controller, and one that must be free whenever another process is placed."""
    return CPUS_PER_RANK * ranks + storage_units + 2


def reserved(config: DictConfig) -> dict[str, int]:
    """CPUs and GPUs that verl's processes reserve under a complete configuration."""
    ranks = config.trainer.nnodes * config.trainer.n_gpus_per_node
    units = config.transfer_queue.backend.SimpleStorage.num_data_storage_units
    return {"CPU": cpus_reserved(ranks, units), "GPU": ranks}


def check_cluster(config: DictConfig, available: Mapping[str, float]) -> None:
    """Check that a cluster has what verl will reserve.

    Args:
        config: the complete configuration.
        available: the cluster's resources, as `ray.cluster_resources()` gives them.

    Raises:
        ClusterError: it lacks some; the message says what and how much.
    """
    for name, needed in reserved(config).items():
        found = int(available.get(name, 0))
        if found < needed:
            remedy = {
                "CPU": "join nodes with more cores, start them with `ray start --num-cpus`, or use fewer GPUs",
                "GPU": "set `rl.resources.gpus` (per node) and `rl.resources.nodes` to what is there",
            }[name]
            raise ClusterError(f"the Ray cluster has {found} {name}s and the stage needs {needed}: {remedy}")
