"""Generated word problems: one to five operations on a running total, told in six kinds of story.

A problem's level is its number of operations. Every level uses the same small facts (totals of 1 to 30), so that what
makes a problem hard is the length of the chain and not arithmetic that a tiny model has never seen.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable
from dataclasses import dataclass

LEVELS = (1, 2, 3, 4, 5)
LARGEST_TOTAL = 30
HELD_OUT_SHARE = 8
"""One in so many operand chains is held out for the benchmarks."""

_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}

_NAMES = [
    "Ada",
    "Ben",
    "Cleo",
    "Dan",
    "Eva",
    "Finn",
    "Gina",
    "Hugo",
    "Iris",
    "Jack",
    "Kira",
    "Liam",
    "Mona",
    "Nora",
    "Owen",
    "Pia",
    "Quinn",
    "Rosa",
    "Sam",
    "Tara",
    "Uma",
    "Vera",
    "Will",
    "Zoe",
]
_THINGS = ["apples", "books", "cards", "coins", "marbles", "pens", "shells", "stamps", "stickers", "stones"]


@dataclass(frozen=True)
class Step:
    """One operation: `before` `symbol` `operand` = `after`."""

    before: int
    kind: str
    operand: int
    after: int

    @property
    def equation(self) -> str:
        """The worked step, such as `8*2=16`."""
        return f"{self.before}{_SYMBOLS[self.kind]}{self.operand}={self.after}"


@dataclass(frozen=True)
class Problem:
    """A generated problem; `skill` names the kind of story, `words` its clauses (start, operations, question)."""

    skill: str
    steps: tuple[Step, ...]
    words: tuple[str, ...]

    @property
    def level(self) -> int:
        """1 (one operation) to 5."""
        return len(self.steps)

    @property
    def answer(self) -> int:
        """The final total."""
        return self.steps[-1].after

    @property
    def text(self) -> str:
        """The problem as published."""
        return " ".join(self.words)

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the text, sorted."""
        return tuple(sorted((self.steps[0].before, *(step.operand for step in self.steps))))

    @property
    def solution(self) -> str:
        """The worked solution: one equation per line, then the boxed answer."""
        return worked_solution([step.equation for step in self.steps], self.answer)


def worked_solution(equations: Iterable[str], answer: int | str) -> str:
    """One equation per line, and the boxed answer on the last."""
    return "\n".join([*equations, f"\\boxed{{{answer}}}"])


def is_held_out(steps: tuple[Step, ...]) -> bool:
    """Whether a chain of operations belongs to the benchmarks; a hash of its operands decides, never the story."""
    chain = str(steps[0].before) + "".join(f"{_SYMBOLS[step.kind]}{step.operand}" for step in steps)
    return hashlib.blake2b(chain.encode(), digest_size=8).digest()[0] % HELD_OUT_SHARE == 0


def draw_problem(rng: random.Random, level: int, *, held_out: bool) -> Problem:
    """Draw a problem of `level` operations from the benchmarks' chains (`held_out`) or from the training ones."""
    while True:
        steps = _draw_steps(rng, level)
        if is_held_out(steps) == held_out:
            skill = rng.choice(sorted(_STORIES))
            return Problem(skill, steps, _STORIES[skill](rng, steps))


def _draw_steps(rng: random.Random, level: int) -> tuple[Step, ...]:
    total = rng.randint(2, LARGEST_TOTAL - 2)
    steps: list[Step] = []
    for _ in range(level):
        step = _draw_step(rng, total)
        steps.append(step)
        total = step.after
    return tuple(steps)


def _draw_step(rng: random.Random, total: int) -> Step:
    while True:
        kind = rng.choice(("add", "add", "sub", "sub", "mul", "div"))
        operand = rng.randint(2, 9) if kind in ("add", "sub") else rng.randint(2, 5)
        after = apply(kind, total, operand)
        if after is not None:
            return Step(total, kind, operand, after)


def apply(kind: str, total: int, operand: int) -> int | None:
    """The new total, or None where the operation leaves 1 to `LARGEST_TOTAL` or does not divide evenly."""
    if kind == "div":
        after, rest = divmod(total, operand)
        return after if rest == 0 else None
    after = {"add": total + operand, "sub": total - operand, "mul": total * operand}[kind]
    return after if 1 <= after <= LARGEST_TOTAL else None


def _tell(steps: tuple[Step, ...], clauses: dict[str, str], question: str, **names: str) -> tuple[str, ...]:
    start = clauses["start"].format(n=steps[0].before, **names)
    told = [clauses[step.kind].format(n=step.operand, **names) for step in steps]
    return (start, *told, question.format(**names))


