"""The answer verifier: one place for right and wrong, in rewards, grades, filters and scores.

    from compass.verifier import verify
    verify(gold=r"\\frac12", answer="0.5")   # Verdict(outcome="equal", method="rational", ...)

Imports nothing heavier than python-flint; sympy runs in a process of its own. See docs/verifier.md for the rules.
"""

from compass.verifier.answer_type import answer_type
from compass.verifier.batch import verify_many
from compass.verifier.extract import extract_answer
from compass.verifier.reward import reward
from compass.verifier.verdict import Outcome, Verdict
from compass.verifier.verify import verify

__all__ = ["Outcome", "Verdict", "answer_type", "extract_answer", "reward", "verify", "verify_many"]
