"""Whether two single values are equal: exact rationals, exact algebra, ball arithmetic, then the rounding rule."""

from __future__ import annotations

from flint import arb, fmpq

from compass.verifier.comparing import rounding, sympy_client
from compass.verifier.comparing.exact import rational, same_function
from compass.verifier.comparing.numeric import approximate, identical
from compass.verifier.reading.units import conversion, is_vague
from compass.verifier.tree import Node, OverBudget, Unreadable, contains, symbols
from compass.verifier.verdict import Finding

DEGREE, PERCENT = "degree", "percent"


def peel(node: Node) -> tuple[Node, str | None]:
    """A value and the unit, percent or degree sign after it."""
    unit: str | None = None
    while node[0] in ("unit", "percent", "degree"):
        mark = node[2] if node[0] == "unit" else node[0]
        unit = mark if unit is None or mark == unit else f"{mark} {unit}"
        node = node[1]
    if unit is None and node[0] in ("mul", "neg", "add"):
        return _peel_inside(node)
    return node, unit


def _peel_inside(node: Node) -> tuple[Node, str | None]:
    """`6.02 \\times 10^{23} mol` and `-5 cm` carry their unit on a part."""
    if node[0] == "neg":
        value, unit = peel(node[1])
        return (("neg", value), unit) if unit else (node, None)
    last = node[1][-1]
    if last[0] in ("unit", "percent", "degree") and (node[0] == "mul" and len(node[1]) > 1):
        value, unit = peel(last)
        return ("mul", (*node[1][:-1], value)), unit
    if node[0] == "mul" and node[1][0][0] == "unit" and not contains(("mul", node[1][1:]), "unit"):
        return ("mul", (node[1][0][1], *node[1][1:])), node[1][0][2]
    return node, None


def literal_of(node: Node) -> str | None:
    """The decimal text of a number written as one, `2.5` or `2.5 \\times 10^3`; None for anything else."""
    if node[0] == "num":
        return node[2]
    if node[0] == "neg":
        inner = literal_of(node[1])
        return None if inner is None else "-" + inner
    if node[0] == "mul" and len(node[1]) == 2:
        head, tail = node[1]
        if head[0] == "num" and tail[0] == "pow" and tail[1] == ("num", fmpq(10), None):
            exponent = rational(tail[2])
            if exponent is not None and exponent.q == 1 and "e" not in (head[2] or "").lower():
                return f"{head[2] or str(head[1])}e{exponent}"
    return None


def compare(gold: Node, answer: Node) -> Finding:
    """Compare two single values, units and signs of percent and degree included.

    Raises:
        OverBudget, Unreadable: a side that cannot be evaluated.
    """
    gold, gold_unit = peel(gold)
    answer, answer_unit = peel(answer)
    if gold_unit == answer_unit:
        return values(gold, answer)
    if gold_unit and answer_unit:
        if is_vague(gold_unit, answer_unit) or is_vague(answer_unit, gold_unit):
            return values(gold, answer)
        factor = conversion(answer_unit, gold_unit)
        if factor is None:
            return Finding(False, "structure", f"{gold_unit} against {answer_unit}")
        return values(gold, ("mul", (("num", factor, None), answer)))
    unit, marked_gold = (gold_unit or answer_unit), gold_unit is not None
    found = values(gold, answer)
    if found.same or unit not in (DEGREE, PERCENT):
        return found
    scale: Node = (
        ("num", fmpq(1, 100), None) if unit == PERCENT else ("mul", (("const", "pi"), ("num", fmpq(1, 180), None)))
    )
    bare = answer if marked_gold else gold
    if unit == DEGREE and not any(item == ("const", "pi") for item in _flat(bare)):
        return found
    marked = ("mul", (gold if marked_gold else answer, scale))
    second = values(marked, bare) if marked_gold else values(bare, marked)
    return second if second.same else found


def _flat(node: Node) -> list[Node]:
    from compass.verifier.tree import walk

    return walk(node)


