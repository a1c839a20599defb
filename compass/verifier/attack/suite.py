"""How often each policy is paid on a set of problems."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from compass.verifier.attack.policies import POLICIES, Policy
from compass.verifier.copied import gives_away
from compass.verifier.extract import Mode
from compass.verifier.reward import judge


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


def attack(problems: Iterable[tuple[str, str]], policies: Iterable[Policy] = POLICIES, examples: int = 5) -> Attack:
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
                if judgement.equal and mode is Mode.STRICT and len(seen) < examples:
                    seen.append((question, gold, judgement.answer or ""))
        results.append(Paid(policy, paid[Mode.STRICT] / len(kept), paid[Mode.LENIENT] / len(kept), tuple(seen)))
    return Attack(tuple(results), len(kept), len(pairs) - len(kept))
