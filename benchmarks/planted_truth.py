"""What curation makes of the tiny profile's planted truth, for several seeds, without a model.

    python benchmarks/planted_truth.py 0 1 2

Runs collect, dedup, denoise and verify in a temporary folder, a few seconds per seed. There are no graded rollouts, so `verify` calls
no gold suspicious; in the whole pipeline it may drop a few rows more. Prints a Markdown table.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import stages.collect
import stages.dedup
import stages.denoise
import stages.verify
from compass.report.planted import measure_folder
from compass.settings import load_settings

PROFILE = Path(__file__).parents[1] / "profiles" / "tiny.yaml"


def curate(seed: int, data: Path) -> None:
    """Run the data stages of the tiny profile into `data`."""
    settings = load_settings(PROFILE).model_copy(update={"seed": seed})
    collect, dedup, denoise, verify = (data / name for name in ("collect", "dedup", "denoise", "verify"))
    stages.collect.run(settings, collect)
    stages.dedup.run(settings, collect / "kept.parquet", dedup)
    stages.denoise.run(settings, dedup / "kept.parquet", collect / "benchmarks.parquet", denoise)
    stages.verify.run(settings, denoise / "kept.parquet", None, verify)


def main(seeds: list[int]) -> None:
    """Print planted and found rows, and clean rows lost, per seed."""
    print("| seed | planted | dropped for the right reason | clean rows | clean rows dropped | their reasons |")
    print("|---|---|---|---|---|---|")
    for seed in seeds:
        with TemporaryDirectory() as folder:
            curate(seed, Path(folder))
            measured = measure_folder(folder)
        kinds, clean = measured["kinds"].values(), measured["clean"]
        planted, right = sum(kind["planted"] for kind in kinds), sum(kind["right"] for kind in kinds)
        reasons = ", ".join(f"`{reason}` {count}" for reason, count in clean["by_reason"].items())
        lost = f"{clean['dropped']} ({clean['lost']:.2%})"
        print(f"| {seed} | {planted} | {right} | {clean['rows']:,} | {lost} | {reasons} |")


if __name__ == "__main__":
    main([int(argument) for argument in sys.argv[1:]] or [0, 1, 2])
