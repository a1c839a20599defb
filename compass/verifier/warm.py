"""First use made ready beforehand: sympy's process takes seconds to start, and every tier fills tables on first use."""

from __future__ import annotations

from compass.verifier.comparing import sympy_client
from compass.verifier.verify import verify

_PAIRS = (
    (r"\frac12", "0.5"),
    ("x = 5", r"5 \text{ cm}"),
    (r"5 \text{ m}", "500 cm"),
    (r"\$1,250", "1250 dollars"),
    (r"25\%", "0.25"),
    (r"\sqrt{8}", r"2\sqrt2"),
    ("x^2-1", "(x-1)(x+1)"),
    (r"\sin 2x", r"2\sin x\cos x"),
    ("1+2i", "2i+1"),
    (r"(-\infty, 2) \cup (3, 4]", r"x < 2 \text{ or } 3 < x \le 4"),
    (r"\{1, 2\}", "x = 2 or x = 1"),
    ("x = 1, y = 2", "(1, 2)"),
    ("2x + 2y = 2", "y = 1 - x"),
    (r"x = \frac{\pi}{4} + k\pi, k \in \mathbb{Z}", r"\frac{\pi}{4} + n\pi"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\begin{bmatrix} 1 & 2 \\ 3 & 5 \end{bmatrix}"),
    (r"\sum_{k=1}^{5} \binom{5}{k}", "31"),
    (r"\text{right triangle}", "a Right Triangle."),
    ("4:30 p.m.", "4:30 PM"),
    ("101_2", "110_2"),
)
"""A pair for each kind of comparison in this process."""

_ASKS_SYMPY = (
    (r"\int_0^1 x\,dx", r"\frac12"),
    (r"\int \frac{1}{1+x^2}\,dx", r"\arctan x"),
    (r"\sum_{k=1}^{\infty} \frac{1}{k^4}", r"\frac{\pi^4}{90}"),
)
"""Pairs that the last tier decides, and that need numerical points after it."""


def warm(*, wait: bool = True) -> None:
    """Do now what the first verdicts of this process would otherwise do. Call it where a process starts; a forked child
    starts its own sympy, so it calls it again.

    Args:
        wait: come back when sympy's process is ready too, after one to a few seconds; else it starts in the
            background, and only a verdict that needs sympy before it is ready waits for it.

    Raises:
        RuntimeError: sympy's process does not start (with `wait`).
    """
    sympy_client.start()
    for gold, answer in _PAIRS + (_ASKS_SYMPY if wait else ()):
        verify(gold=gold, answer=answer)
