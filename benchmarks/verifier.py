"""Accuracy against speed of answer verifiers, all in one run on the same pairs: the numbers of docs/measurements/scoreboard.md.

    python benchmarks/verifier.py SET.jsonl... --python math_verify=VENV/bin/python --json OUT.json [--page docs/measurements/scoreboard.md]

A line of a set is a JSON object with `gold`, `pred` and `label`, or with `gold`, `answer` and `equal` as in
tests/data/answer_pairs.jsonl, or with `gold`, `response` and `label`: then the grader takes the answer out of the response.
A row with `kind` is an assertion of another grader's tests: `answer` compares two answers, `extraction` two texts, of which the gold
may be a whole solution too; the final answer is taken out of both. With `--without-policies` rows that state a `policy`, a
convention on which graders differ, are left out.
Rows marked `disputed` are left out. `group`, or the end of `source`, says which rows are counted together as well.

Every grader runs in a process of its own, under its own interpreter where one is given (Math-Verify and verl pin versions of
ANTLR that exclude each other). Times are the grader's processor time around one call; a pair over `--timeout` seconds
counts as not equal and ends that process. Graders that an interpreter lacks are reported as missing, not skipped silently.
With `--keep`, results of other graders on unchanged sets are taken from the JSON file of an earlier run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from verifier_graders import GRADERS

Row = dict[str, Any]
_TEXT = re.compile(r"\\boxed|\banswer is\b")
"""What shows that a text of the tests of other graders, whose rows say their `kind`, is more than an answer."""
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

    def ask(self, row: Row) -> tuple[bool, float]:
        """Whether the grader calls the pair equal, and its processor seconds."""
        if self.process is None and not self.start():
            raise RuntimeError(f"{self.name} did not start again")
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write((json.dumps([row["gold"], row["answer"], row["whole"]]) + "\n").encode())
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


def scores(rows: list[Row]) -> dict[str, Any]:
    """Accuracy and time of some judged pairs.

    Args:
        rows: at least one, each with `label` and `equal` (what is right and what the grader said) and `seconds`.

    Returns:
        `balanced` accuracy is the mean of the shares of equal and of different pairs that are judged right, or the one
        share where a label is missing; `precision` (1 where nothing is called equal) and `recall` (1 where nothing is
        equal) are those of the judgement "equal".
    """
    positives = [row for row in rows if row["label"]]
    negatives = [row for row in rows if not row["label"]]
    hits = sum(row["equal"] for row in positives)
    false = sum(row["equal"] for row in negatives)
    shares = [hits / len(positives)] if positives else []
    shares += [1 - false / len(negatives)] if negatives else []
    times = sorted(row["seconds"] for row in rows)
    return {
        "pairs": len(rows),
        "positives": len(positives),
        "balanced": round(sum(shares) / len(shares), 4),
        "accuracy": round((hits + len(negatives) - false) / len(rows), 4),
        "precision": round(hits / (hits + false), 4) if hits + false else 1.0,
        "recall": round(hits / len(positives), 4) if positives else 1.0,
        "false_positives": false,
        "false_negatives": len(positives) - hits,
        "pairs_per_second": round(len(times) / sum(times), 1),
        "p50_ms": round(times[len(times) // 2] * 1e3, 4),
        "p99_ms": round(times[int(len(times) * 0.99)] * 1e3, 4),
        "max_ms": round(times[-1] * 1e3, 3),
        "seconds": round(sum(times), 3),
    }


def measure(grader: Grader, rows: list[Row]) -> dict[str, Any]:
    """Accuracy, errors and processor time per pair, over all rows and by group."""
    judged = []
    for row in rows:
        equal, seconds = grader.ask(row)
        judged.append({**row, "equal": equal, "seconds": seconds})
    groups: dict[str, list[Row]] = {}
    for row in judged:
        groups.setdefault(row["group"], []).append(row)
    return {
        "grader": grader.name,
        **scores(judged),
        "groups": {name: scores(found) for name, found in sorted(groups.items())},
        "wrong": [row["id"] for row in judged if row["equal"] != row["label"]],
    }


def middle(passes: list[dict[str, Any]]) -> dict[str, Any]:
    """The pass of middle speed: a fast grader is done in a tenth of a second, which any other process can spoil."""
    ordered = sorted(passes, key=lambda row: row["pairs_per_second"])
    return {**ordered[len(ordered) // 2], "passes": len(passes)}


def group_of(row: Row) -> str:
    """What a row is counted with: its group, or the part of its source that tells its kind."""
    parts = row.get("source", "").split("::")
    return row.get("group") or (parts[1] if parts[0] in ("mix", "latex2sympy2_extended", "category") else parts[0])


def read_set(path: Path, policies: bool = True) -> list[Row]:
    """The labelled rows of a file: `id` (the line, from 1), `gold`, `answer`, `whole`, `label` and `group`."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line) if line.strip() else {}
        label = row.get("label", row.get("equal"))
        if label is None or row.get("disputed") or (row.get("policy") and not policies):
            continue
        answer = row.get("response", row.get("pred", row.get("answer")))
        whole = "response" in row or bool(row.get("needs_extraction")) or row.get("kind") == "extraction"
        whole = whole or ("kind" in row and _TEXT.search(row["gold"] + "\n" + answer) is not None)
        named = {"id": number, "gold": row["gold"], "answer": answer, "whole": whole}
        rows.append({**named, "label": bool(label), "group": group_of(row)})
    if not rows:
        raise SystemExit(f"{path}: no labelled pair; a line has gold, answer and equal, or gold, pred and label")
    return rows


