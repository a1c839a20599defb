"""The process that runs sympy: started as a script by `sympy_client`, it imports nothing of this package.

It reads one JSON request per line and answers with one JSON line. Each request gets a child of its own, forked beforehand
from the same state, so that no answer depends on the requests before it: sympy's caches would make some of them cheaper.
The child ends itself when it has made as many expressions as its budget allows. That count is the same on a busy machine,
where processor time is not. Work that makes few expressions is ended by the kernel at a much later limit of processor
time (`ITIMER_PROF`, whose default action ends a process even inside C code). Trees are rebuilt with sympy's own
constructors: no text is ever parsed.
"""

from __future__ import annotations

import gc
import json
import math
import os
import resource
import select
import signal
import sys
from typing import Any

MEMORY = 768 * 2**20
STEPS_PER_SECOND = 17_000
"""Expressions that sympy makes in one second of processor time on a common machine, about."""
CLOCK_FACTOR = 10
"""The limit of processor time, as a multiple of the time that the budget stands for."""
WALL_FACTOR = 25
"""The limit of waiting, as a multiple of the limit of processor time."""
MAX_EXPONENT = 1_000
MAX_FACTORIAL = 200


NAMES = {
    **{name: name for name in (
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "exp", "sqrt", "floor", "gamma", "zeta", "erf", "log", "factorial", "root")},
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arccot": "acot", "ln": "log", "abs": "Abs", "ceil": "ceiling",
    "sgn": "sign", "arsinh": "asinh", "arcosh": "acosh", "artanh": "atanh", "binom": "binomial",
}  # fmt: skip
"""The functions that sympy is asked about, and its names for them."""


class Refused(ValueError):
    """A tree that sympy is not asked about."""


class _Steps:
    """How many expressions the child may still make."""

    left = math.inf


def main() -> None:
    """Serve requests until the input closes."""
    import sympy

    _count_steps(sympy)
    _warm_up(sympy)
    gc.freeze()  # a child that collects garbage would copy every page of what is loaded
    worker = _fork(sympy)
    sys.stdout.write('{"ready": true}\n')
    sys.stdout.flush()
    for line in sys.stdin:
        pid, requests, answers = worker
        os.write(requests, line.encode())
        os.close(requests)
        wait = json.loads(line)["seconds"] * CLOCK_FACTOR * WALL_FACTOR
        ready, _, _ = select.select([answers], [], [], wait)
        answer = os.read(answers, 4096) if ready else b""
        spent = not answer.endswith(b"\n")
        sys.stdout.write('{"same": null, "why": "out of time or memory"}\n' if spent else answer.decode())
        sys.stdout.flush()
        os.close(answers)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        worker = _fork(sympy)


def _count_steps(sympy: Any) -> None:
    """Have this process end where it makes more expressions than it may. No exception: sympy would catch some of them."""
    make = sympy.Basic.__new__

    def counted(cls: type, *args: Any) -> Any:
        _Steps.left -= 1
        if _Steps.left < 0:
            os._exit(0)
        return make(cls, *args)

    sympy.Basic.__new__ = staticmethod(counted)


def _fork(sympy: Any) -> tuple[int, int, int]:
    """A child that answers one request: its process id, the pipe to it and the pipe from it."""
    read_request, write_request = os.pipe()
    read_answer, write_answer = os.pipe()
    pid = os.fork()
    if pid:
        os.close(read_request)
        os.close(write_answer)
        return pid, write_request, read_answer
    os.close(write_request)
    os.close(read_answer)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.setrecursionlimit(2_000)
    with os.fdopen(read_request) as requests:
        request = json.loads(requests.readline() or os._exit(0))
    _Steps.left = request["seconds"] * STEPS_PER_SECOND
    signal.setitimer(signal.ITIMER_PROF, request["seconds"] * CLOCK_FACTOR)
    try:
        same = compare(sympy, request["left"], request["right"])
        answer = {"same": same, "why": "sympy"}
    except (
        Refused,
        NotImplementedError,
        ArithmeticError,
        ValueError,
        TypeError,
        AttributeError,
        RecursionError,
        MemoryError,
    ) as error:
        answer = {"same": None, "why": f"{type(error).__name__}"}  # sympy gives up in many ways
    signal.setitimer(signal.ITIMER_PROF, 0)
    os.write(write_answer, (json.dumps(answer) + "\n").encode())
    os._exit(0)


