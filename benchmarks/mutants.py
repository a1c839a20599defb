"""Small mutations of Python source, one at a time: mutmut's operators on libcst trees, and two of our own.

mutmut and not cosmic-ray, because cosmic-ray reads source with parso, which does not know `match`.
What has no result to check is left out: annotations, decorators, `TYPE_CHECKING` and `__main__` blocks, `__all__`,
the arguments of print, logs and warnings, and keyword arguments that guard or show only (`UNTESTED_KEYWORDS`).
"""

import ast
import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation import mutators

UNTESTED_KEYWORDS = frozenset(
    [
        "strict",
        "flush",
        "daemon",
        "timeout",
        "help",
        "description",
        "doc",
        "title",
        "indent",
        "frozen",
        "slots",
        "ensure_ascii",
    ]
)
TALK = m.Call(
    func=m.Name("print")
    | m.Attribute(value=m.Name("log") | m.Name("logger") | m.Name("logging"))
    | m.Attribute(value=m.Name("warnings"), attr=m.Name("warn"))
)
NOT_RUN = m.If(
    test=m.Name("TYPE_CHECKING")
    | m.Attribute(attr=m.Name("TYPE_CHECKING"))
    | m.Comparison(left=m.Name("__name__"), comparisons=[m.DoNotCare()])
)
ALL = m.Assign(targets=[m.AssignTarget(target=m.Name("__all__"))])
# Where dropping `not` or turning the comparison is the negation already.
NEGATED_BY_OTHERS = m.UnaryOperation(operator=m.Not()) | m.Comparison(
    comparisons=[
        m.ComparisonTarget(operator=m.Equal() | m.NotEqual() | m.In() | m.NotIn() | m.Is() | m.IsNot()),
    ]
)


@dataclass(frozen=True)
class Mutant:
    """One mutation of one file: `code` is the whole changed file, `before` and `after` the changed lines."""

    file: str
    line: int
    operator: str
    before: str
    after: str
    code: str


def result_to_none(node: cst.Return) -> Iterator[cst.CSTNode]:
    """`return x` becomes `return None`."""
    if node.value is not None and not m.matches(node.value, m.Name("None")):
        none = cst.Name("None")
        yield node.with_changes(value=none, whitespace_after_return=cst.SimpleWhitespace(" "))


def condition_negated(node: cst.If | cst.While | cst.IfExp | cst.CompIf) -> Iterator[cst.CSTNode]:
    """`if x:` becomes `if not (x):`; also while, conditional expressions and filters of comprehensions."""
    if not m.matches(node.test, NEGATED_BY_OTHERS):
        inner = node.test.with_changes(
            lpar=[cst.LeftParen(), *node.test.lpar], rpar=[*node.test.rpar, cst.RightParen()]
        )
        yield node.with_changes(test=cst.UnaryOperation(operator=cst.Not(), expression=inner))


Operator = tuple[str, tuple[type, ...], Callable[[cst.CSTNode], Iterable[cst.CSTNode]]]
OPERATORS: list[Operator] = [
    ("number moved by one", (cst.Integer, cst.Float), mutators.operator_number),
    (
        "operator turned",
        (cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation, cst.ComparisonTarget, cst.AugAssign),
        mutators.operator_swap_op,
    ),
    (
        "keyword turned",
        (cst.Is, cst.IsNot, cst.In, cst.NotIn, cst.Break, cst.Continue),
        mutators.operator_keywords,
    ),
    ("not or ~ dropped", (cst.UnaryOperation,), mutators.operator_remove_unary_ops),
    ("True and False turned", (cst.Name,), mutators.operator_name),
    ("lambda to None", (cst.Lambda,), mutators.operator_lambda),
    ("result to None", (cst.Return,), result_to_none),
    ("condition negated", (cst.If, cst.While, cst.IfExp, cst.CompIf), condition_negated),
]


def _has_no_result(node: cst.CSTNode) -> bool:
    match node:
        case cst.Annotation() | cst.Decorator() | cst.SimpleString():
            return True
        case cst.Arg(keyword=cst.Name(value=keyword)):
            return keyword in UNTESTED_KEYWORDS
        case cst.Call():
            return m.matches(node, TALK)
        case cst.If():
            return m.matches(node, NOT_RUN)
        case cst.Assign():
            return m.matches(node, ALL)
    return False


class Places(cst.CSTVisitor):
    """Collects (line, operator, node, changed node) in the order of the source."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.places: list[tuple[int, str, cst.CSTNode, cst.CSTNode]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if _has_no_result(node):
            return False
        for name, kinds, operator in OPERATORS:
            if isinstance(node, kinds):
                line = self.get_metadata(PositionProvider, node).start.line
                self.places += [(line, name, node, changed) for changed in operator(node)]
        return True


class Mutations:
    """All mutations of one file, made one by one because each is a whole new file."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        wrapper = MetadataWrapper(cst.parse_module(source))
        visitor = Places()
        wrapper.visit(visitor)
        self._module, self._places = wrapper.module, visitor.places

    def __len__(self) -> int:
        return len(self._places)

    def make(self, number: int) -> Mutant | None:
        """The mutation `number`; None where the changed file would not compile or is what it was."""
        line, operator, node, changed = self._places[number]
        code = self._module.deep_replace(node, changed).code
        try:
            compile(code, self.file, "exec")
        except SyntaxError:
            return None
        if ast.dump(ast.parse(code)) == ast.dump(ast.parse(self.source)):
            return None
        before, after = _changed_lines(self.source, code)
        return Mutant(self.file, line, operator, before, after, code)


def _changed_lines(old: str, new: str) -> tuple[str, str]:
    lines = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    return tuple(" ⏎ ".join(line[2:].strip() for line in lines if line.startswith(sign)) for sign in ("- ", "+ "))


def functions(source: str) -> list[tuple[str, int, int]]:
    """(qualified name, first line of the body, last line) of each function in `source`, outer ones first."""
    spans: list[tuple[str, int, int]] = []

    def walk(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                spans.append((prefix + child.name, child.body[0].lineno, child.end_lineno))
                walk(child, f"{prefix}{child.name}.")
            else:
                walk(child, f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix)

    walk(ast.parse(source), "")
    return spans


def function_at(source: str, line: int) -> str:
    """The innermost function whose body has `line`; "" for what runs on import."""
    names = [name for name, first, last in functions(source) if first <= line <= last]
    return names[-1] if names else ""
