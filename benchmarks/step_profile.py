"""Where an iteration of reinforcement learning on the CPU spends its time, against its three parts alone, measured in one run.

    python benchmarks/step_profile.py --stage rl-1 --steps 8 --out benchmarks/step_profile.md

Needs the outputs of the stages before: `data/curriculum` and the model that the stage starts from. It trains a few iterations of the
stage in a temporary folder and then times generation, log-probabilities and update bare on the last iteration's rollouts
(`benchmarks/step_parts.py`). Processor time is what counts where something else runs on the machine. Writes a page of tables.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PARTS = {"gen": "generation", "old_log_prob": "log-probabilities", "update_actor": "update"}
OTHER = {"adv": "advantages", "guards": "guards and rollouts", "update_weights": "weights to the engine"}
WHO = {
    "ray::ScoringWorker": "agent loop: prompts, rewards",
    "ray::GroupServer": "vLLM's server",
    "ray::WorkerDict": "verl's actor: log-probabilities, update",
    "ray::TransferQueueController": "transfer queue",
    "ray::SimpleStorageUnit": "transfer queue",
    "ray::GlobalRequestLoadBalancer": "load balancer",
    "ray::": "Ray",
    "raylet": "Ray",
    "gcs_server": "Ray",
    "log_monitor": "Ray",
    "dashboard": "Ray",
    "monitor.py": "Ray",
}
"""What a process is, by a part of its command line."""


def whose(line: str) -> str:
    """What a process below the trainer is; vLLM's engine alone keeps the command line of the trainer, from which it is forked."""
    return next((who for mark, who in WHO.items() if mark in line), "vLLM's engine")


class Processes(threading.Thread):
    """Notes the processor seconds of all processes below this one, by what they are, five times a second.

    Args:
        metrics: the file that gets a line when an iteration ends.
    """

    def __init__(self, metrics: Path) -> None:
        super().__init__(daemon=True)
        self.metrics = metrics
        self.noted: list[tuple[int, dict[str, float]]] = []
        self.done = threading.Event()

    def run(self) -> None:
        import psutil

        while not self.done.wait(0.2):
            used: dict[str, float] = defaultdict(float)
            trainers = psutil.Process().children()
            for process in psutil.Process().children(recursive=True):
                try:
                    times, line = process.cpu_times(), " ".join(process.cmdline())
                except psutil.Error:
                    continue
                used["trainer" if process in trainers else whose(line)] += times.user + times.system
            ended = self.metrics.read_bytes().count(b"\n") if self.metrics.exists() else 0
            self.noted.append((ended, dict(used)))

    def between(self, start: int, end: int) -> dict[str, float]:
        """Processor seconds between the ends of two iterations, by what used them."""
        first = next(used for ended, used in self.noted if ended >= start)
        last = next(used for ended, used in self.noted if ended >= end)
        return {name: seconds - first.get(name, 0) for name, seconds in last.items()}


def train_stage(stage: str, steps: int, folder: Path) -> dict[str, Any]:
    """Train the first iterations of a stage in `folder`; times and processor times of an iteration, and of the start."""
    from transformers import AutoTokenizer

    from compass.records import read_records
    from compass.rl.config import StagePaths
    from compass.rl.dataset import write_training_set
    from compass.rl.device import micro_batch
    from compass.rl.launch import train
    from compass.settings import load_settings

    ours = load_settings("params.yaml").rl.stages[stage]
    record = ours.record.model_copy(
        update={"rollouts_every": steps}
    )  # the first and the last are kept, and left out below
    ours = ours.model_copy(update={"steps": steps, "record": record})
    model = Path("models", ours.init_from).resolve()
    problems, data = read_records(Path("data/curriculum/kept.parquet")), folder / "train.parquet"
    write_training_set(stage, problems, ours, AutoTokenizer.from_pretrained(model), data)
    paths = StagePaths(model, data, folder / "work")
    processes, began = Processes(paths.live_metrics), time.time()
    processes.start()
    rows = train(stage, ours, paths, seed=0)
    ended = time.time()
    processes.done.set()
    processes.join()
    inner = rows[1:-1]
    tokens = defaultdict(int)
    for line in (folder / "work/rewards.jsonl").read_text().splitlines():
        group = json.loads(line)
        tokens[group["step"]] += sum(group["tokens"])
    return {
        "seconds": {
            name.removeprefix("timing_s/"): median(row.get(name, 0) for row in inner)
            for name in rows[1]
            if name.startswith("timing_s/")
        },
        "cpu": {name: used / len(inner) for name, used in processes.between(1, steps - 1).items()},
        "tokens": median(tokens[row["step"]] for row in inner),
        "start": ended - began - sum(row["timing_s/step"] for row in rows),
        "model": model,
        "micro_batch": micro_batch(ours),
    }


