"""What kind of answer a tree is: names taken off, ± written out."""

from __future__ import annotations

import re
from typing import NamedTuple

from compass.verifier.reading.vocabulary import FUNCTIONS, GREEK_SET
from compass.verifier.tree import (
    WITHOUT_VALUE,
    ZERO,
    Call,
    Cases,
    Constant,
    Inverse,
    Matrix,
    NamedSet,
    Node,
    Number,
    PlusMinus,
    Power,
    Product,
    Ratio,
    Relation,
    Sequence,
    SetOperation,
    Sum,
    Symbol,
    Unreadable,
    Words,
    contains,
    negate,
    rebuild,
    substitute,
    symbols,
)

MAX_ITEMS = 200
_OF_ANGLES = frozenset(["sin", "cos", "tan", "cot", "sec", "csc"])
_DIFFERENTIALS = (Symbol("d"), Symbol("\\partial"))
_DENYING = frozenset("not no never none neither nor cannot isn't except without wrong incorrect false than".split())  # noqa: SIM905
_BOUNDING = re.compile(r"\b(?:at (?:most|least)|up to|no more|under|over|above|below|nearly|almost)$", re.IGNORECASE)
_NAMED_OBJECTS = ("\\", "bar(", "vec(", "angle(", "triangle(", "overrightarrow(")


class Shape(NamedTuple):
    """A typed answer.

    `kind` is one of `scalar`, `list` (bare, unordered unless `names`), `set`, `tuple`, `matrix`, `relation`, `conditions` (a
    list with inequalities), `setop`, `text`, or the name (`Node.kind`) of another kind without a value, such as `ratio`. `names` are the left sides that were taken off its items, empty for an
    item without one.
    """

    kind: str
    node: Node
    items: tuple[Node, ...] = ()
    names: tuple[str, ...] = ()


def is_name(node: Node) -> bool:
    """Whether a left side only names what follows: `x`, `f(x)`, `|AB|`, `AB`, `S_1 : S_2`, `(p, q)`."""
    match node:
        case Symbol() | Constant("e"):
            return True
        case Product((Power(Symbol(), Number(value)), Symbol())):
            return value == -1  # f^{-1}(x)
        case Product((Product((top, *_)), Inverse(Product((bottom, *_))))):
            return _is_differential(top) and bottom in _DIFFERENTIALS
        case Product((Symbol(first), Symbol(second))) if first.isupper() and second.islower():
            return _is_applied(first, Symbol(second))
        case Product(parts) if all(isinstance(part, Symbol) for part in parts):
            return _is_object(node) or (len(parts) == 2 and _is_change(parts[0]))
        case Product((Symbol(function), argument)):
            return _is_applied(function, argument)
        case Call(function, arguments) if function in _OF_ANGLES:
            return all(map(_is_angle, arguments))
        case Call(function) if function not in FUNCTIONS:
            return function != "residue"
        case Call("abs", (Symbol("z" | "w"),)):
            return True
        case Call("abs" | "max" | "min", arguments):
            return all(is_name(part) and _is_object(part) for part in arguments)
        case Ratio(items):
            return all(map(is_name, items))
        case SetOperation(_, left, right):
            return is_name(left) and is_name(right)
        case Sequence(_, _, items):
            return bool(items) and all(map(is_name, items))
        case Words(text):
            return (
                len(text) > 1 and _DENYING.isdisjoint(text.lower().split()) and _BOUNDING.search(text.strip()) is None
            )
    return False


def _is_change(node: Node) -> bool:
    """Whether a letter before another is no function of it: `dx`, `\\Delta x`."""
    return node in (Symbol("d"), Symbol("Delta"))


def _is_differential(node: Node) -> bool:
    """Whether the top of `dy/dx` or `d^2y/dx^2` begins here."""
    return (node.base if isinstance(node, Power) else node) in _DIFFERENTIALS


def _is_angle(node: Node) -> bool:
    """Whether a node can only be an angle: a Greek letter, `A`, `\\angle ABC`, and multiples of them; `x` may be asked for."""
    names = symbols(node)
    return bool(names) and all(name in GREEK_SET or name[:1].isupper() or name.startswith("angle(") for name in names)


def _is_object(node: Node) -> bool:
    """Whether a node names a point, a segment or the like: `A`, `AB`, `\\overline{AB}`."""
    match node:
        case Symbol(name):
            return name[:1].isupper() or name.startswith(_NAMED_OBJECTS)
        case Product(parts):
            return all(isinstance(part, Symbol) and _is_object(part) for part in parts)
    return False


def _is_applied(function: str, argument: Node) -> bool:
    """`P(A)`, `W(n)`, `y(0)`: a letter before a bracketed name or number."""
    if not function.isidentifier():
        return False
    match argument:
        case Symbol():
            return True
        case Sequence("(", _, items):
            return all(isinstance(part, (Symbol, Number)) for part in items)
    return False


def bound_names(node: Node) -> tuple[str, ...]:
    """The variables of a left side such as `f(x)`; two such definitions may call them differently."""
    match node:
        case Call(function, arguments) if function not in FUNCTIONS and all(
            isinstance(part, Symbol) and not part.name[0].isupper() for part in arguments
        ):
            return tuple(part.name for part in arguments)
        case Product((function, Symbol(variable))) if not (
            _is_object(node) or _is_change(function) or isinstance(function, Product)
        ):
            return (variable,)
    return ()


def place_variables(name: Node, value: Node) -> Node:
    """The value of `f(x, y)` with its variables replaced by their places, so that no other letter can become one of them."""
    for at, variable in enumerate(bound_names(name)):
        value = substitute(value, Symbol(variable), Symbol(f" {at}"))
    return value


