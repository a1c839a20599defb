"""Several questions in a row, of which one gold answers at most one."""

from __future__ import annotations

import re

from compass.curation.noise.text import sentences, without_figures
from compass.records import Drop, Reason
from compass.settings import Denoise

_QUOTED = re.compile(r'"[^"]{0,300}"|“[^”]{0,300}”|``[^`\']{0,300}\'\'')
_INTERROGATIVE = re.compile(r"\b(?:what|how|which|who|whose|when|where|why|in what|by how)\b", re.I)
_IMPERATIVE = re.compile(
    r"^\W*(?:(?:also|then|and|next|finally|additionally|furthermore),?\s+)?(?:find|determine|calculate|compute|evaluate|prove)\b",
    re.I,
)


def multi_question(record: dict, settings: Denoise) -> Drop | None:
    """Two or more questions, or a question and a further demand."""
    text = record["problem"]
    if "?" not in text and "lso" not in text:
        return None
    plain = _QUOTED.sub(" ", without_figures(text))
    parts = [part.strip() for part in sentences(plain)]
    questions = [p for p in parts if p.endswith(("?", "？")) and _INTERROGATIVE.search(p)]
    demands = [p for p in parts if not p.endswith("?") and _IMPERATIVE.match(p)]
    asked = questions + demands
    if len(questions) >= 2 or (questions and demands) or (len(demands) >= 2 and any("lso" in d[:12] for d in demands)):
        return Drop(Reason.MULTI_QUESTION, {"questions": [question[-120:] for question in asked[:4]]})
    return None
