"""What the test of two nodes runs on the first one: `python tests/rl/train_on_nodes.py POLICY WORK STEPS RESULT`.

Trains, and writes the metrics and what is then left on the Ray cluster; or what the stage says of its failure.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from several import run, stage  # this file runs as a script, and its folder is on the path

from compass.errors import UserError


def main(policy: Path, work: Path, steps: int, result: Path) -> None:
    try:
        told: dict[str, Any] = {"rows": run(policy, work, stage(steps, nodes=2))}
    except UserError as error:
        told = {"error": str(error)}
    told |= left()
    result.write_text(json.dumps(told))


def left() -> dict[str, Any]:
    """The cluster after a stage: nodes that are alive, actors that live, placement groups that are not removed, resources in use."""
    import ray
    from ray._private.state import actors
    from ray.util import placement_group_table

    ray.init(address="auto", log_to_driver=False)
    try:
        total, free = ray.cluster_resources(), ray.available_resources()
        return {
            "nodes": sum(node["Alive"] for node in ray.nodes()),
            "actors": [actor["ActorClassName"] for actor in actors().values() if actor["State"] != "DEAD"],
            "groups": [name for name, group in placement_group_table().items() if group["state"] != "REMOVED"],
            "used": {
                name: total[name] - free.get(name, 0) for name in ("CPU", "GPU") if total[name] != free.get(name, 0)
            },
        }
    finally:
        ray.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
