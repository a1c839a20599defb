"""Whether an answer is in its final form: arithmetic between numbers must be done where the gold has it done.

Asked in `Mode.STRICT` of answers that equal the gold. An answer may leave open only such kinds of operations (a sum, product,
quotient or power of numbers, a root, a factorial, another function of numbers, an integral, sum or limit) as the gold itself
leaves open. To the gold `10` the answers `10.0` and `10 cm` are final, `5+5`, `20/2` and `\\sqrt{100}` are not; to `2\\sqrt3` the answer
`\\sqrt{12}` is. A fraction of two numbers is a number, reduced or not, and so is `2 \\times 10^5`. A chain of equations that ends
in the value is judged by its last side.
"""

from __future__ import annotations

from compass.verifier.comparing.exact import rational
from compass.verifier.comparing.shapes import split_name
from compass.verifier.contents import symbols, walk
from compass.verifier.leniency import mark, rewind
from compass.verifier.reading.grammar import parse
from compass.verifier.reading.normalise import MAX_LENGTH, normalise
from compass.verifier.tree import (
    BigOperator,
    Call,
    Inverse,
    Negative,
    Node,
    Number,
    Power,
    Product,
    Relation,
    Sum,
    Unreadable,
)

_TEN = 10


def is_final(gold: str, answer: str) -> bool:
    """Whether an answer that equals the gold leaves no operation open that the gold has carried out. What cannot be read is final."""
    one, two = tree_of(gold), tree_of(answer)
    if one is None or two is None:
        return True
    return _open(last_side(two)) <= _open(last_side(one))


def tree_of(text: str) -> Node | None:
    """The tree of a text, None where it cannot be read."""
    marked = mark()
    tree = parse(normalise(text)) if len(text) <= MAX_LENGTH else None
    rewind(marked)
    return None if tree is None or isinstance(tree, Unreadable) else tree


def value_of(tree: Node) -> Node:
    """What a tree names, without its name."""
    name, value = split_name(tree)
    return tree if name is None else value


def last_side(tree: Node) -> Node:
    """The last side of a chain of equal constants or of a named value; any other tree as it is."""
    value = value_of(tree)
    match value:
        case Relation(operators, sides) if set(operators) == {"="} and (value is not tree or not symbols(value)):
            return sides[-1]
    return value


def _open(tree: Node) -> set[str]:
    """The kinds of operations on numbers that a tree leaves open."""
    kinds: set[str] = set()
    for node in walk(tree):
        match node:
            case Sum(terms) if sum(_is_constant(term) for term in terms) > 1:
                kinds.add("sum")
            case Product(factors) if any(isinstance(factor, Number) and factor.value == 0 for factor in factors):
                kinds.add("product")
            case Product(factors):
                kinds |= _open_product(factors)
            case Power(base, exponent) if _is_constant(base) and _is_constant(exponent) and rational(base) != _TEN:
                whole = rational(exponent)
                kinds.add("power" if whole is not None and whole.q == 1 else "root")
            case Call("sqrt" | "root" | "cbrt", arguments) if not any(map(symbols, arguments)):
                kinds.add("root")
            case Call(function, arguments) if arguments and not symbols(node):
                kinds.add(function)
            case BigOperator(operator):
                kinds.add(operator)
    return kinds


def _open_product(factors: tuple[Node, ...]) -> set[str]:
    """Open operations of one product: numbers times numbers, and a division that comes out even."""
    top = [factor for factor in factors if _is_constant(factor) and not isinstance(factor, (Inverse, Power))]
    bottom = [factor.operand for factor in factors if isinstance(factor, Inverse) and _is_constant(factor)]
    kinds = {"product"} if len(top) > 1 or len(bottom) > 1 else set()
    if len(top) == len(bottom) == 1:
        one, two = rational(top[0]), rational(bottom[0])
        if one is not None and two is not None and two != 0 and (one / two).q == 1:
            kinds.add("quotient")
    return kinds


def _is_constant(node: Node) -> bool:
    """Whether a node is a rational number, however it is written."""
    match node:
        case Number():
            return True
        case Negative(operand) | Inverse(operand):
            return _is_constant(operand)
        case Product(factors) | Sum(factors):
            return all(map(_is_constant, factors))
        case Power(base, exponent):
            return _is_constant(base) and _is_constant(exponent)
    return False
