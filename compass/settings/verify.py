"""Settings of `verify`."""

from __future__ import annotations

from typing import Literal

from compass.settings.section import Positive, Probability, Section


class Verify(Section):
    """Keep the problems whose gold answer the verifier can read and trust."""

    require_self_equal: bool = True
    """Drop a gold that the verifier does not find equal to itself rewritten."""

    max_text_words: Positive = 4
    """A gold in words that is longer is an opinion or an explanation, and dropped as unreadable."""

    wordy_golds: Literal["drop", "keep"] = "drop"
    """What to do with a gold that is a statement in words, which hardly any other wording equals. Such a reward teaches spelling, so
    that it is dropped; `keep` marks it with the answer type `wording`."""

    suspicious_agreement: Probability = 0.75
    """Share of a problem's graded rollouts that must agree on one wrong answer for the gold to be called suspicious."""

    suspicious_min_rollouts: Positive = 8
    """Fewer rollouts never make a gold suspicious."""

    suspicious_min_solve_rate: Probability = 0.3
    """The grader's mean solve rate below which its answers make no gold suspicious: a weak model agrees with itself on wrong ones. The bound is our
    choice: no graded rollouts beside golds known to be wrong were at hand."""
