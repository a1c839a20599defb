"""Yes or no: questions that a coin answers, such as "Is it possible …?"."""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength, found
from compass.curation.noise.text import blank, holds_any, sentences
from compass.ledger import Reason
from compass.settings import Denoise

_DEBRIS = re.compile(r"(?:\s|\\\\|\\noindent|\\end\{(?:problem|question|exercise)\})+\Z")
_WHETHER_GUARDS = ("whether", "etermine if", "ecide if", "ind out if", "nvestigate if", "heck if", "erify if", "ell if")
_WHETHER = re.compile(r"\b(?:determine|decide|find out|investigate|check|verify|tell) (?:whether|if)\b", re.I)
_GOLD = re.compile(
    r"[\s$\\({]*(?:text(?:bf)?\s*\{\s*)?(?:yes|no|possible|impossible|not possible|it is (?:im|not )?possible|cannot|can(?:'t| not)?|does not exist|exists|有|没有|是|不是|能|不能|可以|不可以)"
    r"(?:[\s.})$!]*|[,.;:]\s.*)",
    re.I | re.S,
)
_QUESTION = re.compile(
    r"(?:(?:then|so|if|in this case|and|but|now),?\s+)?(?:\([a-z0-9]\)\s*)?(?:is|are|can|could|does|do|did|will|would|was|were|has|have|must|should|may|might)\b(?! (?:you|the reader|anyone|we) )[^?]*\?\s*$",
    re.I,
)
# "which" and "when" alone may open a clause: "a power of 2 which, when written …"
_OPEN = re.compile(r"\b(?:what|how|which (?:of|one|number)|who\b.*\bwins|find|determine|calculate|compute)\b", re.I)

_FURTHER = re.compile(
    r"_{2,}|\b(?:find|determine|calculate|compute|evaluate|express|write|give|state|enter|record|what is|how many|how much)\b",
    re.I,
)


def yes_no(record: dict, settings: Denoise) -> Finding | None:
    """A gold that says yes or no, or a problem whose only question can be answered so."""
    answer = _DEBRIS.sub("", record.get("answer") or "")
    if _GOLD.fullmatch(answer[:200]):
        return Finding(Reason.YES_NO, Strength.LIKELY, {"answer": answer[:80]})
    text = record["problem"]
    if "\\noindent" in text or "\\end{" in text:
        text = _DEBRIS.sub(blank, text)
    if (
        holds_any(text, _WHETHER_GUARDS)
        and (match := _WHETHER.search(text))
        and not _FURTHER.search(text, match.end())
        and "?" not in text
    ):
        # "Determine whether …" behind another demand asks for its reason as well.
        if not _FURTHER.search(_WHETHER.sub("", text)) and (not answer or not re.search(r"\d", answer)):
            return found(Reason.YES_NO, Strength.LIKELY, record, match)
        return None
    if "?" not in text:
        return None
    # A question may run over displayed formulas, which `sentences` takes for sentences of their own.
    whole = text.strip()
    if text.count("?") == 1 and ". " not in text and _QUESTION.match(whole) and not _OPEN.search(whole):
        return Finding(Reason.YES_NO, Strength.LIKELY, {"text": whole[:160]})
    parts = [part.strip() for part in sentences(text)]
    questions = [part for part in parts if part.endswith("?")]
    # "… at 4 P.M. should the candles be lit?": what follows an abbreviation begins no sentence.
    if (
        len(questions) != 1
        or not questions[0].lstrip("([*$ ")[:1].isupper()
        or not _QUESTION.match(questions[0])
        or _OPEN.search(questions[0])
    ):
        return None
    if any(_FURTHER.search(part) for part in parts if part is not questions[0]):
        return None
    return Finding(Reason.YES_NO, Strength.LIKELY, {"text": questions[0][:160]})
