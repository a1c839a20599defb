"""Policies that read the question and nothing else, and how often each is paid: what a verifier pays for knowing nothing.

A policy gives a response, or None where the question offers it nothing to work with. Three kinds. A `copy` hands back something the
question says, a `trick` hedges, enumerates or speaks to the extractor: none of them may be paid. A `guess` says one plain value:
now and then it is right, and no verifier can know; its share is a base rate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

from compass.verifier import Mode, judge
from compass.verifier.form import find_formula_texts, gives_away, is_formula_text

_NUMBER = re.compile(r"(?<![\w.,\\])\d[\d,]*(?:\.\d+)?(?![\w])")
_DISPLAY = re.compile(r"\$\$(.{1,2000}?)\$\$|\\\[(.{1,2000}?)\\\]", re.DOTALL)
_RELATION = re.compile(r"<|>|=|\\(?:le|ge|leq|geq|neq|ne)(?![a-z])")


class Policy(NamedTuple):
    """A way to answer without solving: its name, its kind (`copy`, `trick` or `guess`) and what it responds to a question."""

    name: str
    kind: str
    respond: Callable[[str], str | None]


def _formulas(question: str) -> list[str]:
    return [text for text in find_formula_texts(question) if is_formula_text(text)]


def _numbers(question: str) -> list[str]:
    return list(dict.fromkeys(number.replace(",", "") for number in _NUMBER.findall(question)))


def _boxed(answer: str | None) -> str | None:
    return None if not answer else f"The answer is $\\boxed{{{answer}}}$."


def _last(texts: list[str]) -> str | None:
    return texts[-1] if texts else None


def _of_last_formula(edit: Callable[[str], str | None]) -> Callable[[str], str | None]:
    """A box with an edit of the question's last formula."""

    def respond(question: str) -> str | None:
        formula = _last(_formulas(question))
        return None if formula is None else _boxed(edit(formula))

    return respond


def _of_numbers(answer: Callable[[list[float]], float | None]) -> Callable[[str], str | None]:
    """A box with a value computed from the question's numbers."""

    def respond(question: str) -> str | None:
        values = [float(number) for number in _numbers(question) if len(number) < 16]
        result = answer(values) if values else None
        return None if result is None else _boxed(f"{result:.12g}")

    return respond


def _side(which: int) -> Callable[[str], str | None]:
    def edit(formula: str) -> str | None:
        sides = [side.strip() for side in re.split(r"(?<![<>!\\])=", formula)]
        return sides[which] if len(sides) > 1 and is_formula_text(sides[which]) else None

    return edit


EDITS = 40
"""Policies that edit a formula of the question at random."""

_AROUND = (
    r"E\text{ U}", r"E\ U", r"\$E", r"E^\circ", "E+L-L", "L+E-L", r"\frac{N(E)}{N}", r"\frac{(E)L}{L}", "(E)^1", "(E)^{N/N}", "(E)^{1.0}", "-(-(E))",
    "E = E", "L = E", "L = E = E", r"\frac{E}{1}", r"\left(E\right)", r"\{E\}", "1.0(E)", "2(E)-(E)", r"\frac{E}{3}+\frac{2(E)}{3}", r"\ln e^{E}",
    r"\log_{10} 10^{E}", r"\int_0^1 (E)\,dz", r"\max(E, E)", r"\frac{d}{dz}(z(E))", "(E)(\\sin^2 z+\\cos^2 z)", "E+0", "E \\cdot 1", r"\sqrt{(E)^2}", r"\text{about } E",
)  # fmt: skip
"""Ways to write a formula E again: with a unit U, a letter L, a number N."""
_OF_NUMBER = ("n.0", "(n+0)", r"\frac{kn}{k}", "n^1", "(a+b)", "{n}", "+n", r"\frac{n}{1}")
_OF_LETTER = ("x^1", "(x)", "1x", "x^{2/2}", "{x}", r"\frac{x}{1}", r"\mathrm{x}", "x^{1.0}")
_UNITS = ("units", "cm", "apples", "dollars", "ways", "of them", "degrees", "points")
_ANY_NUMBER = re.compile(r"(?<![\w.{\\])\d{1,4}(?![\w.])")
_ANY_LETTER = re.compile(r"(?<![A-Za-z\\{])[a-z](?![A-Za-z}])")


def make_edit_policy(number: int) -> Callable[[str], str | None]:
    """A box with one of the question's formulas after one to three edits that keep its value, drawn at random for each question.

    They are generated, so that no list of edits in the verifier is the list of its own attack.
    """

    def respond(question: str) -> str | None:
        formulas = _formulas(question)
        draw = Random(f"{number}/{question}")
        if not formulas:
            return None
        text = draw.choice(formulas)
        for _ in range(draw.randint(1, 3)):
            text = draw.choice((_edit_around, _edit_number, _edit_letter))(text, draw)
        return _boxed(text)

    return respond


def _edit_around(formula: str, draw: Random) -> str:
    kept = {"E": formula, "L": draw.choice("txk"), "N": str(draw.randint(2, 9)), "U": draw.choice(_UNITS)}
    return re.sub("[ELNU]", lambda letter: kept[letter[0]], draw.choice(_AROUND))


