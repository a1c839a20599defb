"""Proofs: nothing that a verifier could compare. "Find, with proof, …" has an answer and stays."""

from __future__ import annotations

import re

from compass.curation.noise.text import excerpt
from compass.records import Drop, Reason
from compass.settings import Denoise

_PROOF = re.compile(
    r"(?:^|(?<=[.;:,!?)\]}$*>\n])|\band\b|\bthen\b|\bplease\b|\balso\b|\bto\b)\s*(?:\*\*)?(?:prove|show|demonstrate)\b"
    r"(?:,?\s+(?:by|using|with|for|in|without)\b[^.]{0,40}?)?[\s,:]+(?:that\b|the following|this\b|\(|\$|\\|[A-Z]|your (?:claim|answer)|for\b|if\b|it\b)"
    r"|\b(?:prove|proving) (?:that|or disprove)\b|\b(?:give|provide|write)(?: down)? (?:a |the )?proof\b|\bprove (?:it|your)\b"
    r"|求证|证明",
    re.I,
)
_NOT_ASKED = re.compile(
    r"(?:without|not?)\s+(?:requir|need|giv|writ)\w*\s+(?:a\s+|the\s+)?proof|proof\s+(?:is\s+)?not|no proof", re.I
)
_OTHERS_PROVE = re.compile(
    r"\b(?:can|could|will|would|he|she|they|to|who|it|records?|results?|results|data|studies|you) (?:show|prove|demonstrate)\b",
    re.I,
)


def proof(record: dict, settings: Denoise) -> Drop | None:
    """A problem that demands a proof."""
    text = record["problem"]
    lowered = text.lower()
    if not ("prov" in lowered or "show" in lowered or "proof" in lowered or "demonstrate" in lowered or "证" in text):
        return None
    for match in _PROOF.finditer(text):
        near = text[max(0, match.start() - 12) : match.end()]
        if not _NOT_ASKED.search(near) and not _OTHERS_PROVE.search(near):
            return Drop(Reason.PROOF, {"text": excerpt(text, *match.span())})
    return None
