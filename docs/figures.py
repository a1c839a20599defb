"""Draw the pictures of the docs: the graph of stages from dvc.yaml, accuracies and studies from docs/measurements/.

    python docs/figures.py

Writes stages.svg, accuracy.svg and studies.svg to docs/images/. Backgrounds are transparent and lines mid-grey, so that
all can be read on light and on dark pages. The same inputs give the same bytes.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

plt.rcParams["svg.fonttype"] = "none"  # text stays text: small and searchable
plt.rcParams["svg.hashsalt"] = "compass"  # the same ids in every run

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
GREY = "#7d8590"
DATA, POLICY, RESULT = "#2c6fb3", "#8a4f9e", "#2c7d5a"

PLACES = {  # stage: column, row, colour, what it does
    "collect": (0, 1, DATA, "read sources"),
    "dedup": (1, 1, DATA, "drop duplicates"),
    "denoise": (2, 1, DATA, "drop noise"),
    "grade": (3, 1, DATA, "sample, set levels"),
    "verify": (4, 1, DATA, "check the golds"),
    "curriculum": (5, 1, DATA, "mix the levels"),
    "base": (0, 0, POLICY, "starting policy"),
    "rl-1": (1, 0, POLICY, "easy problems"),
    "rl-2": (2, 0, POLICY, "harder ones"),
    "rl-3": (3, 0, POLICY, "the hardest"),
    "evaluate": (4, 0, RESULT, "score all models"),
    "report": (5, 0, RESULT, "tables and pages"),
}
WIDTH, HEIGHT, STEP, RISE = 1.52, 0.62, 1.82, 1.75
"""A stage's box, and the distances between columns and between rows, in inches."""