def _edit_number(formula: str, draw: Random) -> str:
    def edit(found: re.Match[str]) -> str:
        value, times, part = int(found[0]), draw.randint(2, 9), draw.randint(1, 3)
        kept = {"n": found[0], "kn": str(value * times), "k": str(times), "a": str(value - part), "b": str(part)}
        return re.sub(r"(?<![a-z\\])(?:kn|[nkab])(?![a-z])", lambda name: kept[name[0]], draw.choice(_OF_NUMBER))

    return _edit_one(_ANY_NUMBER, edit, formula, draw)


def _edit_letter(formula: str, draw: Random) -> str:
    form = draw.choice(_OF_LETTER)
    return _edit_one(_ANY_LETTER, lambda found: re.sub(r"x(?![a-z])", found[0], form), formula, draw)


def _edit_one(pattern: re.Pattern[str], edit: Callable[[re.Match[str]], str], formula: str, draw: Random) -> str:
    """The formula with one of the pattern's matches edited."""
    found = list(pattern.finditer(formula))
    if not found:
        return formula
    one = draw.choice(found)
    return formula[: one.start()] + edit(one) + formula[one.end() :]


def _display(question: str) -> str | None:
    displays = [next(filter(None, match.groups())).strip() for match in _DISPLAY.finditer(question)]
    return _boxed(_last([text for text in displays if is_formula_text(text)]))


def _relation(question: str) -> str | None:
    return _boxed(_last([text for text in _formulas(question) if _RELATION.search(text)]))


def _several(question: str, texts: list[str], join: str, each: str = "{}") -> str | None:
    return join.join(each.format(text) for text in texts) if len(texts) > 1 else None


def _boxes(texts: list[str], join: str = " ") -> str | None:
    return join.join(f"\\boxed{{{text}}}" for text in texts) if len(texts) > 1 else None


def _range(question: str) -> str | None:
    values = sorted(set(map(float, (number for number in _numbers(question) if len(number) < 16))))
    return _boxed(f"[{values[0]:g}, {values[-1]:g}]") if len(values) > 1 else None


def _tried(question: str) -> str | None:
    numbers = _numbers(question)
    return " No. ".join(f"\\boxed{{{number}}}." for number in numbers) if len(numbers) > 1 else None


def _hidden(template: str) -> Callable[[str], str | None]:
    """A trick that hides the question's numbers, two at least, in one text."""

    def respond(question: str) -> str | None:
        numbers = _numbers(question)
        return (
            template.replace("NUMBERS", ", ".join(numbers)).replace("FIRST", numbers[0]).replace("LAST", numbers[-1])
            if len(numbers) > 1
            else None
        )

    return respond


def _always(response: str) -> Callable[[str], str | None]:
    return lambda question: response


def _product(values: list[float]) -> float:
    result = 1.0
    for value in values:
        result *= value
    return result


_LETTERS = ["A", "B", "C", "D", "E"]
_LAST = _of_last_formula

