"""What kind of answer a tree is: names taken off, ± written out, relations turned into sets of numbers."""

from __future__ import annotations

from typing import NamedTuple

from compass.verifier.tree import Node, Unreadable, contains, negate

MAX_ITEMS = 200


class Shape(NamedTuple):
    """A typed answer.

    `kind` is one of `scalar`, `list` (bare, unordered unless `names`), `set`, `tuple`, `matrix`, `relation`, `setop`,
    `ratio`, `text`, `cases`, `based`, `named set`. `names` are the left sides that were taken off its items, empty for an item without one.
    """

    kind: str
    node: Node
    items: tuple[Node, ...] = ()
    names: tuple[str, ...] = ()


def is_name(node: Node) -> bool:
    """Whether a left side only names what follows: `x`, `f(x)`, `|AB|`, `AB`, `S_1 : S_2`, `(p, q)`."""
    kind = node[0]
    if kind == "sym":
        return True
    if kind == "const":
        return node[1] == "e"
    if kind == "mul":
        parts = node[1]
        if all(part[0] == "sym" for part in parts) and not (
            len(parts) == 2 and parts[0][1].isupper() and parts[1][1].islower()
        ):
            return all(_upper(part[1]) for part in parts) or (parts[0][1] in ("d", "Delta") and len(parts) == 2)
        return len(parts) == 2 and parts[0][0] == "sym" and _applied(parts[1]) and parts[0][1].isidentifier()
    if kind == "call":
        return node[1] in ("f", "g", "F", "G") or (
            node[1] in ("abs", "max", "min") and all(is_name(part) for part in node[2]) and _upper_mul(node[2])
        )
    if kind == "ratio":
        return all(is_name(part) for part in node[1])
    if kind == "seq":
        return bool(node[3]) and all(is_name(part) for part in node[3])
    return kind == "word" and len(node[1]) > 1


def _upper(name: str) -> bool:
    return name[:1].isupper() or name.startswith(("\\", "bar(", "vec(", "angle(", "triangle(", "overrightarrow("))


def _upper_mul(parts: tuple[Node, ...]) -> bool:
    return all(
        (part[0] == "sym" and _upper(part[1])) or (part[0] == "mul" and all(_upper(sub[1]) for sub in part[1]))
        for part in parts
    )


def _applied(node: Node) -> bool:
    """The argument in `P(A)`, `W(n)`, `y(0)`; a bracketed name or number."""
    return node[0] == "sym" or (
        node[0] == "seq" and node[1] == "(" and all(part[0] in ("sym", "num") for part in node[3])
    )


def bound_name(node: Node) -> str | None:
    """The variable of a left side such as `f(x)`; two such definitions may call it differently."""
    if node[0] == "call" and node[1] in ("f", "g", "F", "G") and len(node[2]) == 1 and node[2][0][0] == "sym":
        return node[2][0][1]
    if (
        node[0] == "mul"
        and len(node[1]) == 2
        and node[1][1][0] == "sym"
        and not all(part[0] == "sym" and _upper(part[1]) for part in node[1])
    ):
        return node[1][1][1]
    return None


def unnamed(node: Node) -> tuple[Node | None, Node]:
    """The name on the left of `=` or `∈`, if there is one, and what it names."""
    if node[0] != "rel":
        return None, node
    ops, sides = node[1], node[2]
    if ops[0] in ("=", "in") and is_name(sides[0]) and len(sides) == 2:
        if sides[1][0] == "seq" and sides[0][0] == "seq" and len(sides[0][3]) != len(sides[1][3]):
            return None, node
        return sides[0], sides[1]
    if len(sides) > 2 and set(ops) == {"="} and is_name(sides[0]):
        return sides[0], ("rel", ops[1:], sides[1:])
    return None, node


def spread(node: Node) -> list[Node]:
    """A node with `±` in it as its two values; any other as itself."""
    if not contains(node, "pm") or not _find_sign(node):
        return [node]
    return [_choose(node, plus=True), _choose(node, plus=False)]


def _find_sign(node: Node) -> bool:
    if node[0] == "pm":
        return True
    if node[0] in ("seq", "matrix", "cases", "setop"):
        return False
    return any(_find_sign(part) for part in _parts(node))


def _parts(node: Node) -> list[Node]:
    found: list[Node] = []
    for part in node[1:]:
        if isinstance(part, tuple) and part:
            found.extend([part] if isinstance(part[0], str) else [item for item in part if isinstance(item, tuple)])
    return found


def _choose(node: Node, *, plus: bool) -> Node:
    if node[0] == "pm":
        left, right = _choose(node[1], plus=plus), _choose(node[2], plus=plus)
        return ("add", (left, right if plus == (node[3] == "pm") else negate(right)))
    return tuple(
        (
            _choose(part, plus=plus)
            if part and isinstance(part[0], str)
            else tuple(_choose(item, plus=plus) if isinstance(item, tuple) else item for item in part)
        )
        if isinstance(part, tuple) and part
        else part
        for part in node
    )


def shape(node: Node) -> Shape:
    """The typed answer that a tree is.

    Raises:
        Unreadable: more than `MAX_ITEMS` values.
    """
    kind = node[0]
    if kind == "unit" and node[1][0] in ("seq", "rel", "setop"):
        return shape(node[1])
    if kind == "rel":
        name, value = unnamed(node)
        if name is not None:
            return shape(value)
    if kind == "seq":
        return _sequence(node)
    if kind in ("matrix", "cases", "setop", "ratio", "based", "named set"):
        return Shape(kind, node)
    if kind == "word":
        return Shape("text", node)
    values = spread(node)
    if len(values) > 1:
        return Shape("list", node, tuple(values))
    if kind == "rel":
        return Shape("relation", node)
    return Shape("scalar", node)


def renamed(node: Node, old: str, new: str) -> Node:
    """The node with one variable called by another name."""
    if node == ("sym", old):
        return ("sym", new)
    return tuple(renamed(part, old, new) if isinstance(part, tuple) else part for part in node)


def _label(name: Node) -> str:
    variable = bound_name(name)
    return repr(name if variable is None else renamed(name, variable, ""))


def _sequence(node: Node) -> Shape:
    items: list[Node] = []
    names: list[str] = []
    bare = node[1] in ("", "{")
    for item in node[3]:
        name, value = unnamed(item)
        if name is not None and name[0] == "seq":
            name = None
        spreads = spread(value) if bare else [value]
        items.extend(spreads)
        names.extend([_label(name) if name is not None else ""] * len(spreads))
        if len(items) > MAX_ITEMS:
            raise Unreadable(f"more than {MAX_ITEMS} values")
    kind = "list" if node[1] == "" else "set" if node[1] == "{" else "tuple"
    return Shape(kind, node, tuple(items), tuple(names))
