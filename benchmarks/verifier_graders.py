"""The graders that `benchmarks/verifier.py` compares, each run alone in a process: `python verifier_graders.py NAME`.

Reads one JSON pair `[gold, answer]` a line and writes `[equal, processor seconds]`. Standard library and the grader's
own package only, so that any interpreter that has the package can run it.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

Grader = Callable[[str, str], bool]
MEMORY = 6 * 2**30


def compass() -> Grader:
    """This project's verifier."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from compass.verifier import verify

    return lambda gold, answer: verify(gold=gold, answer=answer).equal


def math_verify() -> Grader:
    """Math-Verify as its README calls it, on answers set in `$...$`."""
    from math_verify import parse, verify

    return lambda gold, answer: verify(parse(f"${gold}$"), parse(f"${answer}$"))


def verl_math_dapo() -> Grader:
    """verl's `math_dapo`: normalised text."""
    from verl.utils.reward_score.math_dapo import normalize_final_answer

    return lambda gold, answer: normalize_final_answer(gold) == normalize_final_answer(answer)


def verl_math_reward() -> Grader:
    """verl's `math_reward`: the MATH dataset's own string rules."""
    from verl.utils.reward_score.math_reward import is_equiv

    return lambda gold, answer: bool(is_equiv(gold, answer))


GRADERS = {grader.__name__: grader for grader in (compass, math_verify, verl_math_dapo, verl_math_reward)}


def main(name: str) -> None:
    """Serve pairs until the input closes; what a grader prints goes nowhere."""
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    grade = GRADERS[name]()
    for pair in (("1", "1"), (r"\frac{1}{2}", "0.5"), ("x^2+1", "1+x^2")):  # load what is loaded on first use
        grade(*pair)
    replies.write("ready\n")
    replies.flush()
    for line in sys.stdin:
        gold, answer = json.loads(line)
        started = time.process_time()
        try:
            equal = bool(grade(gold, answer))
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            MemoryError,
            RecursionError,
            RuntimeError,
            TypeError,
            ValueError,
            SyntaxError,
        ):
            equal = False  # a peer that fails has not called the pair equal
        replies.write(json.dumps([equal, time.process_time() - started]) + "\n")
        replies.flush()


if __name__ == "__main__":
    main(sys.argv[1])
