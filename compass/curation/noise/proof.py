"""Proofs: a stated claim to be proved, which leaves nothing that a verifier could compare.

"Find, with proof, …", "… and justify your answer" and "find L and prove it" have an answer and stay, where there is a gold.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import holds_any
from compass.settings import Denoise
from compass.settings.denoise import NoiseReason

_START = r"(?:^|(?<=[.;:,!?)\]}$*>\n])|\b(?:and|then|please|also|to)\b)\s*(?:\*\*)?"
_MEANS = r"(?:,?\s+(?:by|using|with|for|in|without)\b[^.]{0,40}?)?[\s,:]+"
_CLAIM = (
    r"that\b|the following\b|this\b|(?:at )?(?:least|most) \d|your (?:claim|answer)|if\b|it\b|there\b|the operation\b"
)
_PROOF = re.compile(
    rf"{_START}(?i:prove|demonstrate){_MEANS}(?:{_CLAIM}|\(|\$|\\|[A-Z])"
    rf"|{_START}(?i:show){_MEANS}(?:{_CLAIM})"  # "to show ID" asks for no proof
    r"|\b[Pp]rove\s*:|\b[Pp]rov(?:e|ing) (?:that|or disprove)\b|\b[Dd]educe that\b"
    r"|\b(?:[Gg]ive|[Ww]rite) an? (?:\w+ )?proof (?:that|of)\b|\bprove (?:it|your)\b|求证|证明",
    re.M,
)
_NOT_ASKED = re.compile(r"(?:without|not?|need to|needed to|required to)\s+(?:\w+\s+)?(?:proof|prov)", re.I)
_OTHERS_PROVE = re.compile(
    r"\b(?:can|could|will|would|he|she|they|who|(?:how|wants?|wanted|needs?|able|used|trying|wish(?:es)?|managed|tries|asked|student) to|it|records?|results?|data|studies|you) (?:show|prove|demonstrate)\b",
    re.I,
)
_FIND = re.compile(
    r"(?:^|[.;:,!?)$\n]\s*|\b(?:and|then|please|also|to) )\W{0,3}(?:find|determine|compute|calculate|evaluate|solve|give|what|how (?:many|much|long|far|large)|which)\b|\?",
    re.I,
)
_PROSE = re.compile(
    r"(?:[A-Za-z]{3,}\W+){3}|\bproof\b|\bproven?\b|\bshown\b|\bq\.?e\.?d\b|\bsee\b|\btrue\b|\bsolution\b", re.I
)
_GUARDS = ("prov", "proof", "show", "demonstrate", "证")


def proof(record: dict, settings: Denoise) -> Finding | None:
    """A problem that demands a proof and has nothing else to find."""
    text = record["problem"]
    lowered = text.lower()
    if not holds_any(lowered, _GUARDS):
        return None
    for match in _PROOF.finditer(text):
        near = text[max(0, match.start() - 16) : match.end()]
        if not _NOT_ASKED.search(near) and not _OTHERS_PROVE.search(near):
            strength = Strength.POSSIBLE if _has_answer(text, record.get("answer") or "") else Strength.LIKELY
            return found(NoiseReason.PROOF, strength, record, match)
    return None


def _has_answer(text: str, answer: str) -> bool:
    """Whether something is to be found beside the proof, and the gold is such a thing and no text."""
    return bool(answer.strip()) and not _PROSE.search(answer) and bool(_FIND.search(text))
