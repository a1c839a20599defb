"""Accuracy against speed of answer verifiers, all in one run on the same pairs.

    python benchmarks/verifier.py CASES.jsonl... --python math_verify=/path/to/its/venv/bin/python \
        --json benchmarks/results/verifier.json --plot benchmarks/results/verifier.png

A case is a JSON line with `gold`, `pred` and `label`, or with `gold`, `answer` and `equal` as in
tests/data/answer_pairs.jsonl; rows marked `needs_extraction` or `disputed` are left out. Every
grader runs in a process of its own, under its own interpreter where one is given (Math-Verify and verl pin versions of
ANTLR that exclude each other). Times are the grader's processor time around one call; a pair over `--timeout` seconds
counts as not equal and ends that process. Peers that an interpreter lacks are reported as missing, not skipped silently.
"""

from __future__ import annotations

import argparse
import json
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

GRADERS = ("compass", "math_verify", "verl_math_dapo", "verl_math_reward")
SHORT_S = 5.0
SCRIPT = Path(__file__).with_name("verifier_graders.py")


class Grader:
    """One grader's process; `ask` starts it again after a timeout."""

    def __init__(self, name: str, python: str, timeout: float) -> None:
        self.name, self.python, self.timeout = name, python, timeout
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> bool:
        """Start the process; False where its package is missing."""
        self.process = subprocess.Popen(
            [self.python, str(SCRIPT), self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        return self.process.stdout.readline() == b"ready\n"

    def ask(self, gold: str, answer: str) -> tuple[bool, float]:
        """Whether the grader calls the pair equal, and its processor seconds."""
        if self.process is None and not self.start():
            raise RuntimeError(f"{self.name} did not start again")
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write((json.dumps([gold, answer]) + "\n").encode())
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.timeout)
        line = self.process.stdout.readline() if ready else b""
        if line:
            equal, seconds = json.loads(line)
            return equal, seconds
        self.stop()
        return False, self.timeout

    def stop(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def measure(grader: Grader, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Accuracy, errors by kind, and processor time per pair."""
    times, outcomes = [], {"true positive": 0, "true negative": 0, "false positive": 0, "false negative": 0}
    for row in rows:
        equal, seconds = grader.ask(row["gold"], row["pred"])
        times.append(seconds)
        outcomes[("true " if equal == row["label"] else "false ") + ("positive" if equal else "negative")] += 1
    times.sort()
    right = outcomes["true positive"] + outcomes["true negative"]
    return {
        "grader": grader.name,
        "pairs": len(rows),
        "accuracy": round(right / len(rows), 4),
        **outcomes,
        "pairs_per_second": round(len(times) / sum(times), 1),
        "p50_ms": round(times[len(times) // 2] * 1e3, 4),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 4),
        "max_ms": round(times[-1] * 1e3, 3),
        "seconds": round(sum(times), 3),
    }


def middle(passes: list[dict[str, Any]]) -> dict[str, Any]:
    """The pass of middle speed: a fast grader is done in a tenth of a second, which any other process can spoil."""
    ordered = sorted(passes, key=lambda row: row["pairs_per_second"])
    return {**ordered[len(ordered) // 2], "passes": len(passes)}


def read_cases(paths: list[Path]) -> dict[str, list[dict[str, Any]]]:
    """The labelled rows of every file."""
    cases = {}
    for path in paths:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        for row in rows:
            for name, other in (("pred", "answer"), ("label", "equal")):
                if other in row:
                    row.setdefault(name, row[other])
        cases[path.stem] = [
            row for row in rows if "label" in row and not row.get("needs_extraction") and not row.get("disputed")
        ]
        if not cases[path.stem]:
            raise SystemExit(f"{path}: no labelled pair; a line has gold, answer and equal, or gold, pred and label")
    return cases


def plot(results: dict[str, list[dict[str, Any]]], path: Path) -> None:
    """Accuracy against pairs a second, one panel a file."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(results), figsize=(5 * len(results), 4), squeeze=False)
    for axis, (name, rows) in zip(axes[0], results.items(), strict=True):
        for row in rows:
            axis.scatter(
                row["pairs_per_second"],
                row["accuracy"],
                s=60,
                color="tab:red" if row["grader"] == "compass" else "tab:blue",
            )
            label = f"{row['grader']}\nfalse +{row['false positive']} −{row['false negative']}"
            axis.annotate(
                label,
                (row["pairs_per_second"], row["accuracy"]),
                textcoords="offset points",
                xytext=(6, -12),
                fontsize=8,
            )
        axis.set(
            xscale="log",
            xlabel="pairs a second (processor time, one process)",
            ylabel="accuracy",
            title=f"{name} ({rows[0]['pairs']} pairs)",
        )
        axis.margins(0.25)
        axis.grid(alpha=0.3)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> int:
    """Run every grader on every file and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--graders", nargs="+", choices=GRADERS, default=list(GRADERS))
    parser.add_argument(
        "--python", action="append", default=[], metavar="GRADER=PYTHON", help="the interpreter of one grader"
    )
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--passes", type=int, default=9, help="passes of a grader that takes less than 5 s for one")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    pythons = dict(item.split("=", 1) for item in args.python)
    results: dict[str, list[dict[str, Any]]] = {}
    for name, rows in read_cases(args.cases).items():
        passes: dict[str, list[dict[str, Any]]] = {}
        for number in range(args.passes):
            for grader_name in args.graders:
                if number and (grader_name not in passes or passes[grader_name][0]["seconds"] > SHORT_S):
                    continue
                grader = Grader(grader_name, pythons.get(grader_name, sys.executable), args.timeout)
                if grader.start():  # anew for every pass: no answer is remembered
                    passes.setdefault(grader_name, []).append(measure(grader, rows))
                    grader.stop()
                else:
                    print(f"{name:12s} {grader_name:18s} missing: its package cannot be imported by {grader.python}")
        results[name] = [middle(found) for found in passes.values()]
        for row in results[name]:
            print(
                f"{name:12s} {row['grader']:18s} accuracy {row['accuracy']:.4f}  false positives {row['false positive']:3d}  "
                f"false negatives {row['false negative']:4d}  {row['pairs_per_second']:9.1f} pairs/s  p50 {row['p50_ms']:.3f} ms  "
                f"p99 {row['p99_ms']:.3f} ms  max {row['max_ms']:.1f} ms  (passes: {row['passes']})",
                flush=True,
            )
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if args.plot and all(results.values()):
        plot(results, args.plot)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