def _inventory(rng: random.Random, steps: tuple[Step, ...]) -> tuple[str, ...]:
    clauses = {
        "start": rng.choice(("{p} has {n} {o} in a box.", "{p} keeps {n} {o} in a bag.")),
        "add": rng.choice(("{p} finds {n} more.", "{p} buys {n} more.")),
        "sub": rng.choice(("Then {n} of them get lost.", "{p} gives away {n} of them.")),
        "mul": "{p} trades them for {n} times as many.",
        "div": "{p} shares them equally with {n} people including {p}.",
    }
    return _tell(steps, clauses, "How many {o} does {p} have now?", p=rng.choice(_NAMES), o=rng.choice(_THINGS))


def _transport(rng: random.Random, steps: tuple[Step, ...]) -> tuple[str, ...]:
    clauses = {
        "start": rng.choice(("A {v} to {p} leaves with {n} people.", "There are {n} people on the {v} to {p}.")),
        "add": rng.choice(("At the next stop {n} people get on.", "Then {n} more people board.")),
        "sub": rng.choice(("At the next stop {n} people get off.", "Then {n} people leave the {v}.")),
        "mul": "Soon it carries {n} times as many people.",
        "div": "They form {n} equal groups and only one stays on.",
    }
    places = ("Arden", "Bray", "Corby", "Deal", "Epsom", "Frome", "Gorse", "Hythe", "Ilford", "Jarrow")
    vehicle = rng.choice(("boat", "bus", "ferry", "train", "tram"))
    return _tell(steps, clauses, "How many people are on the {v} at the end?", v=vehicle, p=rng.choice(places))


def _ages(rng: random.Random, steps: tuple[Step, ...]) -> tuple[str, ...]:
    people = rng.sample(_NAMES, len(steps) + 1)
    clauses = {
        "add": "{b} is {n} years older than {a}.",
        "sub": "{b} is {n} years younger than {a}.",
        "mul": "{b} is {n} times as old as {a}.",
        "div": "{a} is {n} times as old as {b}.",
    }
    words = [f"{people[0]} is {steps[0].before} years old."]
    for step, a, b in zip(steps, people[:-1], people[1:], strict=True):
        words.append(clauses[step.kind].format(a=a, b=b, n=step.operand))
    return (*words, f"How many years old is {people[-1]}?")


def _puzzle(rng: random.Random, steps: tuple[Step, ...]) -> tuple[str, ...]:
    clauses = {
        "start": rng.choice(("{p} thinks of the number {n}.", "{p} writes down the number {n}.")),
        "add": rng.choice(("{p} adds {n} to it.", "Then {p} increases it by {n}.")),
        "sub": rng.choice(("{p} subtracts {n} from it.", "Then {p} decreases it by {n}.")),
        "mul": "{p} multiplies the result by {n}.",
        "div": "{p} divides the result by {n}.",
    }
    question = rng.choice(("Which number does {p} get in the end?", "What is the last number that {p} gets?"))
    return _tell(steps, clauses, question, p=rng.choice(_NAMES))


def _tank(rng: random.Random, steps: tuple[Step, ...]) -> tuple[str, ...]:
    clauses = {
        "start": rng.choice(("A {c} in the {s} holds {n} litres.", "There are {n} litres in the {c} of the {s}.")),
        "add": rng.choice(("Then {n} litres are poured in.", "Rain adds {n} litres.")),
        "sub": rng.choice(("Then {n} litres leak out.", "The sun dries up {n} litres.")),
        "mul": "A pump makes it {n} times as much.",
        "div": "It is poured into {n} equal jars and one is kept.",
    }
    question = "How many litres are left in the {s}?"
    vessel, place = (
        rng.choice(("barrel", "bucket", "pond", "tank", "tub")),
        rng.choice(("barn", "garden", "shed", "yard")),
    )
    return _tell(steps, clauses, question, c=vessel, s=place)


def _score(rng: random.Random, steps: tuple[Step, ...]) -> tuple[str, ...]:
    clauses = {
        "start": rng.choice(("The {t} team begins with {n} points.", "After one round the {t} team has {n} points.")),
        "add": rng.choice(("They win {n} points.", "The next game brings {n} points.")),
        "sub": rng.choice(("They lose {n} points.", "A foul costs {n} points.")),
        "mul": "A bonus makes the score {n} times as large.",
        "div": "A penalty divides the score by {n}.",
    }
    teams = [
        "amber",
        "black",
        "blue",
        "brown",
        "gold",
        "green",
        "grey",
        "orange",
        "pink",
        "purple",
        "red",
        "silver",
        "white",
        "yellow",
    ]
    return _tell(steps, clauses, "How many points does the {t} team have?", t=rng.choice(teams))


_STORIES = {
    "ages": _ages,
    "inventory": _inventory,
    "puzzle": _puzzle,
    "score": _score,
    "tank": _tank,
    "transport": _transport,
}
SKILLS = tuple(sorted(_STORIES))
"""The kinds of story."""