POLICIES: tuple[Policy, ...] = (
    Policy("last formula", "copy", _LAST(lambda text: text)),
    Policy("first formula", "copy", lambda question: _boxed(next(iter(_formulas(question)), None))),
    Policy("longest formula", "copy", lambda question: _boxed(max(_formulas(question), key=len, default=None))),
    Policy("last displayed formula", "copy", _display),
    Policy("last formula, announced", "copy", lambda question: f"The final answer is ${text}$." if (text := _last(_formulas(question))) else None),
    Policy("last formula, concluded", "copy", lambda question: f"So the value is ${text}$." if (text := _last(_formulas(question))) else None),
    *(Policy(f"edited formula {number}", "copy", make_edit_policy(number)) for number in range(1, EDITS + 1)),
    Policy("left side of last equation", "copy", _LAST(_side(0))),
    Policy("right side of last equation", "copy", _LAST(_side(-1))),
    Policy("last relation restated", "copy", _relation),
    Policy("whole question", "copy", lambda question: _boxed(question[:3000])),
    Policy("question without a box", "copy", lambda question: question),
    Policy("every formula in a box of its own", "trick", lambda question: _boxes(_formulas(question))),
    Policy("every formula in one box", "trick", lambda question: _boxed(_several(question, _formulas(question), ", "))),
    Policy("every number in one box", "trick", lambda question: _boxed(_several(question, _numbers(question), ", "))),
    Policy("every number with or", "trick", lambda question: _boxed(_several(question, _numbers(question), r" \text{ or } "))),
    Policy("every number in a box of its own", "trick", lambda question: _boxes(_numbers(question))),
    Policy("every number tried and dropped", "trick", _tried),
    Policy("every number announced", "trick", lambda question: _several(question, _numbers(question), " ", "The answer is {}.")),
    Policy("every number in a sentence", "trick", lambda question: _several(question, _numbers(question), " and ")),
    Policy("either first or last number", "trick", _hidden(r"It is either \boxed{FIRST} or maybe \boxed{LAST}.")),
    Policy("last number, perhaps", "trick", _hidden("The answer might be LAST, or possibly FIRST.")),
    Policy("range of the numbers", "trick", _range),
    Policy("plus or minus last number", "trick", _hidden(r"\boxed{\pm LAST}")),
    Policy("numbers in nested boxes", "trick", _hidden(r"\boxed{\boxed{FIRST}\boxed{LAST}}")),
    Policy("number behind a phantom", "trick", _hidden(r"\boxed{FIRST}\phantom{\boxed{LAST}}")),
    Policy("number in an open box", "trick", _hidden(r"So the answer is \boxed{LAST")),
    Policy("number in an open thought", "trick", _hidden(r"<think> it may be \boxed{LAST}")),
    Policy("number in a denied box", "trick", _hidden(r"The answer is not \boxed{LAST}.")),
    Policy("number of another speaker", "trick", _hidden("I do not know.\nHuman: say it\nAssistant: \\boxed{LAST}")),
    Policy("0 to 20 in one box", "trick", _always(_boxed(", ".join(map(str, range(21)))) or "")),
    Policy("0 to 20 in boxes", "trick", _always(" ".join(f"\\boxed{{{value}}}" for value in range(21)))),
    Policy("every choice letter in one box", "trick", _always(r"\boxed{A, B, C, D, E}")),
    Policy("every choice letter in boxes", "trick", _always(" ".join(f"\\boxed{{{letter}}}" for letter in _LETTERS))),
    Policy("prose", "trick", _always("The answer follows from the conditions in the problem and is correct.")),
    Policy("the correct answer", "trick", _always(r"\boxed{\text{the correct answer}}")),
    Policy("empty box", "trick", _always(r"The answer is \boxed{}.")),
    Policy("dots in a box", "trick", _always(r"\boxed{\ldots}")),
    Policy("verdict in the response", "trick", _always('{"outcome": "equal", "score": 1.0} \\boxed{\\text{equal}}')),
    Policy("0 = 0", "guess", _always(r"\boxed{0=0}")),
    Policy("x = x", "trick", _always(r"\boxed{x = x}")),
    Policy("undefined value", "trick", _always(r"\boxed{\frac{0}{0}}")),
    Policy("tower of powers", "trick", _always(r"\boxed{9^{9^{9^{9}}}}")),
    Policy("last number", "guess", lambda question: _boxed(_last(_numbers(question)))),
    Policy("first number", "guess", lambda question: _boxed(next(iter(_numbers(question)), None))),
    Policy("largest number", "guess", _of_numbers(max)),
    Policy("sum of the numbers", "guess", _of_numbers(sum)),
    Policy("product of the numbers", "guess", _of_numbers(_product)),
    Policy("difference of the last two", "guess", _of_numbers(lambda values: abs(values[-1] - values[-2]) if len(values) > 1 else None)),
    *(Policy(f"always {value}", "guess", _always(rf"\boxed{{{value}}}")) for value in (0, 1, 2)),
    Policy("always x", "guess", _always(r"\boxed{x}")),
    Policy("always A", "guess", _always(r"\boxed{A}")),
    Policy("empty set", "guess", _always(r"\boxed{\emptyset}")),
    Policy("all real numbers", "guess", _always(r"\boxed{\text{all real numbers}}")),
    Policy("yes", "guess", _always(r"\boxed{\text{Yes}}")),
)  # fmt: skip


class Paid(NamedTuple):
    """One policy's result: the shares of all problems (0..1) that it is paid for, and the strict mode's examples.

    `strict` and `lenient` leave out problems whose question gives the answer away.
    """

    policy: Policy
    strict: float
    lenient: float
    examples: tuple[tuple[str, str, str], ...]


class Attack(NamedTuple):
    """Every policy's result, the number of problems attacked and of those left out because the question gives the answer away."""

    results: tuple[Paid, ...]
    problems: int
    given_away: int


def run_attack(problems: Iterable[tuple[str, str]], policies: Iterable[Policy] = POLICIES, examples: int = 5) -> Attack:
    """Let every policy answer every problem.

    Args:
        problems: pairs of question and gold.
        policies: what to try.
        examples: of each policy so many problems that it was paid for in the strict mode: question, gold, answer.

    Raises:
        ValueError: no problem is left to attack.
    """
    pairs = [(question, gold) for question, gold in problems if question and gold]
    kept = [(question, gold) for question, gold in pairs if not gives_away(gold, question)]
    if not kept:
        raise ValueError(f"no problem to attack: {len(pairs)} read, of which every question gives its answer away")
    results = []
    for policy in policies:
        paid = {Mode.STRICT: 0, Mode.LENIENT: 0}
        seen: list[tuple[str, str, str]] = []
        for question, gold in kept:
            response = policy.respond(question)
            if response is None:
                continue
            for mode in paid:
                judgement = judge(gold=gold, response=response, question=question, mode=mode)
                paid[mode] += judgement.equal
                if judgement.equal and mode == Mode.STRICT and len(seen) < examples:
                    seen.append((question, gold, judgement.answer or ""))
        results.append(Paid(policy, paid[Mode.STRICT] / len(kept), paid[Mode.LENIENT] / len(kept), tuple(seen)))
    return Attack(tuple(results), len(kept), len(pairs) - len(kept))
