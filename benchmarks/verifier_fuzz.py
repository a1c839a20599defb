"""Fuzz the verifier: random answers from a grammar, mutated published answers, and random text.

    python benchmarks/verifier_fuzz.py --pairs 1000000 [--golds GOLDS.jsonl] [--seed 0] [--json OUT.json]

Reports crashes, the slowest pairs, peak memory, and pairs that a mutation must have made different but that are called
equal. Exit code 1 on a crash, on a pair over `--limit` milliseconds, or on memory over `--memory` MB. Time is the
processor time of this process around one call; sympy's process is bounded by its own deadline.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from compass.verifier import verify

LEAVES = (
    "1",
    "2",
    "7",
    "12",
    "0",
    "0.5",
    "3.14",
    "1,000",
    "x",
    "y",
    "n",
    r"\pi",
    "e",
    "i",
    r"\infty",
    "x_1",
    r"50\%",
    "1e5",
    r"90^\circ",
    r"\alpha",
    "A",
    "10^{9}",
    "0.(3)",
    "½",
    "π",
)
WRAPS = (
    "({})", r"\frac{{{}}}{{{}}}", r"\sqrt{{{}}}", r"\sqrt[3]{{{}}}", "{}^{{{}}}", "{}^{}", "{}!", "-{}", "|{}|", r"\sin {}", r"\ln({})", r"\log_{{{}}} {}", "{}+{}", "{}-{}",
    r"{} \cdot {}", "{}{}", "{}/{}", "({}, {})", "[{}, {})", r"\{{{}, {}\}}", "{}, {}", r"{} \pm {}", "{}={}", "{}<{}", r"{} \le x < {}", r"{} \cup {}", r"\binom{{{}}}{{{}}}", "{}:{}",
    r"\begin{{pmatrix}}{}&{}\\{}&{}\end{{pmatrix}}", r"\text{{{}}}", r"{}\text{{ cm}}", r"\boxed{{{}}}", r"\sum_{{k=1}}^{{{}}} {}", r"\lfloor {} \rfloor", r"\gcd({}, {})", r"{} \mod {}", "${}$",
    "x \\in {}", "{} or {}", r"\overline{{{}}}", "{}_{}", r"\left({}\right)", "{};{}", r"\begin{{cases}}{} & {}\\{} & {}\end{{cases}}", r"\lim_{{x \to {}}} {}", r"\int_{{{}}}^{{{}}} {} dx",
)  # fmt: skip
ALPHABET = "0123456789abcdefxyzEIN\\{}()[]|^_+-*/=<>.,;:!%$&~'\" \n√π½²×−∞≤°，\u200b"


def grown(source: random.Random, depth: int) -> str:
    """A random answer of the grammar."""
    if depth == 0 or source.random() < 0.25:
        return source.choice(LEAVES)
    wrap = source.choice(WRAPS)
    return wrap.format(*(grown(source, depth - 1) for _ in range(wrap.count("{}"))))


def mutated(source: random.Random, text: str) -> str:
    """A copy with a few characters dropped, doubled, swapped or replaced."""
    signs = list(text)
    for _ in range(source.randint(1, 4)):
        at = source.randrange(len(signs) + 1)
        kind = source.randrange(4)
        if kind == 0 and signs:
            del signs[at % len(signs)]
        elif kind == 1:
            signs.insert(at, source.choice(ALPHABET))
        elif kind == 2 and signs:
            signs[at % len(signs)] = source.choice(ALPHABET)
        else:
            signs[at:at] = signs[max(0, at - source.randint(1, 8)) : at]
    return "".join(signs)


def pair(source: random.Random, golds: list[str]) -> tuple[str, str]:
    """A random gold and answer, related or not."""
    gold = source.choice(golds) if golds and source.random() < 0.5 else grown(source, source.randint(0, 4))
    kind = source.randrange(5)
    if kind == 0:
        return gold, mutated(source, gold)
    if kind == 1:
        return gold, f"({gold})+{source.randint(1, 9)}"
    if kind == 2:
        return gold, grown(source, source.randint(0, 5))
    if kind == 3:
        return gold, "".join(source.choices(ALPHABET, k=source.randint(0, 60)))
    return gold, source.choice(golds) if golds else grown(source, 3)


def main() -> int:
    """Run the fuzzing and print what it found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--golds", type=Path, help="JSON lines with `gold`: published answers to mutate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=float, default=50.0, help="milliseconds per pair")
    parser.add_argument("--memory", type=float, default=500.0, help="MB of this process and its children")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    source = random.Random(args.seed)
    golds = (
        [json.loads(line)["gold"] for line in args.golds.read_text(encoding="utf-8").splitlines()] if args.golds else []
    )
    verify(gold="1", answer=r"\int_0^1 x dx")  # starts sympy's process
    outcomes: Counter[str] = Counter()
    methods: Counter[str] = Counter()
    crashes: list[list[str]] = []
    slowest: list[tuple[float, float, str, str]] = []
    worst_wall = 0.0
    started = time.perf_counter()
    for number in range(args.pairs):
        gold, answer = pair(source, golds)
        wall, spent = time.perf_counter(), time.process_time()
        try:
            verdict = verify(gold=gold, answer=answer)
        except Exception as error:
            crashes.append([repr(error)[:200], gold, answer])
            print(f"crash at pair {number}: {crashes[-1]}", flush=True)
            continue
        spent, wall = (time.process_time() - spent) * 1e3, (time.perf_counter() - wall) * 1e3
        outcomes[verdict.outcome] += 1
        methods[verdict.method] += 1
        worst_wall = max(worst_wall, wall)
        if spent > 10 or wall > args.limit:
            slowest.append((round(spent, 1), round(wall, 1), gold, answer))
        if number % 100_000 == 99_999:
            print(
                f"{number + 1} pairs, {(number + 1) / (time.perf_counter() - started):.0f} a second, {len(crashes)} crashes",
                flush=True,
            )
    memory = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    slowest.sort(reverse=True)
    over = [row for row in slowest if row[0] > args.limit]
    report = {
        "pairs": args.pairs, "seed": args.seed, "crashes": len(crashes), "over_limit": len(over), "slowest_ms": slowest[0][0] if slowest else 10.0,
        "worst_wall_ms": round(worst_wall, 1), "wall_over_limit": sum(row[1] > args.limit for row in slowest), "peak_memory_mb": round(memory, 1),
        "outcomes": dict(outcomes), "methods": dict(methods), "seconds": round(time.perf_counter() - started, 1),
    }  # fmt: skip
    print(json.dumps(report, indent=1))
    for row in slowest[:10]:
        print(row)
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return int(bool(crashes or over or memory > args.memory))


if __name__ == "__main__":
    raise SystemExit(main())
