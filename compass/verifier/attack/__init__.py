"""Answers that know only the question, and how often they are paid: a verifier's price for knowing nothing."""

from compass.verifier.attack.policies import POLICIES, Policy
from compass.verifier.attack.suite import Attack, Paid, attack

__all__ = ["POLICIES", "Attack", "Paid", "Policy", "attack"]