def bare_parts(work: Path, model: Path, micro_batch: int) -> dict[str, Any]:
    """What `benchmarks/step_parts.py` finds, in a process with the trainer's environment."""
    from compass.rl.cpu.environment import environment

    command = [sys.executable, str(ROOT / "benchmarks/step_parts.py"), str(work), str(model), str(micro_batch)]
    variables = {**environment(os.environ), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def table(stage: str, steps: int, real: dict[str, Any], bare: dict[str, Any]) -> str:
    """The Markdown page."""
    from compass.machine import cores

    scale = {
        name: real["tokens"] / bare["generation"]["tokens"] if name == "generation" else 1.0 for name in PARTS.values()
    }
    alone = {
        name: {key: bare[name][key] * scale[name] for key in ("seconds", "cpu_seconds")} for name in PARTS.values()
    }
    wall = {key: sum(part[key] for part in alone.values()) for key in ("seconds", "cpu_seconds")}
    step, cpu = real["seconds"]["step"], sum(real["cpu"].values())
    known = sum(real["seconds"].get(name, 0) for name in (*PARTS, *OTHER))
    lines = [
        "# An iteration, and its parts alone",
        "",
        f"`python benchmarks/step_profile.py --stage {stage} --steps {steps}` on {cores()} cores, load average "
        f"{os.getloadavg()[0]:.1f} at the end. Medians of iterations 2 to {steps - 1}; {bare['responses']} responses per update, "
        f"{real['tokens']:,.0f} sampled tokens per iteration.",
        "",
        "| part | in the stage, s | alone, s | alone, processor s |",
        "| --- | ---: | ---: | ---: |",
    ]
    for name, words in PARTS.items():
        part = alone[words]
        lines.append(
            f"| {words} | {real['seconds'].get(name, 0):.2f} | {part['seconds']:.2f} | {part['cpu_seconds']:.2f} |"
        )
    lines += [f"| {words} | {real['seconds'].get(name, 0):.2f} | | |" for name, words in OTHER.items()]
    lines += [
        f"| what no timer covers | {step - known:.2f} | | |",
        f"| **together** | **{step:.2f}** | **{wall['seconds']:.2f}** | **{wall['cpu_seconds']:.2f}** |",
        "",
        f"An iteration takes {step / wall['seconds']:.2f} times its parts alone, and {cpu / wall['cpu_seconds']:.2f} times their processor "
        f"time. What is not iterations, from the trainer's start to its end, took {real['start']:.0f} s.",
        "",
        "| processor time of an iteration | s |",
        "| --- | ---: |",
        *(f"| {name} | {used:.2f} |" for name, used in sorted(real["cpu"].items(), key=lambda item: -item[1])),
        f"| **together** | **{cpu:.2f}** |",
        "",
        "Alone means: all groups of an iteration in one call of vLLM, scaled to the iteration's tokens; a forward pass, and forward and backward "
        "pass with a step of AdamW, by transformers in padded micro-batches of the stage's size.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", default="rl-1")
    parser.add_argument("--steps", type=int, default=8, help="at least 4; the first and the last are not counted")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/step_profile.md"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="step-profile-") as folder:
        real = train_stage(given.stage, given.steps, Path(folder))
        bare = bare_parts(Path(folder) / "work", real["model"], real["micro_batch"])
    page = table(given.stage, given.steps, real, bare)
    given.out.write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    main()
