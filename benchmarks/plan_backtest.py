"""Beside published step times of RL on clusters: what `compass plan` would have said, with one set of constants for all.

python benchmarks/plan_backtest.py      the table of docs/guides/plan.md
"""

from __future__ import annotations

from compass.plan.forecast import HIGH, LOW, MIDDLE
from compass.plan.hardware import GPUS
from compass.plan.shape import PUBLISHED, QWEN_7B, Shape
from compass.plan.speed import WEIGHTS_S, Load, sampling_seconds, training_seconds

LLAMA_8B = PUBLISHED["meta-llama/Llama-3.1-8B-Instruct"]

ROWS: list[tuple[str, Shape, str, int, int, int | None, int, int, int]] = [
    ("NeMo-RL 0.4, Llama-3.1-8B", LLAMA_8B, "h100", 16, 2048, 1060, 4096, 4, 98),
    ("verl fully_async.md, Qwen2.5-Math-7B", QWEN_7B, "h20", 32, 8192, None, 28672, 16, 790),
    ("verl fully_async.md, Qwen2.5-Math-7B", QWEN_7B, "h20", 64, 8192, None, 28672, 16, 365),
    ("verl fully_async.md, Qwen2.5-Math-7B", QWEN_7B, "h20", 128, 8192, None, 28672, 16, 356),
    ("verl one_step_off.md, Qwen2.5-Math-7B", QWEN_7B, "h20", 16, 8192, None, 8192, 16, 699),
    ("verl one_step_off.md, Qwen2.5-Math-7B", QWEN_7B, "h20", 16, 8192, None, 20480, 16, 749),
]
"""Run, model, GPU, GPUs, responses in a step, their published mean length, the limit on it, optimizer steps, published seconds of a step."""

ASSUMED = {LOW: 600, MIDDLE: 1300, HIGH: 2300}
"""Mean tokens where none was published: what runs from Qwen2.5-Math-7B report at their beginning and later."""

PROMPT = 130


def forecast_step(row: tuple[str, Shape, str, int, int, int | None, int, int, int]) -> tuple[float, float, float]:
    """Seconds of a step: low, middle and high."""
    _, shape, name, gpus, responses, mean, most, steps, _ = row
    seconds = []
    for scenario in (LOW, MIDDLE, HIGH):
        load = Load(responses, PROMPT, mean or ASSUMED[scenario], most)
        sampled = sampling_seconds(load, shape, GPUS[name], gpus, memory=0.8)
        logged, updated = training_seconds(load, shape, GPUS[name], gpus, passes=1, steps=steps, mfu=scenario.mfu)
        seconds.append(sampled + logged + updated + WEIGHTS_S)
    return seconds[0], seconds[1], seconds[2]


def main() -> None:
    print("| run | GPUs | published s | forecast s | range | error |\n|---|---|---:|---:|---|---:|")
    for row in ROWS:
        low, middle, high = forecast_step(row)
        name, _, gpu, gpus, *_, published = row
        inside = "" if low <= published <= high else " (outside)"
        print(
            f"| {name}, cut at {row[6]:,} | {gpus} {gpu.upper()} | {published} | {middle:.0f} | {low:.0f} to {high:.0f}{inside} | {middle / published - 1:+.0%} |"
        )


if __name__ == "__main__":
    main()
