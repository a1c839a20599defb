"""Small mutations of Python source, one at a time: mutmut's operators on libcst trees, and two of our own.

What has no result to check is left out: annotations, decorators, `TYPE_CHECKING` and `__main__` blocks, `__all__`,
the arguments of print, logs and warnings, and keyword arguments that guard or show only (`UNTESTED_KEYWORDS`).
"""

import ast
import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import libcst as cst
import libcst.matchers as m
from coverage.regions import code_regions
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation import mutators

UNTESTED_KEYWORDS = frozenset(
    "strict flush daemon timeout help description doc title indent frozen slots ensure_ascii".split()  # noqa: SIM905
)
NOT_TESTED = (
    m.Annotation()
    | m.Decorator()
    | m.SimpleString()
    | m.Arg(keyword=m.Name(m.MatchIfTrue(lambda keyword: keyword in UNTESTED_KEYWORDS)))
    | m.Call(func=m.Name("print") | m.Attribute(value=m.Name("log") | m.Name("logger") | m.Name("logging")))
    | m.Call(func=m.Attribute(value=m.Name("warnings"), attr=m.Name("warn")))
    | m.If(test=m.Name("TYPE_CHECKING") | m.Attribute(attr=m.Name("TYPE_CHECKING")))
    | m.If(test=m.Comparison(left=m.Name("__name__"), comparisons=[m.DoNotCare()]))
    | m.Assign(targets=[m.AssignTarget(target=m.Name("__all__"))])
)
# Where dropping `not` or turning the comparison is the negation already.
NEGATED_BY_OTHERS = m.UnaryOperation(operator=m.Not()) | m.Comparison(
    comparisons=[m.ComparisonTarget(m.Equal() | m.NotEqual() | m.In() | m.NotIn() | m.Is() | m.IsNot())]
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


OPERATORS: dict[str, tuple[tuple[type, ...], Callable[[cst.CSTNode], Iterable[cst.CSTNode]]]] = {
    "number moved by one": ((cst.Integer, cst.Float), mutators.operator_number),
    "operator turned": (
        (cst.BinaryOperation, cst.UnaryOperation, cst.BooleanOperation, cst.ComparisonTarget, cst.AugAssign),
        mutators.operator_swap_op,
    ),
    "keyword turned": (
        (cst.Is, cst.IsNot, cst.In, cst.NotIn, cst.Break, cst.Continue),
        mutators.operator_keywords,
    ),
    "not or ~ dropped": ((cst.UnaryOperation,), mutators.operator_remove_unary_ops),
    "True and False turned": ((cst.Name,), mutators.operator_name),
    "lambda to None": ((cst.Lambda,), mutators.operator_lambda),
    "result to None": ((cst.Return,), result_to_none),
    "condition negated": ((cst.If, cst.While, cst.IfExp, cst.CompIf), condition_negated),
}


class Places(cst.CSTVisitor):
    """Collects (line, operator, node, changed node) in the order of the source."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.places: list[tuple[int, str, cst.CSTNode, cst.CSTNode]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        if m.matches(node, NOT_TESTED):
            return False
        for name, (kinds, operator) in OPERATORS.items():
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
            same = ast.dump(ast.parse(code)) == ast.dump(ast.parse(self.source))
            compile(code, self.file, "exec")
        except SyntaxError:
            return None
        return None if same else Mutant(self.file, line, operator, *_changed_lines(self.source, code), code)


def _changed_lines(old: str, new: str) -> tuple[str, str]:
    lines = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    removed, added = (" ⏎ ".join(line[2:].strip() for line in lines if line.startswith(sign)) for sign in ("- ", "+ "))
    return removed, added


def function_at(source: str, line: int) -> str:
    """The innermost function whose body has `line`; "" for what runs on import."""
    names = [region.name for region in code_regions(source) if region.kind == "function" and line in region.lines]
    return names[-1] if names else ""
