"""Lists without brackets and what joins their items; set-builders, whose conditions are such lists."""

from __future__ import annotations

from compass.verifier.reading.parser import BAR, END, LIST, SUCH_THAT, Parser
from compass.verifier.reading.vocabulary import RELATIONS
from compass.verifier.tree import NamedSet, Node, Relation, Sequence, Symbol, Unreadable

_DIVIDERS = frozenset([BAR, ("op", ":"), ("cmd", "mid"), ("cmd", "colon"), ("op", ";")])
_OPENERS = frozenset(("op", sign) for sign in ("(", "[", "{", "\\{"))
_CLOSERS = frozenset(("op", sign) for sign in (")", "]", "}", "\\}"))
_RELATIONS = frozenset(("cmd" if name.isalpha() else "op", name) for name in RELATIONS)


def bare_list(items: list[Node], separators: list[str]) -> Node:
    """Items without brackets, and what joins them: `or` unites what `and` and commas have joined.

    A word after the last comma joins all (`a, b, or c`), and so does a single word among commas, unless each of its sides
    gives several variables their values (`x = 1, y = 2 or x = 2, y = 1`).
    """
    words = {sign.lstrip(", ") for sign in separators} & {"and", "or"}
    if not words:
        return Sequence("", "", tuple(split_rows(items, separators)))
    if len(words) == 1 and not ("or" in separators and "," in separators and _assign_several(items)):
        return Sequence("", *words, tuple(items))
    groups: list[list[Node]] = [[items[0]]]
    for item, sign in zip(items[1:], separators, strict=True):
        if sign.endswith("or"):
            groups.append([item])
        else:
            groups[-1].append(item)
    parts = tuple(group[0] if len(group) == 1 else Sequence("", "and", tuple(group)) for group in groups)
    return Sequence("", "or", parts) if len(parts) > 1 else parts[0]


def _assign_several(items: list[Node]) -> bool:
    """Whether the items are equations with different names on their left."""
    names = {item.sides[0] for item in items if isinstance(item, Relation) and item.operators == ("=",)}
    return len(names) > 1


def split_rows(items: list[Node], separators: list[str]) -> list[Node]:
    """Items joined by both `;` and `,` are rows: `1,2;3,4` lists two pairs."""
    if ";" not in separators or "," not in separators:
        return items
    rows: list[list[Node]] = [[items[0]]]
    for item, sign in zip(items[1:], separators, strict=True):
        if sign == ";":
            rows.append([item])
        else:
            rows[-1].append(item)
    return [Sequence("(", ")", tuple(row)) if len(row) > 1 else row[0] for row in rows]


def set_builder(parser: Parser) -> Node | None:
    """The head of a set-builder, `x` of `x | x > 1`, read with the sign after it; None where the braces hold no condition."""
    divider = _divider(parser)
    if divider is None:
        return None
    token, parser.tokens[divider] = parser.tokens[divider], SUCH_THAT
    head = parser.expression(LIST)
    if parser.at != divider:
        raise Unreadable(f"unexpected {parser.token[1]!r} before the {token[1]!r} of a set")
    parser.at += 1
    return head


def _divider(parser: Parser) -> int | None:
    """Where the sign between the head and the condition of a set-builder stands: a single bar, or a sign before a relation."""
    depth, bars, colon, at = 0, [], None, parser.at
    while (token := parser.tokens[at]) != END:
        if token in _OPENERS:
            depth += 1
        elif token in _CLOSERS:
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and token in _DIVIDERS:
            if token == ("cmd", "mid"):
                return at
            if token == BAR:
                bars.append(at)
            elif colon is None and (token != ("op", ";") or at == parser.at + 1):
                colon = at
        at += 1
    if len(bars) % 2:
        return bars[0] if bars[0] > parser.at else None
    if colon is not None and any(token in _RELATIONS for token in parser.tokens[colon:at]):
        return colon
    return None


def built_set(head: Node, items: list[Node], separators: list[str]) -> Node:
    """The condition of a set-builder: of `x | x > 1, x \\ne 2` the list of both, joined by `and`.

    A head that is more than a name stays before its conditions: `2k | k \\in \\mathbb{Z}` is the list of the two.
    """
    if not items:
        raise Unreadable("a set without a condition")
    conditions = (
        bare_list(items, ["and" if sign in (",", ";") else sign for sign in separators]) if separators else items[0]
    )
    match head:
        case Relation(("in",), (head, NamedSet("R" | "C"))):
            pass
        case Relation(("in",), (inner, _)):
            head, conditions = inner, _both(conditions, head)
    if isinstance(head, Symbol) or (
        isinstance(head, Sequence) and all(isinstance(item, Symbol) for item in head.items)
    ):
        return conditions
    return _both(head, conditions, word="")


def _both(first: Node, second: Node, word: str = "and") -> Node:
    parts = [
        item
        for node in (first, second)
        for item in (
            node.items if isinstance(node, Sequence) and node.opening == "" and node.closing == "and" else (node,)
        )
    ]
    return Sequence("", word, tuple(parts))