def _warm_up(sympy: Any) -> None:
    """Run each kind of work once, so that children inherit loaded modules and filled caches."""
    x, k = sympy.Symbol("x", real=True), sympy.Symbol("k", integer=True)
    sympy.simplify(sympy.Integral(x * sympy.sin(x) ** 2, (x, 0, 1)).doit())
    sympy.Integral(sympy.exp(-(x**2)), (x, -sympy.oo, sympy.oo)).doit()
    sympy.simplify(sympy.Sum(sympy.Integer(2) ** -k, (k, 1, sympy.oo)).doit() - 1)
    sympy.Sum(1 / k**2, (k, 1, sympy.oo)).doit()
    sympy.simplify(sympy.diff(sympy.Integral(1 / (1 + x**2), x).doit() - sympy.atan(x), x))
    sympy.Integral(1 / x, (x, 1, sympy.E)).doit()
    sympy.N(sympy.Sum(1 / k**4, (k, 1, sympy.oo)).doit() - sympy.pi, 30)
    sympy.limit(sympy.sin(x) / x, x, 0)
    sympy.limit((1 + 1 / x) ** x, x, sympy.oo)


def compare(sympy: Any, left: list[Any], right: list[Any]) -> bool | None:
    """Whether two trees are equal; None where sympy cannot tell. Indefinite integrals are equal up to a constant."""
    first, second = build(sympy, left, {}), build(sympy, right, {})
    free = _indefinite(left) or _indefinite(right)
    difference = (first - second).doit()
    if difference.has(sympy.Integral, sympy.Sum, sympy.Product, sympy.Limit, sympy.nan, sympy.zoo):
        return None
    if free is not None:
        constant = sympy.simplify(sympy.diff(difference, sympy.Symbol(free, real=True)))
        return True if constant == 0 else None
    if difference == 0 or sympy.simplify(difference) == 0:
        return True
    names = sorted(difference.free_symbols, key=str)
    value = sympy.N(difference.subs({name: sympy.Rational(7 + 3 * at, 5) for at, name in enumerate(names)}), 30)
    if value.is_number and value.is_finite and abs(value) > sympy.Float("1e-12"):
        return False
    return None


def _indefinite(tree: Any) -> str | None:
    """The variable of the first indefinite integral in a tree."""
    match tree:
        case ["big", "int", variable, ["word", ""], *_]:
            return variable
        case [*parts]:
            return next(filter(None, map(_indefinite, parts)), None)
    return None


def build(sympy: Any, tree: list[Any], bound: dict[str, Any]) -> Any:
    """The sympy expression of a tree, by explicit constructors."""

    def built(part: list[Any]) -> Any:
        return build(sympy, part, bound)

    match tree:
        case ["num", fraction]:
            top, bottom = fraction.split("/")
            return sympy.Rational(int(top), int(bottom))
        case ["sym", name]:
            return bound.get(name) or sympy.Symbol(name, real=True)
        case ["const", name]:
            return {"pi": sympy.pi, "e": sympy.E, "i": sympy.I, "inf": sympy.oo}[name]
        case ["add", terms]:
            return sympy.Add(*map(built, terms))
        case ["mul", factors]:
            return sympy.Mul(*map(built, factors))
        case ["neg", operand]:
            return -built(operand)
        case ["inv", operand]:
            return 1 / built(operand)
        case ["pow", base, exponent]:
            base, exponent = built(base), built(exponent)
            if exponent.is_number and abs(exponent) > MAX_EXPONENT:
                raise Refused("a large power")
            return base**exponent
        case ["call", name, arguments]:
            return _call(sympy, name, [built(part) for part in arguments])
        case ["big", *parts]:
            return _big(sympy, parts, bound)
    raise Refused(tree[0])


def _call(sympy: Any, name: str, arguments: list[Any]) -> Any:
    if name == "factorial" and arguments[0].is_number and abs(arguments[0]) > MAX_FACTORIAL:
        raise Refused("a large factorial")
    constructor = NAMES.get(name)
    if constructor is None:
        raise Refused(name)
    return getattr(sympy, constructor)(*arguments)


def _big(sympy: Any, parts: list[Any], bound: dict[str, Any]) -> Any:
    name, variable, low, high, body = parts
    if not variable:
        raise Refused("no variable")
    index = sympy.Symbol(variable, integer=True) if name in ("sum", "prod") else sympy.Symbol(variable, real=True)
    inside = build(sympy, body, bound | {variable: index})
    if name == "int" and low == ["word", ""]:
        return sympy.Integral(inside, index)
    first = build(sympy, low, bound)
    if name == "lim":
        return sympy.limit(inside, index, first)
    last = build(sympy, high, bound)
    makers = {"sum": sympy.Sum, "prod": sympy.Product, "int": sympy.Integral}
    if name not in makers:
        raise Refused(name)
    return makers[name](inside, (index, first, last))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # whoever asked has ended, perhaps while sympy was still imported: nobody reads a traceback
        os._exit(0)
