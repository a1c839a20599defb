"""The graders that `benchmarks/verifier.py` compares, each run alone in a process: `python verifier_graders.py NAME`.

Reads one JSON row `[gold, answer, whole response]` a line and writes `[equal, processor seconds]`. Standard library and the grader's
own package only, so that any interpreter that has the package can run it.
"""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

Grader = Callable[[str, str, bool], bool]
"""Gold, answer, and whether the answer is a whole response from which the final answer must be taken first."""
MEMORY = 6 * 2**30


def bare(text: str) -> str:
    """Text without the `$` around it, as graders want it that compare what stood in a box."""
    return text.strip().strip("$")


def compass(strict: bool = False) -> Grader:
    """This project's verifier; responses are read leniently, as for scoring what others wrote."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from compass.verifier import final_answer, judge, same_final_answer, verify, warm

    warm()

    def grade(gold: str, answer: str, whole: bool) -> bool:
        if whole and strict:
            return judge(gold=final_answer(gold) or gold, response=answer).equal
        return (same_final_answer if whole else verify)(gold=gold, answer=answer).equal

    return grade


def compass_strict() -> Grader:
    """This project's verifier as it pays rewards. It differs from `compass` on whole responses."""
    return compass(strict=True)


def math_verify() -> Grader:
    """Math-Verify as its README calls it, on answers set in `$...$` unless they hold a `$` or a box themselves."""
    from math_verify import parse, verify

    def math(text: str) -> str:
        return text if "$" in text or "\\boxed" in text else f"${text}$"

    return lambda gold, answer, whole: verify(parse(math(gold)), parse(answer if whole else math(answer)))


def math_verify_boxed() -> Grader:
    """Math-Verify on answers set in a box, as a model gives them."""
    from math_verify import parse, verify

    def boxed(text: str) -> str:
        return text if "\\boxed" in text else f"\\boxed{{{text.strip('$')}}}"

    return lambda gold, answer, whole: verify(parse(boxed(gold)), parse(answer if whole else boxed(answer)))


def verl_math_dapo() -> Grader:
    """verl's `math_dapo`: normalised text."""
    from verl.utils.reward_score.math_dapo import compute_score, normalize_final_answer

    def grade(gold: str, answer: str, whole: bool) -> bool:
        if whole:
            return compute_score(answer, gold)["acc"]
        return normalize_final_answer(gold) == normalize_final_answer(answer)

    return grade


def verl_math_reward() -> Grader:
    """verl's `math_reward`: the MATH dataset's own string rules."""
    from verl.utils.reward_score.math_reward import compute_score, is_equiv

    return lambda gold, answer, whole: bool(
        compute_score(answer, bare(gold)) if whole else is_equiv(bare(gold), bare(answer))
    )


def verl_prime_math() -> Grader:
    """verl's `prime_math`: the rules of PRM800K, then sympy."""
    from verl.utils.reward_score.prime_math import compute_score, grade_answer

    return lambda gold, answer, whole: bool(
        compute_score(answer, bare(gold))[0] if whole else grade_answer(bare(answer), bare(gold))
    )


def oat() -> Grader:
    """oat's `math_grader` with its slow mode, which asks Math-Verify as well; loaded by path, since `import oat` needs vLLM."""
    found = importlib.util.find_spec("oat")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("oat")
    path = Path(found.submodule_search_locations[0], "utils", "math_grader.py")
    spec = importlib.util.spec_from_file_location("math_grader", path)
    assert spec is not None
    assert spec.loader is not None
    grader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(grader)

    def grade(gold: str, answer: str, whole: bool) -> bool:
        if whole and (answer := grader.extract_answer(answer)) is None:
            return False
        return grader.grade(answer, gold, fast=False)

    return grade


def lm_eval_math_equal() -> Grader:
    """`math_equal` of ToRA, Qwen2.5-Math and NeMo-Skills, in the copy of lm-evaluation-harness."""
    from lm_eval.tasks.score.math.math_grader import extract_answer, math_equal

    def grade(gold: str, answer: str, whole: bool) -> bool:
        if whole and (answer := extract_answer(answer)) is None:
            return False
        return bool(math_equal(answer, gold))

    return grade


GRADERS = {
    grader.__name__: grader
    for grader in (
        compass,
        compass_strict,
        math_verify,
        math_verify_boxed,
        verl_math_dapo,
        verl_math_reward,
        verl_prime_math,
        oat,
        lm_eval_math_equal,
    )
}


def main(name: str) -> None:
    """Serve pairs until the input closes; what a grader prints goes nowhere."""
    logging.disable(logging.CRITICAL)
    warnings.filterwarnings("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    grade = GRADERS[name]()
    for pair in (("1", "1"), (r"\frac{1}{2}", "0.5"), ("x^2+1", "1+x^2")):  # load what is loaded on first use
        grade(*pair, False)
    replies.write("ready\n")
    replies.flush()
    for line in sys.stdin:
        gold, answer, whole = json.loads(line)
        started = time.process_time()
        try:
            equal = bool(grade(gold, answer, whole))
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
