"""The answer verifier: one place for right and wrong, in rewards, grades, filters and scores.

    from compass.verifier import verify
    verify(gold=r"\\frac12", answer="0.5")   # Verdict(outcome="equal", method="rational", ...)

`extract_answer` takes the final answer out of a response, `judge` extracts and verifies, `reward` makes +1 or -1 of that;
`verify_many` and `judge_many` do so over several processes; `warm` makes the first verdict as fast as the others.
`reading/` makes trees of text, `comparing/` verdicts of trees.
Imports nothing heavier than python-flint; sympy runs in a process of its own. See docs/reference/verifier.md for the rules.
"""

from compass.verifier.answer_type import answer_type, is_wordy
from compass.verifier.batch import group_equal, judge_many, same_answer, verify_many
from compass.verifier.extract import Mode, extract_answer, final_answer, list_candidates, same_final_answer
from compass.verifier.gold import Gold, ToleranceError, read_tolerance
from compass.verifier.reward import Judgement, judge, reward
from compass.verifier.verdict import Leniency, Outcome, Verdict
from compass.verifier.verify import verify
from compass.verifier.warm import warm

__all__ = [
    "Gold",
    "Judgement",
    "Leniency",
    "Mode",
    "Outcome",
    "ToleranceError",
    "Verdict",
    "answer_type",
    "extract_answer",
    "final_answer",
    "group_equal",
    "is_wordy",
    "judge",
    "judge_many",
    "list_candidates",
    "read_tolerance",
    "reward",
    "same_answer",
    "same_final_answer",
    "verify",
    "verify_many",
    "warm",
]