def values(gold: Node, answer: Node) -> Finding:
    """Compare two values without units."""
    if gold == answer:
        rational(gold)  # a division by zero or a number over budget equals nothing
        return Finding(True, "structure", "the same expression")
    for node in (gold, answer):
        if node[0] in ("word", "seq", "rel", "matrix", "cases", "setop", "ratio", "based", "named set"):
            raise Unreadable(f"a {node[0]} where a single value is expected")
    if contains(gold, "const") or contains(answer, "const"):
        infinite = _infinity(gold), _infinity(answer)
        if any(infinite):
            return Finding(infinite[0] == infinite[1], "structure", "infinite")
    one, two = rational(gold), rational(answer)
    if one is not None and two is not None:
        return numbers(one, literal_of(gold), two, literal_of(answer))
    names = symbols(gold), symbols(answer)
    if names[0] ^ names[1] == {"I"}:  # computer algebra writes the imaginary unit so
        return values(_imaginary(gold), _imaginary(answer))
    # between a constant and an expression algebra decides nothing that a point would not
    exact = None if bool(names[0]) != bool(names[1]) else _exact(gold, answer)
    if exact is not None:
        return Finding(exact, "algebra", "as rational functions")
    same = _numeric(gold, answer)
    if same is None and (contains(gold, "big") or contains(answer, "big")):
        return sympy_client.compare(gold, answer)
    if same is None:
        return Finding(None, "numeric", "no point where both are defined")
    if same or any(names):
        return Finding(same, "numeric", "equal at every point tried" if same else "different at a point")
    if _rounded(gold, one, answer, two):
        return Finding(True, "numeric", "equal up to rounding")
    return Finding(False, "numeric", "different values")


def _imaginary(node: Node) -> Node:
    if node == ("sym", "I"):
        return ("const", "i")
    return tuple(_imaginary(part) if isinstance(part, tuple) else part for part in node)


def _numeric(gold: Node, answer: Node) -> bool | None:
    try:
        return identical(gold, answer)
    except OverBudget:
        raise
    except Unreadable:
        if contains(gold, "big") or contains(answer, "big"):
            return None  # an integral or a limit
        raise


def _exact(gold: Node, answer: Node) -> bool | None:
    try:
        return same_function(gold, answer)
    except OverBudget:
        return None


def _infinity(node: Node) -> int:
    if node == ("const", "inf"):
        return 1
    if node[0] == "neg":
        return -_infinity(node[1])
    return 0


def numbers(gold: fmpq, gold_literal: str | None, answer: fmpq, answer_literal: str | None) -> Finding:
    """Compare two exact numbers; the literals are their decimal texts, if they have any."""
    if gold == answer:
        return Finding(True, "rational", f"both are {_shown(gold)}")
    if gold_literal is not None and rounding.gold_is_rounded(gold, gold_literal, answer, answer_literal):
        return Finding(True, "rational", f"rounds to the gold {gold_literal}")
    if answer_literal is not None and gold_literal is None and rounding.answer_is_rounded(gold, answer, answer_literal):
        return Finding(True, "rational", f"{answer_literal} is {_shown(gold)} rounded")
    return Finding(False, "rational", f"{_shown(gold)} against {_shown(answer)}")


def _shown(value: fmpq) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"a number of {len(text)} digits"


def _rounded(gold: Node, gold_value: fmpq | None, answer: Node, answer_value: fmpq | None) -> bool:
    """The rounding rule between a decimal and an irrational constant."""
    gold_literal, answer_literal = literal_of(gold), literal_of(answer)
    if gold_literal is not None and gold_value is not None and answer_value is None:
        value: arb | None = approximate(answer)
        return value is not None and rounding.gold_is_rounded(gold_value, gold_literal, value, None)
    if answer_literal is not None and answer_value is not None and gold_value is None:
        value = approximate(gold)
        return value is not None and rounding.answer_is_rounded(value, answer_value, answer_literal)
    return False