def split_name(node: Node) -> tuple[Node | None, Node]:
    """The name on the left of `=` or `∈`, if there is one, and what it names."""
    match node:
        case Relation(("in",), (_, value)) if not isinstance(value, (Sequence, SetOperation, NamedSet, Relation)):
            return None, node
        case Relation((("=" | "in"),), (name, value)) if is_name(name):
            match name, value:
                case Sequence(_, _, names), Sequence(_, _, values) if len(names) != len(values):
                    return None, node
            return name, value
        case Relation(operators, (name, *sides)) if len(sides) > 1 and set(operators) == {"="} and is_name(name):
            return name, Relation(operators[1:], tuple(sides))
        case Relation(operators, (name, *sides)) if (
            len(sides) > 1 and set(operators) == {"="} and _is_of_letters(name) and not any(map(symbols, sides))
        ):
            return name, Relation(operators[1:], tuple(sides))
        case Product((Symbol(name) as point, Sequence("(", ")", (_, _, *_)) as place)) if name[0].isupper():
            return point, place
    return None, node


def name_items(name: Node | None, value: Node) -> Node:
    """The value of `(x, y) = (1, 2)` with its names on its items, `(x = 1, y = 2)`, and so each tuple of a set of them; any other as it is."""
    match name, value:
        case Sequence(_, _, names), Sequence("(" | "<" as opening, closing, items) if len(names) == len(items):
            named = (Relation(("=",), pair) for pair in zip(names, items, strict=True))
            return Sequence(opening, closing, tuple(named))
        case Sequence(), Sequence("{" as opening, closing, items):
            return Sequence(opening, closing, tuple(name_items(name, item) for item in items))
    return value


def _is_of_letters(node: Node) -> bool:
    """Whether a node is a sum or a quotient of different letters: what an answer such as `m+n = 7+18 = 25` calls its chain."""
    match node:
        case Sum(parts) | Product(parts):
            letters = [part.operand if isinstance(part, Inverse) else part for part in parts]
            return all(isinstance(letter, Symbol) for letter in letters) and len(set(letters)) == len(letters)
    return False


def expand_sign(node: Node) -> list[Node]:
    """A node with `±` in it as its two values; any other as itself."""
    if not contains(node, PlusMinus) or not _has_sign(node):
        return [node]
    return [choose_sign(node, plus=True), choose_sign(node, plus=False)]


def _has_sign(node: Node) -> bool:
    match node:
        case PlusMinus():
            return True
        case Sequence() | Matrix() | Cases() | SetOperation():
            return False
    return any(map(_has_sign, node.children()))


def choose_sign(node: Node, *, plus: bool) -> Node:
    """A node with the upper sign of each `±` in it, or with the lower."""
    match node:
        case PlusMinus(left, right, sign):
            left, right = choose_sign(left, plus=plus), choose_sign(right, plus=plus)
            if left == ZERO and isinstance(right, Sequence):
                return right if plus == (sign == "pm") else negate(right)
            return Sum((left, right if plus == (sign == "pm") else negate(right)))
    return rebuild(node, lambda part: choose_sign(part, plus=plus))


def shape(node: Node) -> Shape:
    """The typed answer that a tree is.

    Raises:
        Unreadable: more than `MAX_ITEMS` values.
    """
    match node:
        case Number() | Symbol():
            return Shape("scalar", node)
        case Relation():
            name, value = split_name(node)
            if name is not None:
                return shape(value)
        case Sequence():
            return _sequence(node)
        case Words():
            return Shape("text", node)
        case _ if node.__class__ in WITHOUT_VALUE:
            return Shape(node.kind, node)
    values = expand_sign(node)
    if len(values) > 1:
        return Shape("list", node, tuple(values))
    return Shape("relation" if isinstance(node, Relation) else "scalar", node)


def is_conditions(node: Node) -> bool:
    """Whether a bare list holds an inequality, a membership or another list that does."""
    match node:
        case Relation(operators):
            return set(operators) != {"="}
        case Sequence("", _, items):
            return any(map(is_conditions, items))
    return False


def _sequence(node: Sequence) -> Shape:
    if node.opening == "" and is_conditions(node):
        return Shape("conditions", node)
    items: list[Node] = []
    names: list[str] = []
    for item in node.items if node.opening else _solutions(node.items):
        name, value = split_name(item)
        spreads = expand_sign(value) if node.opening in ("", "{") else [value]
        items.extend(spreads)
        names.extend(["" if name is None or isinstance(name, Sequence) else label(name)] * len(spreads))
        if len(items) > MAX_ITEMS:
            raise Unreadable(f"more than {MAX_ITEMS} values")
    kind = {"": "list", "{": "set"}.get(node.opening, "tuple")
    return Shape(kind, node, tuple(items), tuple(names))


def _solutions(items: tuple[Node, ...]) -> tuple[Node, ...]:
    """The items of a list, with values for the same variables again and again brought together: `p=5, q=2, p=7, q=2` is two pairs."""
    if len(items) < 4:
        return items
    names = [item.sides[0] for item in items if isinstance(item, Relation) and item.operators == ("=",)]
    width = len(set(names))
    if len(names) < len(items) or width < 2 or len(items) == width or len(items) % width:
        return items
    groups = [items[at : at + width] for at in range(0, len(items), width)]
    if any({item.sides[0] for item in group} != set(names) for group in groups):
        return items
    order = names[:width]
    return tuple(
        Sequence("(", ")", tuple(sorted(group, key=lambda item: order.index(item.sides[0])))) for group in groups
    )


def label(name: Node) -> str:
    """A name as text, the variables of an `f(x)` by their place."""
    for at, variable in enumerate(bound_names(name)):
        name = substitute(name, Symbol(variable), Symbol(f" {at}"))
    return repr(name)