def digest(rows: list[Row]) -> str:
    """A name for the content of a set, so that results of another content are not kept."""
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:16]


def run(name: str, rows: list[Row], pythons: dict[str, str], args: argparse.Namespace) -> list[dict[str, Any]]:
    """Results of every grader on a set, several passes of the quick ones in turn."""
    passes: dict[str, list[dict[str, Any]]] = {}
    for number in range(args.passes):
        for grader_name in args.graders:
            if number and (grader_name not in passes or passes[grader_name][0]["seconds"] > args.short):
                continue
            grader = Grader(grader_name, pythons.get(grader_name, sys.executable), args.timeout)
            if grader.start():  # anew for every pass: no answer is remembered
                passes.setdefault(grader_name, []).append(measure(grader, rows))
                grader.stop()
            else:
                print(f"{name:12s} {grader_name:18s} missing: its package cannot be imported by {grader.python}")
    return [middle(found) for found in passes.values()]


def main() -> int:
    """Run every grader on every file and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--graders", nargs="+", choices=list(GRADERS), default=list(GRADERS))
    parser.add_argument(
        "--python", action="append", default=[], metavar="GRADER=PYTHON", help="the interpreter of one grader"
    )
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for one pair")
    parser.add_argument("--passes", type=int, default=9, help="passes of a grader that takes less than --short for one")
    parser.add_argument("--short", type=float, default=5.0, help="seconds")
    parser.add_argument("--json", type=Path, help="where results are written, and kept with --keep")
    parser.add_argument("--keep", action="store_true", help="keep the results of other graders on unchanged sets")
    parser.add_argument("--without-policies", action="store_true", help="leave out rows that state a convention")
    parser.add_argument("--page", type=Path, help="write the table and the plot of docs/measurements/scoreboard.md")
    args = parser.parse_args()
    pythons = dict(item.split("=", 1) for item in args.python)
    known = json.loads(args.json.read_text(encoding="utf-8")) if args.keep and args.json and args.json.exists() else {}
    results: dict[str, dict[str, Any]] = {}
    for path in args.sets:
        rows = read_set(path, policies=not args.without_policies)
        name, mark = path.stem, digest(rows)
        before = known.get(name, {})
        kept = [row for row in before.get("results", []) if row["grader"] not in args.graders]
        kept = kept if before.get("digest") == mark else []
        found = run(name, rows, pythons, args)
        results[name] = {
            "digest": mark,
            "results": sorted(kept + found, key=lambda row: list(GRADERS).index(row["grader"])),
        }
        for row in found:
            print(
                f"{name:14s} {row['grader']:18s} balanced {row['balanced']:.4f}  accuracy {row['accuracy']:.4f}  "
                f"false positives {row['false_positives']:3d}  false negatives {row['false_negatives']:4d}  "
                f"{row['pairs_per_second']:9.1f} pairs/s  p99 {row['p99_ms']:.3f} ms  max {row['max_ms']:.1f} ms  "
                f"(passes: {row['passes']})",
                flush=True,
            )
        if args.json:
            args.json.parent.mkdir(parents=True, exist_ok=True)
            args.json.write_text(json.dumps(known | results, indent=1) + "\n", encoding="utf-8")
    if args.page:
        from verifier_page import write

        write(known | results, args.page)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
