"""Cut-off problems: the text ends in the middle of a sentence or of a formula.

A last line such as "the area is" is a sentence to complete, as contests print them, and whole.
"""

from __future__ import annotations

import re

from compass.curation.noise.text import without_figures
from compass.records import Drop, Reason
from compass.settings import Denoise

_OPEN_END = re.compile(
    r"(?:[,，;；(\[]|\b(?:and|or|the|of|with|where|that|a|an|if|for|because|such|when|which|whose|let|given|suppose))\s*\Z",
    re.I,
)
_ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+\*?)\}")


def truncated(record: dict, settings: Denoise) -> Drop | None:
    """A text that stops before its sentence or formula ends."""
    text = record["problem"].rstrip()
    if match := _OPEN_END.search(text[-12:]):
        return Drop(Reason.TRUNCATED, {"end": text[-60:], "found": match[0]})
    plain = without_figures(text)
    if "\\begin{" in plain:
        depth: dict[str, int] = {}
        for kind, name in _ENVIRONMENT.findall(plain):
            depth[name] = depth.get(name, 0) + (1 if kind == "begin" else -1)
        if unclosed := [name for name, count in depth.items() if count > 0]:
            return Drop(Reason.TRUNCATED, {"end": text[-60:], "found": f"\\begin{{{unclosed[0]}}} without its end"})
    if plain.rfind("\\[") > plain.rfind("\\]") and plain.count("\\[") > plain.count("\\]") and "\\\\[" not in plain:
        return Drop(Reason.TRUNCATED, {"end": text[-60:], "found": "\\[ without \\]"})
    return None
