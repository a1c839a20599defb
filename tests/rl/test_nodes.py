"""Two Ray nodes on this machine, started by the script for Slurm: a stage joins them, trains, and leaves them as they were.

`srun` and `scontrol` are stand-ins that run on this machine what Slurm would run on its nodes; Ray, verl and vLLM are real.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.rl.several import ROOT, assert_same_training, make_policy, run, stage

SCRIPT = ROOT / "packaging/compass.sbatch"
PORT = "6300"
STEPS = 2
PATIENT = {"RAY_raylet_start_wait_time_s": "300"}
"""A busy machine needs longer than Ray's half a minute to start a node."""

SRUN = """#!/bin/bash
# Run what Slurm would run on a node; two Ray nodes on one machine need folders and ports of their own.
while [[ $1 == --* ]]; do [[ $1 == --nodelist=* ]] && node=${1#*=}; shift; done
[[ $1 == hostname ]] && exec echo 127.0.0.1
own=(--temp-dir "$NODES/$node" --num-cpus 12 --object-store-memory 200000000)
[[ $node == one ]] && own+=(--min-worker-port 6310 --max-worker-port 6349)
[[ $node == two ]] && own+=(--min-worker-port 6350 --max-worker-port 6389 --node-ip-address 127.0.0.1)
echo $$ > "$NODES/$node.pid"
exec "$@" --node-name "$node" "${own[@]}"
"""


def test_bash_can_read_the_script_for_slurm() -> None:
    subprocess.run(["bash", "-n", SCRIPT], check=True)


