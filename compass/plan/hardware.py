"""What machines can do: GPUs by their makers' data sheets, CPUs as measured here."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, replace

from compass.errors import UserError, did_you_mean
from compass.machine import cores


@dataclass(frozen=True)
class Gpu:
    """One kind of GPU: memory in GB (10^9 bytes), dense bfloat16 TFLOP/s with single-precision sums, memory bandwidth in GB/s."""

    name: str
    memory_gb: float
    tflops: float
    bandwidth: float


GPUS = {
    gpu.name: gpu
    for gpu in (
        Gpu("b200", 192, 2250, 8000),
        Gpu("h200", 150.8, 989, 4800),
        Gpu("h100", 85.5, 989, 3350),
        Gpu("h20", 96, 148, 4000),
        Gpu("a100", 80, 312, 2039),
        Gpu("a100-40", 40, 312, 1555),
        Gpu("l40s", 48, 362, 864),
        Gpu("rtx5090", 32, 210, 1792),
        Gpu("rtx4090", 24, 165, 1008),
        Gpu("rtx3090", 24, 71, 936),
        Gpu("l4", 24, 121, 300),
    )
}
"""Dense figures of NVIDIA's data sheets, SXM where there are two. The memory of h100 and h200 is what their driver reports (81,559 and 143,771
MiB); the others are as in the data sheets, whose GB is up to 7% more than 10^9 bytes."""


@dataclass(frozen=True)
class Machine:
    """What a run is forecast for: GPUs of one kind, or the CPU cores of this machine."""

    gpu: Gpu | None
    gpus: int
    cores: int
    given: bool = False
    """Whether the GPUs are those of a question ("and on eight?"), and not of this machine."""

    def take(self, gpus: int) -> Machine:
        """What a stage that asks for so many GPUs has of this machine: no more than those, or the CPU for none. A question is about all of them."""
        if self.gpu is None or self.given:
            return self
        return replace(self, gpus=min(gpus, self.gpus)) if gpus else Machine(None, 0, self.cores)

    def __str__(self) -> str:
        return f"{self.gpus} x {self.gpu.name}" if self.gpu else f"{self.cores} CPU cores"


def parse_gpus(text: str) -> tuple[Gpu, int]:
    """GPUs by name and number: `h100:8`, `rtx4090`.

    Raises:
        UserError: an unknown name, or no whole number above zero.
    """
    name, sign, count = text.lower().partition(":")
    if name not in GPUS:
        raise UserError(
            f"--gpu {text}: there is no GPU {name!r} in the table;{did_you_mean(name, GPUS)} known: {', '.join(GPUS)}"
        )
    if sign and not (count.isdigit() and int(count)):
        raise UserError(f"--gpu {text}: give the number of GPUs after the colon, as in {name}:8")
    return GPUS[name], int(count or 1)


def find_gpus() -> tuple[Gpu, int] | None:
    """The GPUs of this machine as nvidia-smi shows them, with their own memory; None where there are none, or of a kind that is not known."""
    if shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"]
    try:
        shown = subprocess.run(query, capture_output=True, text=True, timeout=2)
    except subprocess.TimeoutExpired:
        return None
    lines = [line.rpartition(", ") for line in shown.stdout.splitlines() if line.count(", ") == 1]
    if shown.returncode or not lines:
        return None
    known = next((gpu for gpu in GPUS.values() if _is_named(gpu, lines[0][0])), None)
    if known is None:
        return None
    return Gpu(known.name, int(lines[0][2]) * 1.048576 / 1000, known.tflops, known.bandwidth), len(lines)


def _is_named(gpu: Gpu, shown: str) -> bool:
    """Whether the name that nvidia-smi shows has a GPU's name as words of its own: "NVIDIA GeForce RTX 4090", and not "NVIDIA L40" for an L4."""
    spaced = re.sub(r"(?<=[a-z])(?=\d)", " ?", gpu.name.partition("-")[0])
    return re.search(rf"\b{spaced}\b", shown.lower()) is not None


def find_machine(gpus: str | None = None) -> Machine:
    """The machine of a forecast: GPUs that are given as of `parse_gpus`, else those of this machine, else its CPU.

    Raises:
        UserError: as `parse_gpus`.
    """
    return Machine(*((parse_gpus(gpus) if gpus else find_gpus()) or (None, 0)), cores(), given=bool(gpus))


def sampling_speed(parameters: float, cores: int) -> float:
    """Tokens per second that vLLM samples on CPU cores; measured with 0.52 and 135 million parameters on two cores."""
    return min(4_000.0, 2.6e10 / parameters) * cores / 2


def training_speed(parameters: float, cores: int) -> float:
    """Tokens of prompts and responses per second that are trained on CPU cores; measured as `sampling_speed`."""
    return min(6_000.0, 2.5e10 / parameters) * cores / 2
