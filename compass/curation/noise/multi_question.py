"""Several questions in a row, of which one gold answers at most one.

"Find x. Write it as m/n. What is m + n?" asks once: the last question is about the answer to the first.
"""

from __future__ import annotations

import re

from compass.curation.noise.text import sentences, without_figures
from compass.records import Drop, Reason
from compass.settings import Denoise

_QUOTED = re.compile(r'"[^"]{0,300}"|“[^”]{0,300}”|``[^`\']{0,300}\'\'|(?<!\w)\'[^\'\n]{8,200}\?\'')
_ASIDE = re.compile(r"\([^()]{0,300}\)|\b(?:hint|note)\b.*", re.I | re.S)
_INTERROGATIVE = re.compile(r"\b(?:what|how|which|who|whose|when|where|why)\b", re.I)
_FURTHER = re.compile(
    r"^\W*(?:also|and|additionally|furthermore|moreover|besides)\b,?\s(?:[^.?]{0,80},\s)?(?:please )?(?:find|determine|calculate|compute|evaluate|prove)\b"
    r"|[;,.]\s*(?:also|additionally),?\s+(?:find|determine|calculate|compute)\b",
    re.I,
)
_FORM = re.compile(r"\$?m\s*\+\s*n|\ba\s*\+\s*b|p\s*\+\s*q|\+\s*[a-z]\b", re.I)
_GUARDS = ("also", "additionally", "and calculate", "? and ", ". and ", "moreover", "furthermore", "besides")


def multi_question(record: dict, settings: Denoise) -> Drop | None:
    """Two or more questions, or a question and a further demand."""
    text = record["problem"]
    lowered = text.lower()
    if lowered.count("?") < 2 and not any(guard in lowered for guard in _GUARDS):
        return None
    plain = _ASIDE.sub(" ", _QUOTED.sub(" ", without_figures(text)))
    parts = [part.strip() for part in sentences(plain)]
    questions = [p for p in parts if p.endswith(("?", "？")) and len(p) > 12]
    further = [p for p in parts if _FURTHER.search(p)]
    asked = [*questions, *(p for p in further if p not in questions)]
    open_questions = [p for p in questions if _INTERROGATIVE.search(p)]
    if len(questions) >= 2 and open_questions and not _FORM.search(questions[-1]):
        return Drop(Reason.MULTI_QUESTION, {"questions": [question[-120:] for question in asked[:4]]})
    if further and (len(asked) >= 2 or any("lso" in p or "dditionally" in p for p in further)):
        return Drop(Reason.MULTI_QUESTION, {"questions": [question[-120:] for question in asked[:4]]})
    return None
