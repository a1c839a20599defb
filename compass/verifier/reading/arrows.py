"""Products of letters under arrows, `\\vec a \\times \\vec b`."""

from __future__ import annotations

from compass.verifier.contents import symbols
from compass.verifier.tree import Call, Node

_ARROWS = ("vec(", "hat(", "overrightarrow(")


def cross_product(left: Node, right: Node) -> Call | None:
    """`left \\times right` where both hold a letter under an arrow: it does not commute and is no dot product; None for a product of numbers."""
    if not (_has_arrow(left) and _has_arrow(right)):
        return None
    return Call("cross", (left, right))


def _has_arrow(node: Node) -> bool:
    return any(name.startswith(_ARROWS) for name in symbols(node))
