"""Whether the strict mode accepts the form of an answer that equals the gold: worked out, and not copied from the question.

*Final*: an answer may leave open only such kinds of operations (a sum, product, quotient or power of numbers, a root, a factorial,
another function of numbers, an integral, sum or limit) as the gold itself leaves open. To the gold `10` the answers `10.0` and `10 cm`
are final, `5+5`, `20/2` and `\\sqrt{100}` are not; to `2\\sqrt3` the answer `\\sqrt{12}` is. A fraction of two numbers is a number, reduced
or not, and so is `2 \\times 10^5`. A chain of equations that ends in the value is judged by its last side.

*Copied*: where the question holds a formula that equals the gold and is not written as it, an answer has to be nearer to the gold than
to the formula, and not much larger than the gold: what the two are made of is compared, without names, units, brackets and signs, so
that no edit of the formula makes it an answer. A plain number is no answer only where the gold writes it in another way:
3/20 where 0.15 is asked for, 42/56 for 3/4, 4.5 * 10^4 for 45000; otherwise a right answer may well be in the question.
Where the gold itself is written in the question (`gives_away`), nothing can be refused; such problems are for curation to drop. Nor is an equation an answer by which the
question gives a name its number: to the gold `4` not the `PD=4` of a question that sets PD to 4 and asks for r + s.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from flint import fmpq

from compass.verifier import budget
from compass.verifier.comparing.exact import rational
from compass.verifier.comparing.shapes import split_name
from compass.verifier.comparing.structure import compare
from compass.verifier.reading.grammar import parse
from compass.verifier.reading.normalise import MAX_LENGTH, normalise
from compass.verifier.reading.numbers import read_literal
from compass.verifier.reading.units import share_of
from compass.verifier.tree import (
    BigOperator,
    Call,
    Cases,
    Constant,
    Degrees,
    Inverse,
    Negative,
    Node,
    Number,
    Percent,
    Power,
    Product,
    Quantity,
    Relation,
    Sequence,
    Sum,
    Symbol,
    Unreadable,
    Words,
    rebuild,
    symbols,
    walk,
)
from compass.verifier.verdict import mark, rewind

_TEN, _HALF = 10, fmpq(1, 2)


def is_final(gold: str, answer: str) -> bool:
    """Whether an answer that equals the gold leaves no operation open that the gold has carried out. What cannot be read is final."""
    one, two = read_tree(gold), read_tree(answer)
    if one is None or two is None:
        return True
    return _open_operations(last_side(two)) <= _open_operations(last_side(one))


def read_tree(text: str) -> Node | None:
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


def _open_operations(tree: Node) -> set[str]:
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


MAX_FORMULAS = 100
"""Formulas of a question that are looked at, the last ones."""

_FORMULA = re.compile(r"\$\$(.{1,2000}?)\$\$|\$(.{1,2000}?)\$|\\\((.{1,2000}?)\\\)|\\\[(.{1,2000}?)\\\]", re.DOTALL)
_PLAIN = re.compile(r"(?<![\w$\\])[-\w.(){}\[\]|^/*+=<>!√²³,]*[-^/*+=<>!√²³][-\w.(){}\[\]|^/*+=<>!√²³ ,]*")
_PLAIN_WORD = re.compile(r"(?<![A-Za-z\\])(?!(?:sqrt|sin|cos|tan|log|ln|pi|exp)\b)[A-Za-z]{2,}")
_SEPARATORS = re.compile(r"\\(?:text|mbox)\s?\{[^{}]{0,40}\}|\\q?quad|\\\\(?!\w)|;|\n\s*\n")
_NUMERAL = re.compile(
    r"(?:(?<![\w.])(?P<whole>\d{1,15})\s?)?\\frac\{?(?P<top>-?\d{1,15})\}?\{?(?P<bottom>-?\d{1,15})\}?"
    r"|(?:(?<![\w.])(?P<whole2>\d{1,15})\s)?(?<![\w.])(?P<top2>\d{1,15})/(?P<bottom2>-?\d{1,15})(?![\w/])"
    r"|(?<![\w.])(?P<decimal>\d[\d,]{0,15}(?:\.\d{1,15})?|\.\d{1,15})(?:\s?\\(?:times|cdot)\s?10\^\{?(?P<exponent>[+-]?\d{1,3})(?!\d)\}?"
    r"|(?P<share>\s?\\?%|\s?(?:\\text\s?\{\s?)?(?:per\s?cent|pct|per\s?mille?|promille|ppm|ppb|parts per \w+)\b\s?\}?))?"
)


def is_copied(gold: str, answer: str, question: str) -> bool:
    """Whether an answer that equals the gold is a formula of the question, perhaps with trivial edits, and the gold is not."""
    one, two = read_tree(gold), read_tree(answer)
    if one is None or two is None:
        return False
    named = _named_number(two)
    whole, one, two = one, _strip(value_of(one)), _strip(value_of(last_side(two)))
    if named is not None and _named_number(whole) is None and _is_given(named, question):
        return True
    if _is_plain(two):
        return _is_rewritten_number(one, two, question)
    if _key(one) == _key(two):
        return False
    asked, given = _ingredients(one), _ingredients(two)
    for formula in map(_strip, read_formulas(question)):
        made_of = _ingredients(formula)
        near = _distance(given, made_of) < _distance(given, asked) or given.total() > LARGER * asked.total() + SLACK
        if (near or _holds(two, formula)) and not _holds(one, formula) and _equal(whole, formula):
            return True
    return False


Named = tuple[frozenset[object], fmpq]
"""The names that an equation gives a number, and that number."""


def _named_number(node: Node) -> Named | None:
    """What an equation names, `PD=4`, `4=PD` or `x=PD=4`; None for anything else."""
    match _strip(node):
        case Relation(operators, sides) if set(operators) == {"="}:
            numbers = [rational(side) for side in sides]
            names = frozenset(_key(side) for side, number in zip(sides, numbers, strict=True) if number is None)
            found = {number for number in numbers if number is not None}
            return (names, found.pop()) if names and len(found) == 1 else None
    return None


def _is_given(named: Named, question: str) -> bool:
    """Whether the question gives one of the names this number and no other; options and cases give it several."""
    names, number = named
    given = _read_given(question)
    return any({value for others, value in given if name in others} == {number} for name in names)


@lru_cache(maxsize=512)
def _read_given(question: str) -> frozenset[Named]:
    """What the equations of a question name."""
    trees = filter(None, map(read_tree, find_formula_texts(question)))
    return frozenset(filter(None, (_named_number(part) for tree in trees for part in walk(tree))))


LARGER, SLACK = 1.5, 3
"""An answer may have so many times the gold's ingredients, and so many more, before it counts as the question's formula with additions."""


def _strip(node: Node) -> Node:
    """A tree without units (but those of shares), brackets around one value, first powers and factors of one, and with roots as powers."""
    node = rebuild(node, _strip)
    match node:
        case Quantity(inner, unit) if share_of(unit) is None:
            return inner
        case Degrees(inner) | Sequence(_, _, (inner,)):
            return inner
        case Power(base, Number(value)) if value == 1:
            return base
        case Power(base, exponent) if rational(exponent) == _HALF:
            return Call("sqrt", (base,))
        case Product(factors):
            kept = tuple(factor for factor in factors if not (isinstance(factor, Number) and factor.value == 1))
            return (
                node
                if len(kept) == len(factors)
                else kept[0]
                if len(kept) == 1
                else Product(kept)
                if kept
                else factors[0]
            )
    return node


def _ingredients(node: Node) -> Counter[object]:
    """What a tree is made of, in any order and with any sign: its numbers, letters, functions and operations, each with its count."""
    found: Counter[object] = Counter()
    for part in walk(node):
        match part:
            case Number(value):
                found[str(abs(value))] += 1
            case Symbol(name) | Constant(name) | Call(name):
                found[name] += 1
            case Product() | Negative():
                pass
            case _:
                found[part.kind] += 1
    return found


def _distance(one: Counter[object], other: Counter[object]) -> int:
    """How many ingredients have to be added and taken away to make the other of one."""
    return (one - other).total() + (other - one).total()


def gives_away(gold: str, question: str, *, items: bool = True) -> bool:
    """Whether the gold is written in the question as a formula; plain numbers and single letters give nothing away.

    Args:
        gold: the published answer.
        question: the problem's text.
        items: count an item of a list, a coordinate or a cell as well, and not whole formulas and sides of relations alone.
    """
    tree = read_tree(gold)
    if tree is None:
        return False
    value = value_of(tree)
    found = read_formulas(question) if items else find_stated_formulas(question)
    return not _is_plain(value) and any(_key(value) == _key(formula) for formula in found)


@lru_cache(maxsize=512)
def read_formulas(question: str) -> tuple[Node, ...]:
    """The formulas of a question, and the sides, items and cells of those that are relations, lists or systems; without plain numbers,
    single letters and prose."""
    found: dict[Node, None] = {}
    for text in find_formula_texts(question):
        tree = read_tree(text)
        for part in [] if tree is None else _parts(tree):
            if not _is_plain(part):
                found[part] = None
    return tuple(found)


def find_stated_formulas(question: str) -> tuple[Node, ...]:
    """The formulas of a question that stand alone, and the sides of those that are relations."""
    trees = [tree for text in find_formula_texts(question) if (tree := read_tree(text)) is not None]
    sides = [side for tree in trees if isinstance(tree, Relation) for side in tree.sides]
    return tuple(part for part in (*trees, *sides) if not _is_plain(part))


def _is_rewritten_number(gold: Node, answer: Node, question: str) -> bool:
    """Whether an answer is a number of the question that the gold writes in another way: 3/20 where 0.15 is asked for, 42/56 for 3/4, 45000 for
    4.5 * 10^4, 72 for 2^3 * 3^2."""
    asked, given = _written_tree(gold), _written_tree(answer)
    if asked is None or given is None or asked == given:
        return False
    if "whole" in (asked[0], given[0]) and {"scientific", "calculation"}.isdisjoint((asked[0], given[0])):
        return False  # 25 for 25% is worked out
    text = normalise(question[:MAX_LENGTH])
    numbers = set()
    for match in _NUMERAL.finditer(text):
        kind, digits = _written(match)
        numbers.add((kind, digits))
        if text.endswith("-", 0, match.start()):  # a sign, or that of a difference
            numbers.add((kind, f"-{digits}"))
    return given in numbers and asked not in numbers


def _written(numeral: re.Match[str]) -> tuple[str, str]:
    """How a number of a question is written, but for a sign before it: as a whole number, a decimal, a share of a hundred, thousand or million, with a power
    of ten, as a fraction of which two numbers, or mixed."""
    if numeral["share"] and (tree := read_tree(numeral[0])) is not None and (share := _written_tree(tree)) is not None:
        return share
    if numeral["decimal"]:
        value = read_literal(numeral["decimal"].replace(",", "")).value
        return _written_decimal(value) if numeral["exponent"] is None else _scientific(value, int(numeral["exponent"]))
    top, bottom = numeral["top"] or numeral["top2"], numeral["bottom"] or numeral["bottom2"]
    whole = numeral["whole"] or numeral["whole2"]
    if whole is None or int(bottom) == 0:
        return _fraction(int(top), int(bottom))
    return "mixed", str(int(whole) + fmpq(int(top), int(bottom)))


def _fraction(top: int | fmpq, bottom: int | fmpq) -> tuple[str, str]:
    return "fraction", f"{'-' * ((top < 0) != (bottom < 0))}{abs(top)}/{abs(bottom)}"


def _written_decimal(value: fmpq) -> tuple[str, str]:
    return ("whole" if value.q == 1 else "decimal"), str(value)


def _scientific(value: fmpq, exponent: int) -> tuple[str, str]:
    return "scientific", f"{value}e{exponent}"


def _written_tree(node: Node) -> tuple[str, str] | None:
    """`_written` of a tree without units, with its sign; a number that is left as a sum, product or power of others is a calculation. None of what is
    no number."""
    match node:
        case Negative(inner):
            written = _written_tree(inner)
            return written and (written[0], f"-{written[1]}")
        case Percent(Number(value, literal)):
            return "percent", literal or str(value)
        case Quantity(Number(value, literal), unit):
            return unit, literal or str(value)
        case Number(_, str(literal)) if "e" in literal.lower():
            mantissa, _, exponent = literal.lower().partition("e")
            return _scientific(read_literal(mantissa).value, int(exponent))
        case Number(value, literal):
            return _written_decimal(value) if literal is not None or value.q == 1 else ("mixed", str(value))
        case Product((Number(value), Power(Number(base), Number(exponent)))) if base == _TEN and exponent.q == 1:
            return _scientific(value, int(exponent))
        case Product((Number(top), Inverse(Number(bottom)))):
            return _fraction(top, bottom)
        case Inverse(Number(bottom)):
            return _fraction(1, bottom)
        case Sum() | Product() | Power() if _is_constant(node):
            return "calculation", ""
    return None


def find_formula_texts(question: str) -> list[str]:
    """The formulas of a question as they are written: what is between delimiters, and runs of mathematics in plain text."""
    texts = []
    for match in _FORMULA.finditer(question):
        inside = next(group for group in match.groups() if group is not None).strip().strip(".,;: ")
        texts += [inside, *(piece.strip(" .,;:") for piece in _SEPARATORS.split(inside))]
    blank = _FORMULA.sub(" ; ", question)
    for match in _PLAIN.finditer(blank):
        run = _PLAIN_WORD.split(match[0])
        texts += [piece.strip(" .,;:") for piece in run]
    return [text for text in dict.fromkeys(texts) if 1 < len(text) <= MAX_LENGTH][-MAX_FORMULAS:]


def is_formula_text(text: str) -> bool:
    """Whether a text is a formula that could be copied as an answer: more than a plain number, a letter or prose."""
    tree = read_tree(text)
    return tree is not None and not _is_plain(tree)


def _parts(tree: Node) -> list[Node]:
    """A formula, and what it is made of where it is a relation, a list or a system."""
    parts = [tree]
    match tree:
        case Relation(_, sides):
            parts += [part for side in sides for part in _parts(side)]
        case Sequence(_, _, items):
            parts += [part for item in items for part in _parts(item)]
        case Cases(rows):
            parts += [part for row in rows for cell in row for part in _parts(cell)]
    return parts


def _is_plain(node: Node) -> bool:
    """Whether a node is a number, a single letter or prose: nothing that would have to be worked out, or could be copied."""
    match node:
        case Number() | Symbol() | Constant() | Words():
            return True
        case Negative(inner) | Quantity(inner, _) | Percent(inner) | Degrees(inner) | Inverse(inner):
            return _is_plain(inner)
        case Product((first, Inverse(second))):
            return isinstance(first, Number) and isinstance(second, Number)
        case Product((Number(), Power(Number(base), _))):
            return base == _TEN
        case Relation(("=",), (name, value)):
            return isinstance(name, Symbol) and _is_plain(value)
    return False


def _key(node: Node) -> object:
    """What a node and its trivial rewritings share: order of terms and factors, brackets, `+0` and `\\cdot 1` make no difference."""
    match node:
        case Number(value):
            return str(value)
        case Sum():
            terms = _terms(node)
            return ("sum", tuple(sorted(terms.items(), key=repr))) if len(terms) != 1 else next(iter(terms))
        case Product() | Negative() | Inverse():
            factors = _factors(node)
            return (
                ("mul", tuple(sorted(factors.items(), key=repr))) if sum(factors.values()) != 1 else next(iter(factors))
            )
        case Sequence("(" | "[" | "{", _, (item,)):
            return _key(item)
        case Relation(("=",), sides):
            return ("=", tuple(sorted(map(_key, sides), key=repr)))
        case Relation(operators, sides) if operators[0] in (">", ">="):
            turned = tuple({">": "<", ">=": "<="}.get(operator, operator) for operator in reversed(operators))
            return ("rel", turned, tuple(map(_key, reversed(sides))))
    return (node.kind, tuple(_field(getattr(node, field)) for field in node.__match_args__))


def _field(part: object) -> object:
    if isinstance(part, Node):
        return _key(part)
    return tuple(map(_field, part)) if isinstance(part, tuple) else part


def _terms(node: Node, sign: int = 1) -> Counter:
    match node:
        case Sum(terms):
            return sum((_terms(term, sign) for term in terms), Counter())
        case Negative(Sum() as inner):
            return _terms(inner, -sign)
    key = _key(node if sign > 0 else Negative(node))
    return Counter() if key == "0" else Counter([key])


def _factors(node: Node) -> Counter:
    match node:
        case Product(factors):
            found = sum((_factors(factor) for factor in factors), Counter())
        case Negative(Number(value)):
            return Counter([str(-value)])
        case Negative(inner):
            found = _factors(inner) + Counter(["-1"])
        case Inverse(inner):
            return Counter({("inv", key): count for key, count in _factors(inner).items()})
        case _:
            return Counter([_key(node)])
    found.pop("1", None)
    if found["-1"] > 1:
        found["-1"] %= 2
    return +found or Counter(["1"])


def _holds(whole: Node, formula: Node) -> bool:
    """Whether a tree is a formula, has it as a part, or has all of its terms or factors."""
    key = _key(formula)
    if any(_key(node) == key for node in walk(whole)):
        return True
    match formula, whole:
        case Sum(), Sum():
            return not _terms(formula) - _terms(whole)
        case Product(), Product() | Negative():
            return not _factors(formula) - _factors(whole)
    return False


def _equal(gold: Node, formula: Node) -> bool:
    budget.start()
    marked = mark()
    try:
        return bool(compare(gold, formula).same or compare(gold, value_of(formula)).same)
    except Unreadable:
        return False
    finally:
        rewind(marked)
