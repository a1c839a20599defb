"""Random answers: grown from a grammar, published ones with a few characters changed, and random text (`benchmarks/generated_attacks.py`)."""

from __future__ import annotations

import random

LEAVES = (
    *("1", "2", "7", "12", "0", "0.5", "3.14", "1,000", "x", "y", "n", r"\pi"),
    *("e", "i", r"\infty", "x_1", r"50\%", "1e5", r"90^\circ", r"\alpha", "A", "10^{9}", "0.(3)", "½", "π"),
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


def draw_pair(source: random.Random, golds: list[str]) -> tuple[str, str]:
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
