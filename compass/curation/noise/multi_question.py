"""Several questions in a row, of which one gold answers at most one.

"Find x. Write it as m/n. What is m + n?" asks once: the last question is about the answer to the first.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import holds_any, sentences, without_figures
from compass.ledger import Reason
from compass.settings import Denoise

_QUOTED = re.compile(r'"[^"]{0,300}"|“[^”]{0,300}”|``[^`\']{0,300}\'\'|(?<!\w)\'[^\'\n]{8,200}\?\'')
_ASIDE = re.compile(r"(?<!\\)\([^()]{0,300}\)|^\s*[-•] .*$|\b(?:hint|note)\b.*", re.I | re.M)
_ASKS = re.compile(
    r"\b(?:what|how|which|who|whose|when|where|why)\b|^\W*(?:is|are|can|does|do|did|will|was|were)\b", re.I
)
_FURTHER = re.compile(
    r"^\W*(?:also|and|additionally|furthermore|moreover|besides)\b,?\s(?:[^.?]{0,80},\s)?(?:please )?(?:find|determine|calculate|compute|evaluate|prove)\b"
    r"|\band also (?:find|calculate|determine|compute)\b|[;,.]\s*(?:also|additionally),?\s+(?:find|determine|calculate|compute)\b",
    re.I,
)
# "What is m + n?": about the answer to the question before.
_FORM = re.compile(
    r"^\W*(?:what is|find|compute|then)\b.{0,40}[a-z}\d]\s*\+\s*(?:\d*\\?[a-z]|\d+[a-z]).{0,30}$", re.I | re.S
)
_WORDS = re.compile(r"(?<![\\\w])[A-Za-z]{2,}\b[^\\]*(?<![\\\w])[A-Za-z]{2,}")
_DEMAND = re.compile(r"^\W*(?:find|determine|calculate|compute)\b", re.I)
_GUARDS = ("also", "additionally", "and calculate", "? and ", ". and ", "moreover", "furthermore", "besides")


def multi_question(record: dict, settings: Denoise) -> Finding | None:
    """Two or more questions, or a question and a further demand."""
    text = record["problem"]
    lowered = text.lower()
    if lowered.count("?") < 2 and not holds_any(lowered, _GUARDS):
        return None
    plain = _ASIDE.sub(" ", _QUOTED.sub(" ", without_figures(text)))
    parts = [part.strip() for part in sentences(plain)]
    questions = [p for p in parts if p.endswith(("?", "？")) and _WORDS.search(p)]
    further = [p for p in parts if _FURTHER.search(p)]
    asked = [*questions, *(p for p in further if p not in questions)]
    if len(questions) >= 2 and any(map(_ASKS.search, questions)) and not _FORM.search(questions[-1]):
        return Finding(
            Reason.MULTI_QUESTION, Strength.LIKELY, {"questions": [question[-120:] for question in asked[:4]]}
        )
    # "What is …? Additionally, there is …. Calculate …": the demand comes a sentence later.
    if questions and any(_DEMAND.match(p) for p in parts[parts.index(questions[0]) + 1 :]) and "dditionally" in plain:
        return Finding(
            Reason.MULTI_QUESTION, Strength.LIKELY, {"questions": [question[-120:] for question in asked[:4]]}
        )
    if further and (len(asked) >= 2 or any("lso" in p or "dditionally" in p for p in further)):
        return Finding(
            Reason.MULTI_QUESTION, Strength.LIKELY, {"questions": [question[-120:] for question in asked[:4]]}
        )
    return None
