"""A response judged by its final answer, and its reward: +1 for an answer equal to the gold, -1 for anything else (report, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from compass.verifier.extract import Mode, read_answer
from compass.verifier.form import is_copied, is_final
from compass.verifier.gold import Gold, gold_text, split_alternatives
from compass.verifier.options import judge_option, read_labelled_option
from compass.verifier.verdict import Outcome, Verdict
from compass.verifier.verify import choose_verdict, verify

NO_ANSWER = Verdict(Outcome.UNRECOGNISED, "text", "the response gives no final answer")
NOT_FINAL = Verdict(Outcome.DIFFERENT, "form", "equal, but not worked out")
TWO_OPTIONS = Verdict(Outcome.DIFFERENT, "text", "one option's letter and another's value")
COPIED = Verdict(Outcome.DIFFERENT, "form", "equal, but copied from the question")


class Judgement(NamedTuple):
    """A response's final answer, None where it gives none, the verdict on it, and what gives the answer."""

    answer: str | None
    verdict: Verdict
    evidence: str
    """What gives the answer, or why there is none, as `Reading.evidence`."""

    @property
    def equal(self) -> bool:
        """Whether the response earns a reward."""
        return self.verdict.equal


def judge(*, gold: str | Gold, response: str, question: str | None = None, mode: Mode = Mode.STRICT) -> Judgement:
    """Take the final answer out of a response, then verify it.

    `Mode.STRICT` asks for a box or an announced value, in its final form, and with the question at hand refuses a formula copied from it
    (`final_form` and `copied` state the rules). `Mode.LENIENT` also takes what the last sentence states, in any form, and `Mode.ANY` the
    last value of the kind that the question asks for.

    Raises:
        TypeError: an argument that is no text.
        ValueError: a mode that there is not.
    """
    answer, evidence = read_answer(response, mode, question)
    if answer is None:
        return Judgement(None, NO_ANSWER, evidence)
    verdict = judge_answer(gold, answer, question, mode, lambda one, side: verify(gold=one, answer=side))
    return Judgement(answer, verdict, evidence)


def judge_answer(
    gold: str | Gold, answer: str, question: str | None, mode: Mode, compare: Callable[[str | Gold, str], Verdict]
) -> Verdict:
    """The verdict on a final answer.

    Args:
        gold: with its alternatives.
        answer: what was read in the response.
        question: the problem's text, if it is at hand: it may hold options, or a formula that the answer copies.
        mode: whether its form counts.
        compare: one of the golds and one side of the answer to their verdict, as `verify` gives it.
    """
    golds = split_alternatives(gold)
    sides = list_sides(answer, question)
    if not sides:
        return TWO_OPTIONS
    verdict = choose_verdict(
        [check_form(one, side, compare(one, side), question, mode) for one in golds for side in sides]
    )
    if question is None or verdict.equal:
        return verdict
    check = partial(check_form, mode=mode)
    options = [judge_option(gold_text(one), answer, question, check) for one in golds]
    return choose_verdict([verdict, *filter(None, options)])


def list_sides(answer: str, question: str | None) -> list[str]:
    """An answer; what follows its `≈` where that rounds what stands before it, for some problems ask for the decimal; and the label of the
    question's option that it gives with its value. Empty where it gives one option's label and another's value."""
    option = read_labelled_option(answer, question) if question is not None else None
    if option is not None and not option.agrees:
        return []
    left, sign, right = answer.replace("≈", "\\approx ").rpartition("\\approx")
    rounds = sign and verify(gold=right.strip(), answer=left.strip()).equal
    return [answer, *([right.strip()] if rounds else []), *([option.label] if option else [])]


def check_form(gold: str | Gold, answer: str, verdict: Verdict, question: str | None, mode: Mode) -> Verdict:
    """The verdict on an answer, or why the strict mode does not accept the form of one that is equal; `gold` has no alternatives."""
    if mode != Mode.STRICT or not verdict.equal or verdict.detail == "the same text":
        return verdict
    if verdict.detail.startswith("choice "):
        return verdict  # the letter decides, be the value beside it in its final form or not
    text = gold_text(gold)
    if not is_final(text, answer):
        return NOT_FINAL
    return COPIED if question is not None and is_copied(text, answer, question) else verdict


def reward(response: str, gold: str | Gold, question: str | None = None, mode: Mode = Mode.STRICT) -> float:
    """+1.0 where the response's final answer equals the gold, else -1.0.

    Args:
        response: all that the model wrote.
        gold: the reference answer, or a `Gold` with alternatives and a tolerance.
        question: the problem's text; with it, a formula copied from the question earns nothing.
        mode: how strictly the response is read; `judge` says what differs.

    Raises:
        TypeError: an argument that is no text.
    """
    return 1.0 if judge(gold=gold, response=response, question=question, mode=mode).equal else -1.0