def stage_edges(root: Path = ROOT) -> set[tuple[str, str]]:
    """Pairs of stages of which the second reads what the first writes, by dvc.yaml."""
    stages = yaml.safe_load((root / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    writer = {out: name for name, entry in stages.items() for out in _outputs(entry)}
    return {(writer[dep], name) for name, entry in stages.items() for dep in entry["deps"] if dep in writer}


def _outputs(entry: dict[str, Any]) -> list[str]:
    given = [*entry.get("outs", []), *entry.get("metrics", [])]
    return [out if isinstance(out, str) else next(iter(out)) for out in given]


def draw_stages(path: Path) -> None:
    """The graph of stages. Of the lines into `report`, which reads every stage, only the one from `evaluate` is drawn."""
    figure, axes = plt.subplots(figsize=(10.9, 3.5))
    axes.set(xlim=(-0.9, 5 * STEP + 1.15), ylim=(-0.95, RISE + 0.72), aspect="equal")
    axes.axis("off")
    for name, (column, row, colour, words) in PLACES.items():
        x, y = column * STEP, row * RISE
        axes.add_patch(
            FancyBboxPatch(
                (x - WIDTH / 2, y - HEIGHT / 2),
                WIDTH,
                HEIGHT,
                boxstyle="round,pad=0,rounding_size=0.09",
                fc=colour,
                ec="none",
            )
        )
        axes.text(x, y + 0.1, name, color="white", ha="center", va="center", fontsize=12, weight="bold")
        axes.text(x, y - 0.15, words, color="white", ha="center", va="center", fontsize=8.5)
    for row in (0, 1):
        names = [name for name, place in PLACES.items() if place[1] == row]
        for left, right in pairwise(names):
            _line(axes, _side(left, 1), _side(right, -1))
    grade, curriculum, first = PLACES["grade"][0] * STEP, PLACES["curriculum"][0] * STEP, PLACES["rl-1"][0] * STEP
    top, bottom, upper, lower = RISE - HEIGHT / 2, HEIGHT / 2, RISE * 0.6, RISE * 0.4
    _line(axes, (0, bottom), (0, upper), (grade, upper), (grade, top))
    axes.text(0.1, upper + 0.06, "the base policy solves each problem 8 times", color=GREY, fontsize=9)
    for name in ("rl-1", "rl-2", "rl-3"):
        x = PLACES[name][0] * STEP
        _line(axes, (curriculum, top), (curriculum, lower), (x, lower), (x, bottom))
    axes.text(curriculum - 0.1, lower + 0.06, "training problems", color=GREY, ha="right", fontsize=9)
    evaluate, below = PLACES["evaluate"][0] * STEP, -HEIGHT / 2
    for x in (0, first, PLACES["rl-2"][0] * STEP):
        _line(axes, (x, below), (x, below - 0.28), (evaluate - 0.3, below - 0.28), (evaluate - 0.3, below))
    axes.text(0.1, below - 0.47, "all models are scored", color=GREY, fontsize=9)
    over, beside = RISE + HEIGHT / 2 + 0.2, curriculum + WIDTH / 2 + 0.2
    corner = (beside, below - 0.28)
    _line(
        axes,
        (0, RISE + HEIGHT / 2),
        (0, over),
        (beside, over),
        corner,
        (evaluate + 0.3, below - 0.28),
        (evaluate + 0.3, below),
    )
    axes.text(0.1, over + 0.06, "benchmarks: evaluated on, never trained on", color=GREY, fontsize=9)
    _save(figure, path)


def _side(name: str, side: int) -> tuple[float, float]:
    column, row = PLACES[name][:2]
    return column * STEP + side * WIDTH / 2, row * RISE


def _line(axes: Axes, *points: tuple[float, float]) -> None:
    """A line through the points with an arrow at its end."""
    x, y = zip(*points, strict=True)
    axes.plot(x[:-1], y[:-1], color=GREY, linewidth=1.4, solid_capstyle="round")
    arrow = {"arrowstyle": "-|>", "color": GREY, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 11}
    axes.annotate("", points[-1], points[-2], arrowprops=arrow)


def sampled_accuracies(text: str) -> dict[str, list[tuple[float, float, float]]]:
    """Seed to (accuracy, low, high) of each model, from the rows `| seed | sampled | 26.9 (24.6 to 29.5) | ...`."""
    rows = re.findall(r"^\| (\d+) \| sampled \|(.*)\|$", text, re.MULTILINE)
    cell = re.compile(r"([\d.]+) \(([\d.]+) to ([\d.]+)\)")
    return {seed: [tuple(map(float, numbers)) for numbers in cell.findall(cells)] for seed, cells in rows}


def draw_accuracy(path: Path) -> None:
    """Sampled accuracy with 95% intervals per model and seed."""
    models = ["base", "rl-1", "rl-2", "rl-3"]
    accuracies = sampled_accuracies((ROOT / "docs/measurements/results.md").read_text(encoding="utf-8"))
    figure, axes = plt.subplots(figsize=(6.4, 3.3))
    colours = ["#3b82c4", "#d9770f", "#2f9e6e"]
    for index, (seed, values) in enumerate(accuracies.items()):
        x = [place + (index - (len(accuracies) - 1) / 2) * 0.16 for place in range(len(models))]
        middle, low, high = zip(*values, strict=True)
        errors = [[m - a for m, a in zip(middle, low, strict=True)], [b - m for m, b in zip(middle, high, strict=True)]]
        axes.errorbar(
            x, middle, errors, color=colours[index % 3], marker="o", capsize=3, linewidth=1.4, label=f"seed {seed}"
        )
    axes.set(ylim=(0, 100), ylabel="accuracy, %")
    axes.set_xticks(range(len(models)), models)
    axes.tick_params(colors=GREY, labelcolor=GREY)
    axes.yaxis.label.set_color(GREY)
    axes.grid(axis="y", color=GREY, alpha=0.3, linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set_color(GREY)
    axes.legend(frameon=False, labelcolor=GREY, loc="lower right")
    _save(figure, path)


def study_differences(text: str) -> dict[str, list[tuple[str, float, float, float, str]]]:
    """Study to (arm, difference, low, high, verdict) per arm but the first, from the table in docs/measurements/studies.md."""
    row = re.compile(r"\| (?:\[`(.+?)`\]\(.*?\) )?\| (.+?) \| (\S+) \((\S+) to (\S+)\) \| ([a-z ]+?)(?: \(.*)? \|")
    found: dict[str, list[tuple[str, float, float, float, str]]] = {}
    study = ""
    for name, arm, difference, low, high, verdict in row.findall(text):
        study = name or study
        found.setdefault(study, []).append((arm, float(difference), float(low), float(high), verdict))
    return found


def draw_studies(path: Path) -> None:
    """Every arm's difference from the first arm of its study with the 95% interval, and a band of 3 points around 0."""
    studies = study_differences((ROOT / "docs/measurements/studies.md").read_text(encoding="utf-8"))
    rows = [(study, place, *one) for study, arms in studies.items() for place, one in enumerate(arms)]
    figure, axes = plt.subplots(figsize=(7.6, 0.6 + 0.27 * (len(rows) + len(studies))))
    axes.axvspan(-3, 3, color=GREY, alpha=0.18, linewidth=0)
    axes.axvline(0, color=GREY, linewidth=1)
    y, labels = 0, []
    for study, place, arm, difference, low, high, _ in rows:
        if place == 0:
            name = {"color": GREY, "ha": "right", "va": "center", "weight": "bold", "fontsize": 9}
            axes.text(-0.012, y, study, transform=axes.get_yaxis_transform(), **name)
            y += 1
        errors = [[difference - low], [high - difference]]
        axes.errorbar([difference], [y], xerr=errors, color=DATA, marker="o", markersize=4, capsize=3, linewidth=1.4)
        labels.append((y, arm))
        y += 1
    axes.set(ylim=(y - 0.3, -0.7), xlabel="difference from the first arm, points of accuracy (95% interval)")
    axes.set_yticks(*zip(*labels, strict=True))
    axes.tick_params(colors=GREY, labelcolor=GREY, labelsize=9)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.label.set_color(GREY)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(GREY)
    _save(figure, path)


def _save(figure: plt.Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, transparent=True, bbox_inches="tight", metadata={"Date": None, "Creator": None})
    plt.close(figure)


if __name__ == "__main__":
    if unplaced := {name for edge in stage_edges() for name in edge} - PLACES.keys():
        raise SystemExit(f"dvc.yaml has stages without a place in PLACES: {sorted(unplaced)}")
    draw_stages(IMAGES / "stages.svg")
    draw_accuracy(IMAGES / "accuracy.svg")
    draw_studies(IMAGES / "studies.svg")
