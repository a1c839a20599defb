"""Cut-off problems: the text ends in the middle of a sentence or of a formula.

A last line such as "the area is" is a sentence to complete, as contests print them, and whole.
"""

from __future__ import annotations

import re

from compass.curation.noise.finding import Finding, Strength
from compass.curation.noise.text import without_figures
from compass.ledger import Reason
from compass.settings import Denoise

# No "is", "of", "that", "if", "to", "for", "with": sentences to complete end so.
_OPEN_END = re.compile(r"(?:[,，(\[]|(?<![\w$\\])(?:and|or|the|a|an|where|because|which|whose|let|given|suppose))\s*\Z")
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+\*?)\}")
_DISPLAY_OPENS = re.compile(r"(?:^|[\s.,:;?!a-z])\\\[(?!.*\\\])", re.S)


def truncated(record: dict, settings: Denoise) -> Finding | None:
    """A text that stops before its sentence or formula ends."""
    text = record["problem"].rstrip()
    if text.endswith("\\"):
        return Finding(Reason.TRUNCATED, Strength.SURE, {"end": text[-60:], "found": "half a closing delimiter"})
    if match := _OPEN_END.search(text[-12:]):
        return Finding(Reason.TRUNCATED, Strength.SURE, {"end": text[-60:], "found": match[0]})
    if "\\begin{" in text and (name := _unclosed(without_figures(text))):
        return Finding(
            Reason.TRUNCATED, Strength.SURE, {"end": text[-60:], "found": f"\\begin{{{name}}} without its end"}
        )
    if "$" not in text and text.rfind("\\[") > text.rfind("\\]") and _DISPLAY_OPENS.search(text):
        return Finding(Reason.TRUNCATED, Strength.SURE, {"end": text[-60:], "found": "\\[ without \\]"})
    return None


def _unclosed(text: str) -> str:
    depth: dict[str, int] = {}
    for kind, name in _ENVIRONMENT.findall(text):
        depth[name] = depth.get(name, 0) + (1 if kind == "begin" else -1)
    return next((name for name, count in depth.items() if count > 0), "")