def test_a_job_whose_head_does_not_start_ends(tmp_path: Path) -> None:
    fails = "#!/bin/bash\n[[ $* == *hostname* ]] && echo 127.0.0.1 || exit 3\n"
    for name, text in {"srun": fails, "scontrol": "#!/bin/bash\necho one\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    port = {"RAY_PORT": "6399", "SLURM_JOB_NODELIST": "one"}
    environment = {**os.environ, **port, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", SCRIPT, "true"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "Ray's head did not start on one" in done.stderr


class Nodes:
    """The two nodes' folders, and the script that starts them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in {"srun": SRUN, "scontrol": "#!/bin/bash\nprintf 'one\\ntwo\\n'\n"}.items():
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        (folder / "hosts").touch()

    def start(self, *command: str) -> subprocess.Popen:
        """The script with a command, in a session of its own."""
        path = os.pathsep.join([str(self.folder), str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        slurm = {"SLURM_JOB_NODELIST": "[one-two]", "SLURM_GPUS_ON_NODE": "1", "RAY_PORT": PORT}
        ours = {**PATIENT, "PATH": path, "NODES": str(self.folder), "PYTHONPATH": str(ROOT), **slurm}
        return subprocess.Popen(
            ["bash", str(SCRIPT), *command],
            cwd=ROOT,
            env=environment | ours,
            start_new_session=True,
            stdout=(self.folder / "script.log").open("ab"),
            stderr=subprocess.STDOUT,
        )

    def processes(self) -> list[psutil.Process]:
        """What runs of the two nodes: Ray's processes name their folder, its workers stand below them."""
        found = [one for one in psutil.process_iter() if str(self.folder) in " ".join(_words(one))]
        return [*found, *(child for one in found for child in _children(one))]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def _children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


@pytest.fixture
def nodes() -> Iterator[Nodes]:
    folder = Path(tempfile.mkdtemp(prefix="rn", dir="/tmp"))  # a socket's path must be short
    made = Nodes(folder)
    yield made
    for process in made.processes():
        if process.is_running():
            process.kill()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def policy(finished_debug: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_policy(finished_debug, tmp_path_factory.mktemp("policy"))


def wait(process: subprocess.Popen, nodes: Nodes, seconds: float = 900) -> None:
    """Wait for the script's end, after which nothing of the nodes may run."""
    process.wait(timeout=seconds)
    deadline = time.monotonic() + 30
    while nodes.processes() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not nodes.processes()


@pytest.mark.recipes
def test_a_stage_joins_two_nodes_trains_as_alone_and_leaves_them_as_they_were(policy: Path, nodes: Nodes) -> None:
    result = policy / "two.json"
    command = [str(ROOT / "tests/rl/train_on_nodes.py"), str(policy), str(policy / "two"), str(STEPS), str(result)]
    wait(nodes.start(sys.executable, *command), nodes)
    told = json.loads(result.read_text())
    assert "error" not in told, told
    assert {name: told[name] for name in ("nodes", "actors", "groups", "used")} == {
        "nodes": 2,
        "actors": [],
        "groups": [],
        "used": {},
    }
    assert_same_training(told["rows"], run(policy, policy / "one", stage(STEPS)))


@pytest.mark.recipes
def test_a_node_that_leaves_is_told_and_the_cluster_stays_usable(policy: Path, nodes: Nodes) -> None:
    result, work = policy / "left.json", policy / "left"
    command = [str(ROOT / "tests/rl/train_on_nodes.py"), str(policy), str(work), "50", str(result)]
    script = nodes.start(sys.executable, *command)
    metrics = work / "metrics.jsonl"
    while not (metrics.exists() and metrics.read_text()):
        assert script.poll() is None
        time.sleep(0.2)
    node = psutil.Process(int((nodes.folder / "two.pid").read_text()))
    for process in [*node.children(recursive=True), node]:
        process.send_signal(signal.SIGKILL)
    while not result.exists():
        assert script.poll() is None
        time.sleep(0.2)
    wait(script, nodes)
    told = json.loads(result.read_text())
    assert "of 50" in told["error"]
    assert "two left the Ray cluster" in told["error"] or "died" in told["error"], told["error"]
    assert (told["nodes"], told["actors"], told["groups"]) == (1, [], [])


JOIN = """
import sys
from omegaconf import OmegaConf
from compass.errors import UserError
from compass.rl.cluster import await_cluster, check_reachable, join
address, nodes = sys.argv[1], int(sys.argv[2])
config = OmegaConf.create({
    "trainer": {"nnodes": nodes, "n_gpus_per_node": 1},
    "transfer_queue": {"backend": {"SimpleStorage": {"num_data_storage_units": 1}}},
    "ray_kwargs": {"ray_init": {"address": address}},
})
try:
    check_reachable(config)
    join({"address": address})
    await_cluster(config, patience=20)
    print("JOINED")
except UserError as error:
    print(error)
"""


@pytest.mark.recipes
@pytest.mark.parametrize("mode", ["token", "disabled"])
def test_a_wrong_address_a_wrong_token_and_too_few_nodes_are_told(nodes: Nodes, mode: str) -> None:
    token = "0123456789abcdef" * 4
    auth = {"RAY_AUTH_MODE": mode, "RAY_AUTH_TOKEN": token}
    environment = {**os.environ, **auth, **PATIENT, "NODES": str(nodes.folder), "RAY_USAGE_STATS_ENABLED": "0"}
    ray = [str(Path(sys.executable).parent / "ray"), "start", "--block", "--disable-usage-stats", "--num-gpus", "1"]
    head = ["--head", "--node-ip-address", "127.0.0.1", "--port", PORT, "--include-dashboard", "false"]
    cluster = subprocess.Popen(
        [str(nodes.folder / "srun"), "--nodelist=one", *ray, *head], env=environment, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 300
        while "JOINED" not in (told := joining(f"127.0.0.1:{PORT}", 1, auth)):
            assert time.monotonic() < deadline, told
        assert "1 GPUs free and the stage needs 2" in joining(f"127.0.0.1:{PORT}", 2, auth)
        assert "no Ray cluster answers at 127.0.0.1:6390" in joining("127.0.0.1:6390", 1, auth)
        if mode == "token":
            told = joining(f"127.0.0.1:{PORT}", 1, {**auth, "RAY_AUTH_TOKEN": "f" * 64})
            assert "the Ray cluster cannot be joined" in told
            assert "RAY_AUTH_TOKEN" in told
    finally:
        cluster.terminate()  # Ray's own processes follow it
        cluster.wait(timeout=60)


def joining(address: str, count: int, auth: dict[str, str]) -> str:
    """What a stage that joins a cluster of so many nodes says, without verl."""
    done = subprocess.run(
        [sys.executable, "-c", JOIN, address, str(count)],
        env={**os.environ, **auth, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout + done.stderr
